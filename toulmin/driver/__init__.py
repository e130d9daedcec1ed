"""The driver: it serves what running programs ask."""
