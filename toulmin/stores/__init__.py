"""Shared corpora, on an object store or in PostgreSQL."""
