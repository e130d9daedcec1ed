"""Serves what running programs ask."""
