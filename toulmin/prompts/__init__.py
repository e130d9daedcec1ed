"""Typed prompts and their words."""
