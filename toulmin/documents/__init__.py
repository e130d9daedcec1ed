"""Files to text with structure and offsets; text to passages."""
