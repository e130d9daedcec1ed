"""Edits of what is counted and dated: the claim gets a number, date or unit that no passage holds.

A bound is left alone: who has "more than 20" has more than 15 too, so that a lower number there may still be true.
"""

from __future__ import annotations

import random
import re

from claims.place import Place, put
from claims.words import UNITS
from toulmin.text.names import Fact

_BOUND = re.compile(
    r"\b(?:than|least|most|over|under|above|below|up to|nearly|almost|about|around|approximately|roughly|exceeding|some"
    r"|between|minimum of|maximum of|within|every|per|No\.|number|Chapter|Section|Article|Route|Highway|Type|Class"
    r"|Grade|Level|Part|Act|Season|Episode|Group)\s(?:the\s)?[$£€]?$",
    re.IGNORECASE,
)
_OPEN_TIME = re.compile(
    r"\b(?:before|after|by|until|till|since|prior to|as early as|as late as|around|about|circa|c\.|ca\.)\s(?:the\s)?$",
    re.I,
)
SPELT = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty".split()
)
MONTHS = "January February March April May June July August September October November December".split()
_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?")
_YEAR = re.compile(r"(?<!\d)(?:1[0-9]\d\d|20[0-2]\d)(?!\d)")
_DAY = re.compile(r"(?<!\d)(?:[12]\d|3[01]|[1-9])(?=\s|,|$|st|nd|rd|th)")
_MONTH = re.compile("|".join(MONTHS))
_UNIT = re.compile(
    rf"(?P<count>\d[\d,.]*|{'|'.join(SPELT[2:])})(?P<gap>[ -])(?P<unit>{'|'.join(map(re.escape, UNITS))})\b(?!"
    rf" (?:old|\d))"
)


def _alone(place: Place, fact: Fact) -> bool:
    """Whether the figure is neither a bound nor a part of a range, a score or a longer sign."""
    before, after = place.claim[: fact.start], place.claim[fact.end :]
    return not (
        _BOUND.search(before) or re.search(r"[-–/:#]$", before) or re.match(r"[-–/:(]\w|\(|\+|\s(?:or|to)\s", after)
    )


def _other_number(digits: str, chance: random.Random) -> str | None:
    """Another number in the same dress: counts go up, for who has three has two."""
    plain = digits.replace(",", "")
    if "." in plain:
        decimals = len(plain.split(".")[1])
        return f"{float(plain) * chance.choice([0.6, 1.3, 1.7, 2.4]) + 0.1:.{decimals}f}"
    value = int(plain)
    if value < 10:
        new = value + chance.randint(1, 5)
    elif value < 100:
        new = value + chance.choice([-1, 1]) * chance.randint(1, max(2, value // 3))
    else:
        step = 10 ** (len(plain) - chance.choice([1, 2]))
        new = value + chance.choice([-1, 1]) * step * chance.randint(1, 4)
    if new <= 1:
        return None
    return f"{new:,}" if "," in digits else str(new)


def number(place: Place, chance: random.Random) -> str | None:
    """ "seven pupils" for "five pupils"."""
    found = [fact for fact in place.found if fact.kind == "number" and _alone(place, fact)]
    if not found:
        return None
    fact = chance.choice(found)
    words = place.claim[fact.start : fact.end]
    if re.search(r"\d(?:st|nd|rd|th)$", words):
        return None
    if words.lower() in SPELT[2:17]:
        new = SPELT[SPELT.index(words.lower()) + chance.randint(1, 4)]
        if place.ground.says(str(SPELT.index(new))) or place.ground.says(new):
            return None
        return put(place.claim, fact.start, fact.end, new.capitalize() if words[0].isupper() else new)
    digits = _DIGITS.match(words)
    other = _other_number(digits[0], chance) if digits else None
    if digits is None or other is None or other in place.ground.text or other.replace(",", "") in place.ground.values:
        return None
    return put(place.claim, fact.start, fact.start + digits.end(), other)


def _new_year(words: str, place: Place, chance: random.Random) -> str | None:
    match = _YEAR.search(words)
    if match is None or words.endswith("s"):  # a decade has no other year
        return None
    span = chance.choice([1, 2, 3, 5, 8, 10, 13, 20, 31])
    new = int(match[0]) + chance.choice([-1, 1]) * span
    is_free = str(new) not in place.ground.years and new <= 2026
    return put(words, match.start(), match.end(), str(new)) if is_free else None


def _new_month(words: str, place: Place, chance: random.Random) -> str | None:
    match = _MONTH.search(words)
    others = [month for month in MONTHS if month not in place.ground.text]
    return put(words, match.start(), match.end(), chance.choice(others)) if match and others else None


def _new_day(words: str, place: Place, chance: random.Random) -> str | None:
    match = _DAY.search(words)
    if match is None or _MONTH.search(words) is None or re.match(r"st|nd|rd|th", words[match.end() :]):
        return None
    others = [str(day) for day in range(1, 29) if not place.ground.says(str(day))]
    return put(words, match.start(), match.end(), chance.choice(others)) if others else None


def date(place: Place, chance: random.Random) -> str | None:
    """ "in 1987" for "in 1985"; a full date may have another month or day instead."""
    found = [
        fact
        for fact in place.found
        if fact.kind == "date" and _alone(place, fact) and not _OPEN_TIME.search(place.claim[: fact.start])
    ]
    if not found:
        return None
    fact = chance.choice(found)
    words = place.claim[fact.start : fact.end]
    ways = [_new_year, _new_month, _new_day]
    chance.shuffle(ways)
    for way in ways:
        new = way(words, place, chance)
        if new is not None:
            return put(place.claim, fact.start, fact.end, new)
    return None


def unit(place: Place, chance: random.Random) -> str | None:
    """ "40 miles" for "40 kilometres", where the passages do not give the other measure too."""
    found = [match for match in _UNIT.finditer(place.claim) if not _BOUND.search(place.claim[: match.start()])]
    if not found:
        return None
    match = chance.choice(found)
    new = UNITS[match["unit"]]
    if place.ground.says(match["count"] + match["gap"] + new) or place.ground.lower.count(match["unit"]) > 3:
        return None
    return put(place.claim, match.start("unit"), match.end("unit"), new)
