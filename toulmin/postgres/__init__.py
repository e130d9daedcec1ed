"""A corpus that many readers and writers share, in a PostgreSQL database."""
