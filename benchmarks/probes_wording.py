"""How the probes word facts, true and false alike (`probes_wording.toml`); small changes of numbers and dates."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
MONTHS = "January February March April May June July August September October November December".split()
DATE = rf"(?:(?:{'|'.join(MONTHS)}) \d{{1,2}}, \d{{4}}|\d{{1,2}} (?:{'|'.join(MONTHS)}) \d{{4}})"


class Roles(NamedTuple):
    """Two slots of one page whose values can change places, and the wording of their roles."""

    kind: str
    first: str
    second: str
    text: str


def _by_kind(name: str) -> dict[tuple[str, str], list[str]]:
    return {(kind, slot): texts for kind, slots in TABLES[name].items() for slot, texts in slots.items()}


STATED, DENIED = _by_kind("stated"), _by_kind("denied")
COUNTED: list[str] = TABLES["counted"]
EXCHANGED = [Roles(**row) for row in TABLES["exchanged"]]
DEEDS: dict[str, list[str]] = TABLES["deeds"]
DETAILS: dict[str, dict[str, str]] = TABLES["details"]
COUNTRIES: dict[str, str] = TABLES["countries"]
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


def is_silent(slot: str, text: str) -> bool:
    """Whether a page says nothing that might bear on that slot."""
    return re.search(TABLES["mentions"][slot], text) is None
