"""One ranking from several: by reciprocal ranks, or by a weighted sum of scores brought to one range.

* Reciprocal ranks (Cormack, Clarke and Buettcher, 2009): a passage's score is the sum of 1 / (constant + rank) over the
  rankings that hold it. Scores are not looked at, so nothing has to be on one scale.
* Weighted sum: each ranking's scores are brought to 0..1 within the query, from the least of its hits to the best; what
  a ranking does not hold counts 0 there. The weight of meaning was chosen on the train split (`benchmarks/hybrid.py`).

Each ranking is asked for `DEPTH` hits at least, as what only one of them finds late may win by both. Equal scores are
ordered by passage id.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from toulmin.data import Hit, Passage
from toulmin.errors import UsageError

CONSTANT = 5.0
DENSE_WEIGHT = 0.45
DEPTH = 100

Row = Sequence[Hit]


class Ranker(Protocol):
    """Whatever ranks passages for queries at once."""

    def search(self, queries: Sequence[str], k: int) -> Sequence[Row]:
        """At most `k` hits a query, best first."""
        ...


class Fused:
    """Several rankings of the same passages as one."""

    def __init__(
        self, rankers: Sequence[Ranker], fuse: Callable[[Sequence[Row]], list[Hit]], depth: int = DEPTH
    ) -> None:
        """`fuse` makes one ranking of those of one query, which come in the order of `rankers`."""
        if depth < 1:
            raise UsageError(f"A fused ranking looks at 1 hit of each at least, not {depth}.")
        self._rankers, self._fuse, self._depth = tuple(rankers), fuse, depth

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """At most `k` hits a query, best first."""
        if k < 1:
            return [[] for _ in queries]
        rankings = [ranker.search(queries, max(self._depth, 2 * k)) for ranker in self._rankers]
        return [self._fuse(rows)[:k] for rows in zip(*rankings, strict=True)]


def by_ranks(rankers: Sequence[Ranker], constant: float = CONSTANT, depth: int = DEPTH) -> Fused:
    """The rankers fused by reciprocal rank."""
    return Fused(rankers, partial(fused_by_ranks, constant=constant), depth)


def by_sum(lexical: Ranker, dense: Ranker, weight: float = DENSE_WEIGHT, depth: int = DEPTH) -> Fused:
    """Words and meaning fused by a weighted sum; `weight`, 0 to 1, is that of meaning."""
    if not (math.isfinite(weight) and 0 <= weight <= 1):
        raise UsageError(f"The weight of meaning (dense_weight) lies in 0..1, not {weight}.")
    return Fused((lexical, dense), partial(fused_by_sum, weights=(1 - weight, weight)), depth)


def fused_by_ranks(rows: Sequence[Row], constant: float = CONSTANT) -> list[Hit]:
    """All hits of the rankings, best first."""
    if not (math.isfinite(constant) and constant >= 0):
        raise UsageError(f"The constant of reciprocal ranks is 0 or more, not {constant}.")
    return _summed([(hit, 1 / (constant + rank)) for row in rows for rank, hit in enumerate(row, start=1)])


def fused_by_sum(rows: Sequence[Row], weights: Sequence[float]) -> list[Hit]:
    """All hits of the rankings, best first; one weight a ranking."""
    return _summed(
        [
            (hit, weight * share)
            for row, weight in zip(rows, weights, strict=True)
            for hit, share in zip(row, _shares(row), strict=True)
        ]
    )


def _shares(row: Row) -> list[float]:
    """The scores of a ranking, its least as 0 and its best as 1; all 1 where they are equal."""
    if not row:
        return []
    least, best = min(hit.score for hit in row), max(hit.score for hit in row)
    return [(hit.score - least) / (best - least) if best > least else 1.0 for hit in row]


def _summed(parts: Sequence[tuple[Hit, float]]) -> list[Hit]:
    scores: dict[str, list[float]] = defaultdict(list)
    passages: dict[str, Passage] = {}
    for hit, score in parts:
        passages.setdefault(hit.passage.id, hit.passage)
        scores[hit.passage.id].append(score)
    # `fsum` rounds once, so the order in which the rankings come cannot decide.
    hits = [Hit(passages[passage_id], math.fsum(found)) for passage_id, found in scores.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.passage.id))
