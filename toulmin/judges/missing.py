"""Numbers, dates and names of a claim that no source contains."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from toulmin.judges.comparison import ALIASES, letters_of
from toulmin.judges.coverage import Reading, figure_key
from toulmin.text.language import STOPWORDS, terms
from toulmin.text.names import Fact, is_common

ROOT = 4  # least number of letters that the names of a people and its country share
# Endings of stems: "Canadian" and "Canada", "Italian" and "Italy", "Japanese" and "Japan".
_OF_PEOPLES = ("n", "an", "ian", "ean", "es", "ish", "i", "ic")
_OF_PLACES = ("", "a", "o", "i", "e", "ia")
_SHORT_FORM = re.compile(r"(?:[A-Z]\.?){2,6}(?:['’]?s)?")
_HONORIFICS = frozenset("mr mrs ms dr sir dame jr sr prof rev st".split())


def has_term(term: str, readings: Sequence[Reading]) -> bool:
    """Whether a source has the term, a derived one ("Italian" of "Italy") or an alias."""
    return any(
        term in reading.where or _has_alias(term, reading) or _has_derived(term, reading) for reading in readings
    )


def _has_alias(term: str, reading: Reading) -> bool:
    return any(other in reading.where or other in reading.pairs for other in ALIASES.get(term, ()))


def _has_derived(term: str, reading: Reading) -> bool:
    return not reading.where.keys().isdisjoint(_peoples_and_places(term))


@lru_cache(maxsize=20_000)
def _peoples_and_places(term: str) -> frozenset[str]:
    return frozenset(
        term[: len(term) - len(ending)] + other
        for endings, others in ((_OF_PEOPLES, _OF_PLACES), (_OF_PLACES, _OF_PEOPLES))
        for ending in endings
        if term.endswith(ending) and len(term) - len(ending) >= ROOT
        for other in others
    )


def _spells(letters: str, reading: Reading) -> bool:
    """Whether consecutive words begin with these letters ("matrix metalloproteases": mm)."""
    named = any(letters_of(fact.value.split()) == letters for fact in reading.facts if fact.kind == "name")
    if named or len(letters) < 3:
        return named
    return any(letters in letters_of(sentence.terms) for sentence in reading.sentences)


def is_short_form(fact: Fact, shown: str, readings: Sequence[Reading]) -> bool:
    short = re.sub(r"\.|(?<=[A-Z])['’]?s$", "", shown)
    if short.isupper() and 2 <= len(short) <= 6:
        return any(_spells(short.lower(), reading) for reading in readings)
    initials = letters_of(fact.value.split())
    return len(initials) >= 2 and any(
        known.value.rsplit(" ", 1)[-1] == initials
        for reading in readings
        for known in reading.facts
        if known.kind == "name"
    )


def _holds_name(fact: Fact, shown: str, readings: Sequence[Reading]) -> bool:
    content = telling_terms(shown)
    telling = [term for term in content if not is_common(term)] or content
    absent = [term for term in telling if not _has_part(term, readings)]
    phrase = " ".join(terms(shown))
    return not absent or is_short_form(fact, shown, readings) or any(_has_alias(phrase, r) for r in readings)


def _has_part(term: str, readings: Sequence[Reading]) -> bool:
    is_figure = term.isdecimal() and any(figure_key(term) in reading.where for reading in readings)
    return is_figure or has_term(term, readings)


@dataclass(frozen=True, slots=True)
class Absence:
    """Words of facts that no source contains; `doubtful` ones may be no names.

    Doubtful: words that only open a sentence, acronyms, capitals on common words ("the Blue Line"), and words in a
    script without case.
    """

    sure: tuple[str, ...]
    doubtful: tuple[str, ...]


def missing(claim: Reading, sources: Sequence[Reading]) -> Absence:
    """The claim's facts in no source, in order, without acronyms that it spells out itself."""
    by_doubt: dict[bool, list[str]] = {True: [], False: []}
    for fact in claim.facts:
        shown = claim.text[fact.start : fact.end]
        if not _is_held(fact, shown, sources) and not _is_explained(fact, claim):
            by_doubt[_is_doubtful(fact, claim)].append(shown)
    return Absence(tuple(by_doubt[False]), (*by_doubt[True], *_absent_caseless(claim, sources)))


def _absent_caseless(claim: Reading, sources: Sequence[Reading]) -> list[str]:
    if claim.text.isascii():
        return []
    keys = dict.fromkeys(key for sentence in claim.sentences for key in sentence.keys if _is_caseless(key))
    return [key for key in keys if not any(key in source.where for source in sources)]


def _is_caseless(term: str) -> bool:
    return term[0].isalpha() and term[0].lower() == term[0].upper()


def _is_doubtful(fact: Fact, claim: Reading) -> bool:
    if fact.kind != "name" or any(c.isdigit() for c in fact.value):
        return False
    shown = claim.text[fact.start : fact.end]
    opens = " " not in fact.value and any(sentence.start == fact.start for sentence in claim.sentences)
    return opens or _SHORT_FORM.fullmatch(shown) is not None or all(map(is_common, telling_terms(shown)))


def telling_terms(shown: str) -> list[str]:
    return [term for term in terms(shown) if term not in STOPWORDS and term not in _HONORIFICS]


def _is_explained(fact: Fact, claim: Reading) -> bool:
    in_brackets = claim.text[fact.start - 1 : fact.start] == "(" and claim.text[fact.end : fact.end + 1] == ")"
    short = re.sub(r"(?<=[A-Z])s$", "", claim.text[fact.start : fact.end])
    return in_brackets and short.isupper() and _spells(short.lower(), claim)


def _is_held(fact: Fact, shown: str, sources: Sequence[Reading]) -> bool:
    if fact.kind == "name":
        return _holds_name(fact, shown, sources)
    key = figure_key(fact.value)
    return any(key in source.where for source in sources) or _is_pieced_together(fact, sources)


def _is_pieced_together(fact: Fact, sources: Sequence[Reading]) -> bool:
    """Whether the sources have a date's day without a year, and its year elsewhere."""
    year, _, rest = fact.value.partition("-")
    if fact.kind != "date" or not rest or not year:
        return False
    bare = any(known.value == f"--{rest}" for source in sources for known in source.facts)
    return bare and any(figure_key(year) in source.where for source in sources)
