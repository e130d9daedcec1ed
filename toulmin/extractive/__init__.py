"""Answers, plans and reads by selection, without a language model."""
