"""Metrics of answers: columns of values, with reasons."""
