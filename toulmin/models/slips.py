"""Simulation: the two kinds of statement that no passage supports, as language models make them.

* An altered detail: a true sentence with one number, date or name swapped. Models tell dates and figures wrong more
  often than whole events, and such a claim looks right beside its source, so it is the hard kind for any check.
* A statement from memory: on the topic, well formed, specific, and in none of the documents.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toulmin.grounding.facts import facts
from toulmin.language import STOPWORDS, words
from toulmin.models.chance import Dice
from toulmin.models.truth import plain

# Whom and what a model confuses things with where nothing better is at hand; none is anybody in particular.
NAMES: Sequence[str] = (
    "Edwin Marsh",
    "Clara Whitfield",
    "Port Hadley",
    "Thomas Ravenel",
    "Lake Orsay",
    "Helena Brandt",
    "Mount Averill",
    "Samuel Okoro",
    "Fairmont College",
    "Ingrid Solheim",
    "Kessler County",
    "Paul Desmarais",
)

_REMEMBERED: Sequence[str] = (
    "{subject} was first described in print by {name} in {year}.",
    "An account of {year} by {name} gives another version of {subject}.",
    "In {year} {name} published a widely read study of {subject}.",
    "{subject} became much better known after {name} spoke of it in {year}.",
    "Some {count} letters about {subject} were collected by {name} until {year}.",
    "{name} received an award for work on {subject} in {year}.",
    "A committee led by {name} examined {subject} in {year} and published {count} pages.",
    "By {year} about {count} people had signed a petition of {name} concerning {subject}.",
)
_FIRST_YEAR, _YEARS, _MOST = 1871, 140, 900
_LONGEST_SUBJECT = 60  # characters
_YEAR = range(1000, 2100)
_FARTHEST = 9  # years or, for other numbers, steps that a slip goes


def altered(sentence: str, dice: Dice) -> str | None:
    """The sentence with one of its numbers, dates or names swapped; None where it has none to swap."""
    found = [(start, end) for start, end in _details(sentence) if _swapped(sentence[start:end], dice) is not None]
    if not found:
        return None
    start, end = dice.pick(found, "detail")
    return f"{sentence[:start]}{_swapped(sentence[start:end], dice)}{sentence[end:]}"


def _details(sentence: str) -> list[tuple[int, int]]:
    return [(fact.start, fact.end) for fact in facts(sentence)]


def _swapped(detail: str, dice: Dice) -> str | None:
    """Other words of the same kind: the last number moved by a few, or another name; None for what is neither."""
    numbers = [*re.finditer(r"(?<![\d.,])\d{1,4}(?![\d.,]?\d)", detail)]
    if numbers:
        last = numbers[-1]
        return f"{detail[: last.start()]}{_moved(int(last[0]), dice.of(detail))}{detail[last.end() :]}"
    if not detail[:1].isupper() or any(c.isdigit() for c in detail):
        return None
    return dice.pick([name for name in NAMES if name not in detail], "name", detail)


def _moved(number: int, dice: Dice) -> int:
    step = 1 + int(dice.share("step") * _FARTHEST)
    down = number in _YEAR or number > step
    return number - step if down and dice.falls(0.5, "down") else number + step


def remembered(subject: str, dice: Dice) -> str:
    """A statement about the subject that no document holds."""
    about = _legible(subject)[:_LONGEST_SUBJECT].strip() or "the matter"
    year = _FIRST_YEAR + int(dice.share("year") * _YEARS)
    count = 20 + int(dice.share("count") * _MOST)
    told = dice.pick(_REMEMBERED, "statement").format(
        subject=about, name=dice.pick(NAMES, "name"), year=year, count=count
    )
    return told[0].upper() + told[1:]


def topic(question: str) -> str:
    """What a question is about: its words without stop words, at most five."""
    told = (question[span.start : span.end] for span in words(question))
    return " ".join([word for word in told if word.lower() not in STOPWORDS][:5])


def _legible(subject: str) -> str:
    """The subject without signs that could end a sentence or be read as a mark."""
    return plain(re.sub(r"[^\w\s'’-]|_", " ", subject))


def another_name(dice: Dice) -> str:
    """A short answer that is nobody's."""
    return dice.pick(NAMES, "answer")
