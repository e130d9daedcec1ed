"""A small corpus about the search for longitude at sea, with a question that it answers and one that it does not."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

FOLDER = Path(str(resources.files(__name__) / "longitude"))
"""The folder of the documents."""

QUESTION = "How accurate was Harrison's sea watch on its voyages, and what reward did the Longitude Act offer?"
"""A question whose answer stands in several of them."""

UNANSWERED = "How many satellites does a GPS receiver need to find its position?"
"""A question of the same field whose answer stands in none."""
