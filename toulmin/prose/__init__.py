"""Texts that people keep: their sentences with places, what those cite, and comments written back."""
