"""How facts are said in words of our own, true and false alike: the same wordings serve both.

`{x}` is the page's subject, `{v}` the value, `{a}` and `{b}` two values that stand in different roles.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from probes_facts import DATE, MONTHS

STATED: dict[tuple[str, str], tuple[str, ...]] = {
    ("film", "release year"): ("{x} came to the cinemas in {v}.", "The year of {x} is {v}.", "{x} dates from {v}."),
    ("music", "release year"): (
        "{x} has been on sale since {v}.",
        "Listeners got to know {x} in {v}.",
        "{x} dates from {v}.",
    ),
    ("film", "director"): (
        "{x} is the work of the director {v}.",
        "{v} was in charge on the set of {x}.",
        "The director of {x} is {v}.",
    ),
    ("film", "star"): (
        "{v} has a part in {x}.",
        "One of the faces on screen in {x} is that of {v}.",
        "The cast of {x} includes {v}.",
    ),
    ("film", "writer"): ("The script of {x} is from the pen of {v}.", "It was {v} who thought up the script of {x}."),
    ("film", "producer"): ("{v} was the producer behind {x}.", "It was {v} who saw to the production of {x}."),
    ("film", "composer"): ("The music one hears in {x} is by {v}.", "{v} provided the sounds for {x}."),
    ("music", "performer"): ("The recording of {x} is by {v}.", "{v} can be heard on {x}."),
    ("music", "writer"): ("{x} is from the pen of {v}.", "{v} had the idea for {x}, or a share in it."),
    ("music", "producer"): ("{v} sat at the controls when {x} was made.", "{v} was a producer of {x}."),
    ("music", "label"): ("It was {v} that put {x} on the market.", "Buyers could get {x} from {v}."),
    ("book", "author"): ("{x} is from the pen of {v}.", "Readers have {v} to thank for {x}."),
    ("thing", "founding year"): ("The beginnings of {x} lie in {v}.", "{x} came into being in {v}."),
    ("thing", "founder"): ("{v} brought {x} into being.", "{x} goes back to {v}."),
    ("thing", "place"): ("{x} lies in {v}.", "Whoever wants to see {x} has to go to {v}."),
    ("thing", "larger place"): ("{x} can be found in {v}.", "Whoever travels to {x} comes to {v}."),
    ("person", "parent"): ("Among the children of {v} is {x}.", "{x} has {v} for a parent."),
    ("person", "spouse"): ("{x} and {v} were joined in marriage.", "{x} had a wedding with {v}."),
    ("person", "birthplace"): ("The life of {x} began in {v}.", "{x} is a native of {v}."),
    ("person", "place of death"): ("The life of {x} came to its end in {v}.", "{x} passed away in {v}."),
    ("person", "country"): ("{x} comes from {v}.", "The home country of {x} is {v}."),
    ("person", "birth date"): (
        "{x} came into the world in {v}.",
        "The parents of {x} had their child in {v}.",
        "The life of {x} began in {v}.",
    ),
    ("person", "death date"): ("{x} passed away in {v}.", "The life of {x} came to its end in {v}."),
}
COUNTED = (
    "The number of {noun} that come up in connection with {x} is {v}.",
    "With {x} there is talk of {v} {noun}.",
    "What is told of {x} involves {v} {noun}.",
)
DENIED: dict[tuple[str, str], tuple[str, ...]] = {
    ("film", "release year"): ("{x} did not come to the cinemas in {v}.", "{v} is not the year of {x}."),
    ("music", "release year"): ("{v} was not the year in which {x} went on sale.", "{x} does not date from {v}."),
    ("film", "director"): ("{x} is not the work of the director {v}.", "{v} was not in charge on the set of {x}."),
    ("book", "author"): ("{x} is not from the pen of {v}.", "{v} did not think up {x}."),
    ("person", "birth date"): ("{x} did not come into the world in {v}.", "The life of {x} did not begin in {v}."),
    ("person", "death date"): ("{x} did not pass away in {v}.", "The life of {x} did not come to its end in {v}."),
    ("thing", "founding year"): ("{x} did not come into being in {v}.", "The beginnings of {x} do not lie in {v}."),
}


class Roles(NamedTuple):
    """Two slots of one page whose values can change places, and how their roles are told."""

    kind: str
    first: str
    second: str
    said: str


EXCHANGED = (
    Roles("film", "director", "star", "In {x}, {b} acts under the direction of {a}."),
    Roles("film", "director", "star", "{a} was in charge on the set of {x}, where {b} had a part."),
    Roles("film", "director", "writer", "{a} brought to the screen what {b} had put on paper for {x}."),
    Roles("film", "director", "producer", "For {x}, {a} was in charge of the directing and {b} of the production."),
    Roles("film", "director", "composer", "For {x}, {b} came up with the music and {a} did the directing."),
    Roles("film", "composer", "star", "In {x} one hears the music of {a} and sees {b} act."),
    Roles("film", "writer", "star", "In {x}, {b} speaks lines that {a} put on paper."),
    Roles("film", "writer", "producer", "{x} came about with {b} as producer and {a} as author of the script."),
    Roles("music", "performer", "writer", "On {x} one hears {a}, and the song is from the pen of {b}."),
    Roles("music", "writer", "producer", "{x} came about with {b} as producer and {a} as author."),
    Roles("music", "performer", "producer", "At the making of {x}, {a} sang or played and {b} was the producer."),
    Roles("thing", "place", "larger place", "{x} lies in {a}, a part of {b}."),
    Roles("thing", "place", "larger place", "Within {b} there is {a}, and there one finds {x}."),
    Roles("person", "birthplace", "place of death", "The life of {x} began in {a} and came to its end in {b}."),
)
DEEDS: dict[str, tuple[str, ...]] = {
    "defeated": ("{b} lost to {a}.", "In a contest with {b}, {a} came out on top."),
    "beat": ("{b} lost to {a}.", "In a contest with {b}, {a} came out on top."),
    "acquired": ("{b} passed into the hands of {a}.", "{a} took over {b}."),
    "bought": ("{b} passed into the hands of {a}.", "{a} paid to get {b}."),
    "replaced": ("{b} had to make room for {a}.", "{a} came in the place of {b}."),
    "killed": ("{b} died at the hands of {a}.", "{a} took the life of {b}."),
    "sued": ("{b} was taken to court by {a}.", "{a} went to court against {b}."),
}

_SPELT = "two three four five six seven eight nine ten eleven twelve".split()


def number(value: str, in_words: bool) -> str:
    """A count as digits or, up to twelve, as a word."""
    digits = value.replace(",", "")
    return _SPELT[int(digits) - 2] if in_words and 2 <= int(digits) <= 12 else value


def month(date: str) -> str:
    """The month and the year of a full date; what is no full date stays as it is."""
    if not re.fullmatch(DATE, date):
        return date
    named = next(name for name in MONTHS if name in date)
    return f"{named} {date[-4:]}"


# A second fact told beside the first one; what must not stand in a page for it to be silent on that fact.
DETAILS: dict[str, dict[str, str]] = {
    "film": {
        "release year": "a work of {v}",
        "director": "with {v} as its director",
        "star": "with {v} in the cast",
        "writer": "with a script by {v}",
        "producer": "with {v} as its producer",
        "composer": "with music by {v}",
    },
    "music": {
        "performer": "in a recording by {v}",
        "writer": "from the pen of {v}",
        "producer": "with {v} as producer",
        "label": "on the market from {v}",
        "release year": "in the shops since {v}",
    },
    "person": {
        "country": "whose home country is {v}",
        "birthplace": "a native of {v}",
        "parent": "a child of {v}",
        "spouse": "who had a wedding with {v}",
        "birth date": "whose life began in {v}",
        "death date": "whose life came to its end in {v}",
    },
}
_SPOKEN_OF = {
    "release year": r"\b(?:19|20)\d\d\b",
    "director": r"direct",
    "star": r"\bstar|\bcast\b|\bplay",
    "writer": r"\bwr[io]t|screenplay|script",
    "producer": r"produc",
    "composer": r"music|score|soundtrack|compos",
    "performer": r"\bby\b",
    "label": r"label|Records|releas",
    "country": r" (?:is|was) an? (?:[a-z-]+ )?[A-Z]|\b[Bb]orn in\b",
    "birthplace": r"\bborn\b[^.)]*\bin\b|native|\bfrom [A-Z]",
    "parent": r"\bson\b|daughter|father|mother|parent|child",
    "spouse": r"marri|wife|husband|spouse|partner",
    "birth date": r"\bborn\b|\d{4} ?[–-]",
    "death date": r"\bdied\b|death|killed|\d{4}\)",
}


def is_silent(slot: str, text: str) -> bool:
    """Whether a page says nothing that might bear on that slot."""
    return re.search(_SPOKEN_OF[slot], text) is None
