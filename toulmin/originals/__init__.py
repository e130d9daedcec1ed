"""What a file looks like: its pages, where words are on them, and documents as they read."""
