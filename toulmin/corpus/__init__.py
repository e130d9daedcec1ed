"""From files to ranked passages: readers, passages, the index on disk, retrieval."""
