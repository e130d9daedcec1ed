"""Which passages could be best by words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from psycopg import sql

from toulmin.retrieval.bm25 import K1, B
from toulmin.stores.postgres_tables import word

_ENOUGH = 1000  # passages looked at in the first search

# A word that occurs c times adds idf * c / (c + damping), which is less than its idf. `width_bucket` is PostgreSQL's
# only binary search in a sorted array.
_WEIGHT = sql.SQL(
    "%s::float8 * (1 - damping / (damping + CASE WHEN words[width_bucket(%s::bigint, words)] = %s::bigint"
    " THEN counts[width_bucket(%s::bigint, words)] ELSE 0 END))"
)
_STATEMENT = sql.SQL(
    "SELECT key, codes, {weight} AS score FROM found,"
    " LATERAL (SELECT %s::float8 + %s::float8 * length / %s::float8 AS damping) AS weighing"
    " WHERE words && %s::bigint[] ORDER BY score DESC, key LIMIT %s"
)


class QueryWord(NamedTuple):
    """A word of the query, and the most it adds to a score."""

    word: int
    idf: float


def rarest_first(terms: Sequence[str], frequencies: Sequence[int], passages: int) -> list[QueryWord]:
    """The words that occur in the corpus, the rarest first."""
    known = [(word(term), frequency) for term, frequency in zip(terms, frequencies, strict=True) if frequency]
    idfs = [
        QueryWord(query_word, math.log(1 + (passages - frequency + 0.5) / (frequency + 0.5)))
        for query_word, frequency in known
    ]
    return sorted(idfs, key=lambda query_word: (-query_word.idf, query_word.word))


class Search(NamedTuple):
    """`ask` gives the rows of a statement; `mean` is the mean passage length in terms."""

    ask: Callable[[sql.Composed, Sequence[Any]], list[tuple[int, bytes, float]]]
    mean: float
    limit: int

    def best(self, words: Sequence[QueryWord], frequencies: Sequence[int]) -> list[tuple[int, bytes]]:
        """The keys and packed terms of the best, best first; `frequencies` are those of the words.

        Passages are looked up by the rarest words and weighed by BM25. If the common words could add more than the
        score that enough passages already have, more words are looked up. So the first half of the candidates is
        exact.
        """
        by_these = next((n for n, sum in enumerate(accumulate(frequencies), 1) if sum >= _ENOUGH), len(words))
        rows = self._rows_holding(words, by_these)
        half = max(1, self.limit // 2)
        least = rows[half - 1][2] if len(rows) >= half else 0.0
        needed = next(n for n in range(len(words) + 1) if sum(query_word.idf for query_word in words[n:]) <= least)
        if needed > by_these:
            rows = self._rows_holding(words, needed)
        return [(key, codes) for key, codes, _ in rows]

    def _rows_holding(self, words: Sequence[QueryWord], first: int) -> list[tuple[int, bytes, float]]:
        """Looks up by the first words, scores by all."""
        weight = sql.SQL(" + ").join([_WEIGHT] * len(words))
        weighing = [
            value
            for query_word in words
            for value in (query_word.idf, query_word.word, query_word.word, query_word.word)
        ]
        damping = (K1 * (1 - B), K1 * B, self.mean)
        among = [query_word.word for query_word in words[:first]]
        return self.ask(_STATEMENT.format(weight=weight), (*weighing, *damping, among, self.limit))
