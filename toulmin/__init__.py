"""Toulmin answers questions from a person's own documents, every claim proven by the passages it cites."""

__version__ = "0.1.0"
