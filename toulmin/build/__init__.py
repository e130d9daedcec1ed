"""Assembly: from settings and names to the parts that do the work."""
