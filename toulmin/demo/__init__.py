"""A small corpus about the search for longitude at sea."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

FOLDER = Path(str(resources.files(__name__) / "longitude"))

QUESTION = "Which reward did the Longitude Act offer for finding longitude at sea?"
"""The corpus answers this question."""

UNANSWERED = "How many satellites does a GPS receiver need to find its position?"
"""The corpus does not answer this one."""

MISTAKEN = "The sea watch H4 was finished in 1762."
"""The corpus contradicts this sentence."""
