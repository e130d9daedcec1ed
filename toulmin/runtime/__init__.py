"""Runs networks and database files."""
