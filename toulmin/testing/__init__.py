"""What holds texts against their sources in the tests of other programs."""
