"""What a method may ask, and what binds a claim to its passages."""
