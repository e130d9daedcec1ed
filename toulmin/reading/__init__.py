"""What a reply, or a text with marks, says: claims and citations, lists, verdicts; and what in it is no claim."""
