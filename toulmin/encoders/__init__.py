"""Encoders: texts to vectors whose inner product says how near their meanings are."""
