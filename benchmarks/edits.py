"""Small edits of real sentences, false ones and true ones, for `benchmarks/probes.py`.

The rules are plain patterns of their own: they use nothing of what the judge knows. Each maker takes a sentence with
its surroundings and gives the edited sentence, or None where its rule does not apply.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

YEAR = re.compile(r"(?<![\d.,–/-])(?:1[5-9]\d\d|20[0-2]\d)(?![\d%]|[.,]\d|[-–/]\d|s\b)")
NUMBER = re.compile(
    r"(?<![\w.,$£€–/:-])(?:[2-9]|[1-9]\d|[1-9]\d\d|\d{1,3}(?:,\d{3})+)(?![\w%]|[.,:]\d|[-–/]\w)(?= [a-z])"
)
NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,}){0,2}(?=[ ,.;)])(?! [A-Z\d&])")
MONTHS = "January February March April May June July August September October November December".split()
_MONTH = "|".join(MONTHS)
US_DATE = re.compile(rf"({_MONTH}) (\d{{1,2}}), (\d{{4}})")
UK_DATE = re.compile(rf"(?<!\d)(\d{{1,2}}) ({_MONTH}) (\d{{4}})")
SPELT = "two three four five six seven eight nine ten eleven twelve".split()
SMALL = re.compile(r"(?<![\w.,$£€–/:#-])(?:[2-9]|1[0-2])(?= [a-z]{3,})")
SPELT_WORD = re.compile(rf"(?<![\w-])(?:{'|'.join(SPELT)})(?= [a-z]{{3,}})")
VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|will|could|would|may|should)\b(?= [a-z])(?! (?:not|never|no)\b)"
)
NEGATION = re.compile(r"\b(?:not|never)\b(?! (?:only|just|merely|until|necessarily|to)\b)|(?<=[a-z])n['’]t\b")
ANY_NEGATION = re.compile(
    r"\b(?:not|never|no|nor|neither|none|without|cannot|nobody|nothing)\b|n['’]t\b", re.IGNORECASE
)
PRONOUN = re.compile(r"^(?:It|He|She|They)(?= [a-z]+(?:s|ed|d|re|ve|n|t)?\b)")
NO_NAMES = frozenset([*MONTHS, "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"])


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence, the passage and title it stands in, and another passage to take things from."""

    sentence: str
    text: str
    title: str
    elsewhere: str


Maker = Callable[[Place, random.Random], str | None]


def _put(sentence: str, match: re.Match[str], new: str) -> str:
    return sentence[: match.start()] + new + sentence[match.end() :]


def _swap(pattern: re.Pattern[str], place: Place, source: str, chance: random.Random) -> str | None:
    """One match replaced by another's words out of `source`, which the sentence does not hold."""
    found = list(pattern.finditer(place.sentence))
    known = place.text if source is place.elsewhere else place.sentence
    others = sorted({m[0] for m in pattern.finditer(source) if m[0] not in known and m[0] not in place.title})
    if not found or not others:
        return None
    return _put(place.sentence, chance.choice(found), chance.choice(others))


def year_from_elsewhere(place: Place, chance: random.Random) -> str | None:
    """A year becomes one that the passage does not hold."""
    return _swap(YEAR, place, place.elsewhere, chance)


def number_from_elsewhere(place: Place, chance: random.Random) -> str | None:
    """A count becomes one that the passage does not hold, in digits or words."""
    edited = _swap(NUMBER, place, place.elsewhere, chance)
    if edited is None:
        return None
    new = next(m[0] for m in NUMBER.finditer(edited) if m[0] not in place.sentence)
    spelt = SPELT[int(new) - 2] if new.isdigit() and 2 <= int(new) <= 12 else new
    return None if re.search(rf"\b(?:{spelt}|{new})\b", place.text + place.title, re.IGNORECASE) else edited


def _names(text: str) -> list[re.Match[str]]:
    return [m for m in NAME.finditer(text) if not NO_NAMES.intersection(m[0].split())]


def _swap_name(place: Place, source: str, absent: str, chance: random.Random) -> str | None:
    found = _names(place.sentence)
    words = set(re.findall(r"\w+", absent.lower()))
    others = sorted({m[0] for m in _names(source) if words.isdisjoint(m[0].lower().split())})
    if not found or not others:
        return None
    return _put(place.sentence, chance.choice(found), chance.choice(others))


def name_from_elsewhere(place: Place, chance: random.Random) -> str | None:
    """A name becomes one of which the passage holds no word."""
    return _swap_name(place, place.elsewhere, f"{place.text} {place.title}", chance)


def year_from_same_passage(place: Place, chance: random.Random) -> str | None:
    """A year becomes another of the passage."""
    return _swap(YEAR, place, place.text, chance)


def name_from_same_passage(place: Place, chance: random.Random) -> str | None:
    """A name becomes another of the passage, no word of which the sentence holds."""
    return _swap_name(place, place.text, place.sentence, chance)


def negation_added(place: Place, chance: random.Random) -> str | None:
    """The first auxiliary of a sentence without negation gets a "not"."""
    verb = VERB.search(place.sentence)
    if verb is None or ANY_NEGATION.search(place.sentence):
        return None
    return place.sentence[: verb.end()] + " not" + place.sentence[verb.end() :]


def negation_removed(place: Place, chance: random.Random) -> str | None:
    """The only negation of the sentence goes."""
    found = list(ANY_NEGATION.finditer(place.sentence))
    match = NEGATION.search(place.sentence)
    if match is None or len(found) != 1:
        return None
    return re.sub(r"  +", " ", _put(place.sentence, match, "").replace("ca ", "can ").replace("wo ", "will "))


def verbatim(place: Place, chance: random.Random) -> str | None:
    """The sentence as it stands."""
    return place.sentence


def clause_dropped(place: Place, chance: random.Random) -> str | None:
    """A bracket, a relative clause between commas, or an opening adverbial goes."""
    for pattern, new in ((r" \([^()]{4,80}\)", ""), (r", (?:who|which|where)\b[^,.;]{8,}(?:,(?= [a-z])|(?=\.$))", "")):
        edited = re.sub(pattern, new, place.sentence, count=1)
        if edited != place.sentence and not ANY_NEGATION.search(place.sentence):
            return edited
    opening = re.match(r"(?:In|On|After|During|By) [^,.;]{4,40}, (?=[a-z])", place.sentence)
    if opening is None or opening.end() > len(place.sentence) / 2:
        return None
    rest = place.sentence[opening.end() :]
    return rest[0].upper() + rest[1:]


def other_date_form(place: Place, chance: random.Random) -> str | None:
    """A full date in another order, or in figures."""
    if match := US_DATE.search(place.sentence):
        month, day, year = match.groups()
    elif match := UK_DATE.search(place.sentence):
        day, month, year = match.groups()
    else:
        return None
    us, uk = f"{month} {day}, {year}", f"{day} {month} {year}"
    iso = f"{year}-{MONTHS.index(month) + 1:02d}-{int(day):02d}"
    return _put(place.sentence, match, chance.choice([form for form in (us, uk, iso) if form != match[0]]))


def number_word(place: Place, chance: random.Random) -> str | None:
    """A small count in words instead of digits, or in digits instead of words."""
    if match := SMALL.search(place.sentence):
        return _put(place.sentence, match, SPELT[int(match[0]) - 2])
    if match := SPELT_WORD.search(place.sentence):
        return _put(place.sentence, match, str(SPELT.index(match[0]) + 2))
    return None


def title_for_pronoun(place: Place, chance: random.Random) -> str | None:
    """The passage's title instead of an opening pronoun."""
    title = re.sub(r"\s*\(.*\)", "", place.title)
    match = PRONOUN.match(place.sentence)
    return _put(place.sentence, match, title) if match and title else None


FALSE: dict[str, tuple[Maker, float]] = {
    "year from elsewhere": (year_from_elsewhere, 0.97),
    "number from elsewhere": (number_from_elsewhere, 0.97),
    "name from elsewhere": (name_from_elsewhere, 0.97),
    "year from the same passage": (year_from_same_passage, 0.90),
    "name from the same passage": (name_from_same_passage, 0.90),
    "negation added": (negation_added, 0.90),
    "negation removed": (negation_removed, 0.90),
}
TRUE: dict[str, tuple[Maker, float]] = {
    "verbatim": (verbatim, 0.97),
    "clause dropped": (clause_dropped, 0.97),
    "other date form": (other_date_form, 0.97),
    "number word": (number_word, 0.97),
    "title for pronoun": (title_for_pronoun, 0.97),
}
