"""Runs of whole datasets, their scores, and comparisons of runs."""
