"""What in a text can be checked word for word: its numbers, dates and names."""

from __future__ import annotations

from toulmin.grounding.figures import Fact, Kind, figures
from toulmin.grounding.names import names

__all__ = ["Fact", "Kind", "facts"]


def facts(text: str) -> tuple[Fact, ...]:
    """The numbers, dates and names of the text in order, none overlapping.

    Equal things have equal values whatever their form: see `figures` for numbers and dates, `names` for names.
    A number inside a name ("Apollo 11") belongs to the name alone.
    """
    numbers = figures(text)
    named = names(text, numbers)
    covered = {place for fact in named for place in range(fact.start, fact.end)}
    found = [fact for fact in numbers if fact.start not in covered] + named
    return tuple(sorted(found, key=lambda fact: fact.start))
