"""Which passages could be the best by words: PostgreSQL weighs those that hold any, as BM25 does at our own setting.

A passage is looked up by the rarest words first, since those that are common stand in very many. What the common ones
could add at most is known: where that is less than what enough passages have already, none is missed without them, and
otherwise more words are looked up. So the first half of the candidates is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from psycopg import sql

from toulmin.retrieval.bm25 import K1, B
from toulmin.stores.postgres_tables import word

_ENOUGH = 1000  # passages to look at, at first

# A word that stands c times adds idf * c / (c + damping), which is less than its idf. `width_bucket` is the one search
# by halves that PostgreSQL has for an array that is in order.
_WEIGHT = sql.SQL(
    "%s::float8 * (1 - damping / (damping + CASE WHEN words[width_bucket(%s::bigint, words)] = %s::bigint"
    " THEN counts[width_bucket(%s::bigint, words)] ELSE 0 END))"
)
_STATEMENT = sql.SQL(
    "SELECT key, codes, {weight} AS score FROM found,"
    " LATERAL (SELECT %s::float8 + %s::float8 * length / %s::float8 AS damping) AS weighing"
    " WHERE words && %s::bigint[] ORDER BY score DESC, key LIMIT %s"
)


class Wanted(NamedTuple):
    """A word that is asked for, and the most that it adds to a score."""

    word: int
    idf: float


def wanted(terms: Sequence[str], frequencies: Sequence[int], passages: int) -> list[Wanted]:
    """The words of terms that there are, the rarest first."""
    known = [(word(term), found) for term, found in zip(terms, frequencies, strict=True) if found]
    idfs = [Wanted(one, math.log(1 + (passages - found + 0.5) / (found + 0.5))) for one, found in known]
    return sorted(idfs, key=lambda one: (-one.idf, one.word))


class Search(NamedTuple):
    """One search: `ask` gives the rows of a statement, `mean` is the mean length of a passage in terms."""

    ask: Callable[[sql.Composed, Sequence[Any]], list[tuple[int, bytes, float]]]
    mean: float
    limit: int

    def best(self, words: Sequence[Wanted], frequencies: Sequence[int]) -> list[tuple[int, bytes]]:
        """The keys and packed terms of the best, best first; `frequencies` are those of the words."""
        by_these = next((n for n, sum in enumerate(accumulate(frequencies), 1) if sum >= _ENOUGH), len(words))
        found = self._found_by(words, by_these)
        half = max(1, self.limit // 2)
        least = found[half - 1][2] if len(found) >= half else 0.0
        needed = next(n for n in range(len(words) + 1) if sum(one.idf for one in words[n:]) <= least)
        if needed > by_these:
            found = self._found_by(words, needed)
        return [(key, codes) for key, codes, _ in found]

    def _found_by(self, words: Sequence[Wanted], first: int) -> list[tuple[int, bytes, float]]:
        """The best of the passages that hold one of the first words, weighed by all."""
        weight = sql.SQL(" + ").join([_WEIGHT] * len(words))
        weighing = [value for one in words for value in (one.idf, one.word, one.word, one.word)]
        damping = (K1 * (1 - B), K1 * B, self.mean)
        among = [one.word for one in words[:first]]
        return self.ask(_STATEMENT.format(weight=weight), (*weighing, *damping, among, self.limit))
