"""Files to text with offsets; text to passages."""
