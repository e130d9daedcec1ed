"""Fuses rankings by reciprocal ranks or by a weighted sum of scaled scores.

* Reciprocal ranks (Cormack, Clarke and Buettcher, 2009): the sum of 1 / (constant + rank).
* Weighted sum: each ranking's scores, scaled per query from 0 (worst hit) to 1 (best); a missing passage counts 0.
  `DENSE_WEIGHT` was chosen on the train split (`benchmarks/hybrid.py`).

Each ranking returns at least `DEPTH` hits, as late hits may win. Equal scores are ordered by passage id.
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
    def search(self, queries: Sequence[str], k: int) -> Sequence[Row]:
        """At most `k` hits a query, best first."""


class FusionRanker:
    def __init__(self, rankers: Sequence[Ranker], fuse: Callable[[Sequence[Row]], list[Hit]]) -> None:
        """`fuse` merges one query's rankings, in the order of `rankers`."""
        self._rankers, self._fuse = tuple(rankers), fuse

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        if k < 1:
            return [[] for _ in queries]
        rankings = [ranker.search(queries, max(DEPTH, 2 * k)) for ranker in self._rankers]
        return [self._fuse(rows)[:k] for rows in zip(*rankings, strict=True)]


def by_sum(lexical: Ranker, dense: Ranker, weight: float = DENSE_WEIGHT) -> FusionRanker:
    """`weight`, 0 to 1, is that of meaning (`dense`)."""
    if not (math.isfinite(weight) and 0 <= weight <= 1):
        raise UsageError(f"dense_weight, the weight of meaning, should be in 0..1, not {weight}.")
    return FusionRanker((lexical, dense), partial(fuse_by_sum, weights=(1 - weight, weight)))


def fuse_by_ranks(rows: Sequence[Row], constant: float = CONSTANT) -> list[Hit]:
    return _sum_scores([(hit, 1 / (constant + rank)) for row in rows for rank, hit in enumerate(row, start=1)])


def fuse_by_sum(rows: Sequence[Row], weights: Sequence[float]) -> list[Hit]:
    """All hits, best first; one weight a ranking."""
    return _sum_scores(
        [
            (hit, weight * share)
            for row, weight in zip(rows, weights, strict=True)
            for hit, share in zip(row, scale([hit.score for hit in row]), strict=True)
        ]
    )


def scale(scores: Sequence[float]) -> list[float]:
    """From the worst (0) to the best (1); all 1 if equal."""
    if not scores:
        return []
    least, best = min(scores), max(scores)
    return [(score - least) / (best - least) if best > least else 1.0 for score in scores]


def _sum_scores(parts: Sequence[tuple[Hit, float]]) -> list[Hit]:
    scores: dict[str, list[float]] = defaultdict(list)
    passages: dict[str, Passage] = {}
    for hit, score in parts:
        passages.setdefault(hit.passage.id, hit.passage)
        scores[hit.passage.id].append(score)
    # `fsum` rounds once, so the order of the rankings does not matter.
    hits = [Hit(passages[passage_id], math.fsum(passage_scores)) for passage_id, passage_scores in scores.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.passage.id))
