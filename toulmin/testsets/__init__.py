"""A test set made from documents that nobody labelled: what is asked, and how a question loses its answer."""
