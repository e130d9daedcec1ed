"""What a method can ask of a language model, the words it is asked in, and how its reply is read."""
