"""A corpus that many readers and writers share, on an object store."""
