"""Making claims whose truth is known: pairs of passages and a claim, for training the judge."""
