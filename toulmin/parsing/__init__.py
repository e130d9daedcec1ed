"""Reads replies."""
