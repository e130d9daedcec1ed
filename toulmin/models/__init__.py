"""What answers a typed prompt: the embedded writer, and models that are functions."""
