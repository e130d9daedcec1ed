"""Running a network or a database file."""
