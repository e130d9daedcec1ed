"""A copy of a source's words that says the opposite: a "not" more or less, or two parts that changed places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from toulmin.text.language import STOP_TERMS, terms
from toulmin.text.wording import wording

_SPELT_OUT = (("’", "'"), ("cannot", "can not"), ("can't", "can not"), ("won't", "will not"), ("n't", " not"))
_DENIALS, _HELPERS = frozenset(terms("not never")), frozenset(terms("do does did"))
_DENYING = frozenset(terms("no without neither nor none nobody nothing nowhere"))
_LEAST, _MOST, _LONGEST = 5, 300, 5  # words of a claim, and of a part that changes its place: clauses may
# Between two things that these join, either may come first.
_EVEN = frozenset(terms("and or nor while is are was were be can may said the a an"))


class _Words(NamedTuple):
    """Stems without denials, and how many of these stand before each."""

    stems: list[str]
    denials: list[int]


def turned_sentence(claim: str, texts: Iterable[str]) -> str | None:
    """The sentence of which the claim is a turned copy, unless another one says what the claim says."""
    mine, found = _read(claim), []
    if not _LEAST <= len(mine.stems) <= _MOST:
        return None
    for sentence in (each for text in texts for each in wording(text).sentences):
        theirs = _read(sentence.text)
        for start in range(len(theirs.stems) - len(mine.stems) + 1):
            end = start + len(mine.stems)
            part = _Words(theirs.stems[start:end], theirs.denials[start:end])
            # What stands before the first word may belong to other words.
            if part.stems == mine.stems and (sum(mine.denials[1:]) - sum(part.denials[1:])) % 2 == 0:
                return None
            if part.stems == mine.stems or _is_exchanged(mine, part):
                found.append(sentence.text)
    return found[0] if found else None


def denies(text: str) -> bool:
    """Whether a word denies something."""
    return any(_read(text).denials) or not _DENYING.isdisjoint(_read(text).stems)


@lru_cache(maxsize=2_048)
def _read(text: str) -> _Words:
    lower, read, count = text.lower(), _Words([], []), 0
    for short, long in _SPELT_OUT:
        lower = lower.replace(short, long)
    for term in terms(lower):
        if term in _DENIALS:
            count += 1
        elif term not in _HELPERS:
            read.stems.append(term)
            read.denials.append(count)
            count = 0
    return read


def _is_exchanged(mine: _Words, theirs: _Words) -> bool:
    if mine.denials != theirs.denials or sorted(mine.stems) != sorted(theirs.stems):
        return False
    differing = [n for n, both in enumerate(zip(mine.stems, theirs.stems, strict=True)) if both[0] != both[1]]
    ours, source = (each.stems[differing[0] : differing[-1] + 1] for each in (mine, theirs))
    return any(
        _are_exchanged(ours, source, first, second)
        for first in range(1, min(len(ours), _LONGEST + 1))
        for second in range(1, min(len(ours) - first, _LONGEST + 1))
    )


def _are_exchanged(ours: Sequence[str], source: Sequence[str], first: int, second: int) -> bool:
    """Whether our first words are the source's last ones, and the reverse, around the same words."""
    between = ours[first : len(ours) - second]
    theirs = [*ours[len(ours) - second :], *between, *ours[:first]]
    return list(source) == theirs and not _is_even(between)


def _is_even(between: Sequence[str]) -> bool:
    """Whether the sentence says the same of both sides, as of the items of a list."""
    items = between[:-1] if between and between[-1] in ("and", "or") else ("the",)
    is_list = STOP_TERMS.isdisjoint(items) and not any(map(str.isdigit, items))
    return is_list or _EVEN.issuperset(between)
