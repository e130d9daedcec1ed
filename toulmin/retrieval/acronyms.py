"""Adds to a question the long forms of its acronyms, and the acronyms of its long forms, from the first hits.

If a passage contains "write-ahead log (WAL)" or "WAL (write-ahead log)", a query with one form is searched again with
both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from toulmin.data import Hit
from toulmin.retrieval.fusion import Ranker

LOOKED = 40  # hits in which forms are looked for
_ACRONYM = r"[A-Z](?=[A-Z\d]*[A-Z])[A-Z\d]{1,6}"
_ALONE = re.compile(rf"\b({_ACRONYM})(?:s|['’]s)?\b")
# Each word has one reading only, so that a long run of letters takes no longer than its length.
_BEHIND = re.compile(rf"(?<![\w'’-])((?:[\w'’-]+[ \n]){{1,8}})[\"“]?\(({_ACRONYM})s?\)")
_BEFORE = re.compile(rf"\b({_ACRONYM})s? \(((?:[\w'’-]+[ \n]){{1,8}}[\w'’-]+)\)")
_WORD = re.compile(r"[^\W_]+")
_SMALL = frozenset("a an and at by for from in of on or the to with".split())


class AcronymRanker:
    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker

    def search(self, queries: Sequence[str], k: int) -> list[Sequence[Hit]]:
        rows: list[Sequence[Hit]] = list(self._ranker.search(queries, max(k, LOOKED)))
        for place, query in enumerate(queries):
            if more := other_forms(query, [hit.passage.text for hit in rows[place][:LOOKED]]):
                (rows[place],) = self._ranker.search([" ".join((query, *more))], k)
        return [row[:k] for row in rows]


def other_forms(query: str, texts: Sequence[str]) -> list[str]:
    """The commonest long form of each acronym of the query, and acronym of each long form, in the texts."""
    acronyms = {match[1] for match in _ALONE.finditer(query)}
    pairs = Counter(pair for text in texts for pair in _pairs(text))
    key = f" {_key(query)} "
    more: dict[str, str] = {}
    for (acronym, long), _ in pairs.most_common():
        has_long = f" {_key(long)} " in key
        if acronym in acronyms and not has_long:
            more.setdefault(acronym, long)
        elif has_long and acronym not in acronyms:
            more.setdefault(_key(long), acronym)
    return list(more.values())


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for match in _BEHIND.finditer(text):
        if long := _spelling(match[2], match[1].split()):
            yield match[2], long
    for match in _BEFORE.finditer(text):
        long = _spelling(match[1], match[2].split())
        if long == _key(match[2]):
            yield match[1], long


def _spelling(acronym: str, before: Sequence[str]) -> str:
    """The last of these words whose first letters spell the acronym."""
    words = [word.lower() for part in before for word in _WORD.findall(part)]
    starts = (start for start in range(len(words) - 2, -1, -1) if words[start] not in _SMALL)
    return next((" ".join(words[start:]) for start in starts if _spells(words[start:], acronym.lower())), "")


def _spells(words: Sequence[str], letters: str) -> bool:
    """Whether each word, except small ones, supplies one or more of its first letters."""
    if not words or not letters:
        return not words and not letters
    word = words[0]
    begins = [n for n in range(1, 1 + min(len(word), len(letters))) if word[:n] == letters[:n]]
    return any(_spells(words[1:], letters[n:]) for n in begins) or (word in _SMALL and _spells(words[1:], letters))


def _key(text: str) -> str:
    return " ".join(_WORD.findall(text)).lower()
