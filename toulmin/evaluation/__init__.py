"""Runs of whole datasets, their scores, and how two runs compare."""
