"""What a text consists of: sentences, words, names, figures, and how texts overlap."""
