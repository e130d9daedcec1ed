"""Replies and marked texts to drafts, lists and choices."""
