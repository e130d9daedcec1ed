"""Fuses rankings by reciprocal ranks: the sum of 1 / (constant + rank) (Cormack, Clarke and Buettcher, 2009).

Each ranking returns at least `DEPTH` hits, as late hits may win. Equal scores are ordered by passage id.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from toulmin.data import Hit, Passage

CONSTANT = 5.0
DEPTH = 100


class Ranker(Protocol):
    def search(self, queries: Sequence[str], k: int) -> Sequence[Sequence[Hit]]:
        """At most `k` hits a query, best first."""


@dataclass(frozen=True)
class FusionRanker:
    rankers: tuple[Ranker, ...]

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        rankings = [ranker.search(queries, max(DEPTH, 2 * k)) for ranker in self.rankers]
        return [fuse_by_ranks(rows)[: max(k, 0)] for rows in zip(*rankings, strict=True)]


def fuse_by_ranks(rows: Sequence[Sequence[Hit]], constant: float = CONSTANT) -> list[Hit]:
    scores: dict[str, list[float]] = defaultdict(list)
    passages: dict[str, Passage] = {}
    for rank, hit in (place for row in rows for place in enumerate(row, start=1)):
        passages.setdefault(hit.passage.id, hit.passage)
        scores[hit.passage.id].append(1 / (constant + rank))
    # `fsum` rounds once, so the order of the rankings does not matter.
    hits = (Hit(passages[passage_id], math.fsum(passage_scores)) for passage_id, passage_scores in scores.items())
    return sorted(hits, key=lambda hit: (-hit.score, hit.passage.id))


def scale(scores: Sequence[float], spread: float = 0.0) -> list[float]:
    """From the worst (0) to the best (1, or less if all lie within `spread`); all 1 if equal."""
    least, best = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - least) / max(best - least, spread) if best > least else 1.0 for score in scores]
