"""The embedded writer: a language model's place filled without a language model."""
