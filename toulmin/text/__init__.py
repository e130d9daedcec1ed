"""Sentences, words, names and figures of a text, and how texts overlap."""
