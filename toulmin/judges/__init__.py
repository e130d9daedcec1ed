"""Decides whether passages support a claim."""
