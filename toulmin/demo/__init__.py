"""A small corpus about the search for longitude at sea, with a question that it answers and one that it does not."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

FOLDER = Path(str(resources.files(__name__) / "longitude"))
"""The folder of the documents."""

QUESTION = "Which reward did the Longitude Act offer for finding longitude at sea?"
"""A question that they answer."""

UNANSWERED = "How many satellites does a GPS receiver need to find its position?"
"""A question of the same field whose answer stands in none."""

MISTAKEN = "The sea watch H4 was finished in 1762."
"""A sentence that they contradict."""
