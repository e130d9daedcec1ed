"""Simulation: the two kinds of statement that no passage supports, as language models make them.

* An altered detail: a true sentence with one number, date or name swapped. Such a claim looks right beside its source,
  so it is the hard kind for any check.
* A statement from memory: on the topic, well formed, specific, and in none of the documents.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from simulations.chance import Dice
from simulations.truth import plain
from toulmin.text.language import STOPWORDS, words
from toulmin.text.names import facts

# Whom and what a model confuses things with where nothing better is at hand; none is anybody in particular.
PEOPLE: Sequence[str] = (
    "Edwin Marsh",
    "Clara Whitfield",
    "Thomas Ravenel",
    "Helena Brandt",
    "Samuel Okoro",
    "Ingrid Solheim",
)
PLACES: Sequence[str] = (
    "Port Hadley",
    "Lake Orsay",
    "Mount Averill",
    "Fairmont College",
    "Kessler County",
    "New Tarrow",
)
NAMES: Sequence[str] = (*PEOPLE, *PLACES)

# A statement from memory is put together from parts, each drawn by itself: were there only a few sentences to choose
# from, two independent models would invent the same ones, and one would seem to corroborate the other.
_OPENINGS: Sequence[str] = (
    "In {year} {name}",
    "{name} later",
    "Before {year} {name}",
    "Friends of {name}",
    "Until {year} {name}",
    "Nobody but {name}",
    "With others {name}",
    "Since {year} only {name}",
    "Unwisely {name}",
    "Relatives of {name} quietly",
    "Around {year} {name} twice",
    "Even {name} once",
)
_DEEDS: Sequence[str] = tuple(
    "wrote sold burned signed bought copied lost hid printed praised banned showed found mended opened named".split()
)
_OBJECTS: Sequence[str] = (
    "{count} letters about {subject}",
    "a short guide to {subject}",
    "the oldest map of {subject}",
    "two reports concerning {subject}",
    "every poster for {subject}",
    "an early film on {subject}",
    "many songs praising {subject}",
    "one diary mentioning {subject}",
    "some {count} tickets to {subject}",
    "that famous painting of {subject}",
    "her brother's papers on {subject}",
    "all remaining copies of {subject}",
    "an unfinished play about {subject}",
    "another {count} pages regarding {subject}",
    "its only model of {subject}",
    "most shares in {subject}",
)
_ENDINGS: Sequence[str] = (
    "without regret",
    "after a bet",
    "despite warnings",
    "while living abroad",
    "to settle debts",
    "before leaving {place}",
    "near {place}",
    "during a strike",
    "for a fee",
    "against advice from {place}",
    "under another name",
    "out of spite",
)
_FIRST_YEAR, _YEARS, _MOST = 1871, 140, 900
_LONGEST_SUBJECT = 2  # words; the longer, the more would two inventions share
_YEAR = range(1000, 2100)
_FARTHEST = 9  # years or, for other numbers, steps that a slip goes


def alter(sentence: str, dice: Dice) -> str | None:
    """The sentence with one of its numbers, dates or names swapped; None where it has none to swap."""
    spans = [(start, end) for start, end in _details(sentence) if _swap(sentence[start:end], dice) is not None]
    if not spans:
        return None
    start, end = dice.pick(spans, "detail")
    return f"{sentence[:start]}{_swap(sentence[start:end], dice)}{sentence[end:]}"


def _details(sentence: str) -> list[tuple[int, int]]:
    return [(fact.start, fact.end) for fact in facts(sentence)]


def _swap(detail: str, dice: Dice) -> str | None:
    """Other words of the same kind: the last number moved by a few, or another name; None for what is neither."""
    numbers = [*re.finditer(r"(?<![\d.,])\d{1,4}(?![\d.,]?\d)", detail)]
    if numbers:
        last = numbers[-1]
        return f"{detail[: last.start()]}{_shift(int(last[0]), dice.of(detail))}{detail[last.end() :]}"
    if not detail[:1].isupper() or any(c.isdigit() for c in detail):
        return None
    return dice.pick([name for name in NAMES if name not in detail], "name", detail)


def _shift(number: int, dice: Dice) -> int:
    step = 1 + int(dice.share("step") * _FARTHEST)
    down = number in _YEAR or number > step
    return number - step if down and dice.falls(0.5, "down") else number + step


def invent(subject: str, dice: Dice) -> str:
    """A statement about the subject that no document holds."""
    about = topic(_legible(subject)) or "the matter"
    parts = [
        dice.pick(_OPENINGS, "opening"),
        dice.pick(_DEEDS, "deed"),
        dice.pick(_OBJECTS, "object"),
        dice.pick(_ENDINGS, "ending"),
    ]
    text = f"{' '.join(parts)}.".format(
        subject=about,
        name=dice.pick(PEOPLE, "name"),
        place=dice.pick(PLACES, "place"),
        year=_FIRST_YEAR + int(dice.share("year") * _YEARS),
        count=20 + int(dice.share("count") * _MOST),
    )
    return text[0].upper() + text[1:]


def topic(text: str) -> str:
    """What a title or a question is about: the first of its words that are no stop words."""
    words_of = (text[span.start : span.end] for span in words(text))
    return " ".join([word for word in words_of if word.lower() not in STOPWORDS][:_LONGEST_SUBJECT])


def _legible(subject: str) -> str:
    """The subject without signs that could end a sentence or be read as a mark."""
    return plain(re.sub(r"[^\w\s'’-]|_", " ", subject))


def another_name(dice: Dice) -> str:
    """A short answer that is nobody's."""
    return dice.pick(NAMES, "answer")
