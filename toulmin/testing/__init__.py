"""What holds texts against their sources in the tests and evaluations of other programs."""
