"""How a method answers a whole dataset into a folder, and goes on where it was interrupted."""
