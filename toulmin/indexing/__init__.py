"""One index on disk: how it is written, updated and read."""
