"""Vectors in 8 bits a number, and the best of them by score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from toulmin.indexing.catalogue import id_of
from toulmin.runtime.encoder import Vectors

_BLOCK = 8192  # vectors that are unpacked at once
CANDIDATES = 4  # times the number requested: the candidates' search rounds differently from ours
_LEVELS = 127
Keys = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int8]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PackedVectors:
    """Row i of `codes` times `scales[i]` is the vector of the passage `keys[i]`."""

    keys: Keys
    scales: Vectors
    codes: Codes

    def scores(self, queries: Vectors) -> Vectors:
        """The inner products, (queries, passages)."""
        products = np.empty((len(queries), len(self.keys)), np.float32)
        for start in range(0, len(self.keys), _BLOCK):
            block = slice(start, start + _BLOCK)
            products[:, block] = (queries @ self.codes[block].T.astype(np.float32)) * self.scales[block]
        return products

    def at(self, places: Places) -> PackedVectors:
        return PackedVectors(self.keys[places], self.scales[places], self.codes[places])


def pack(keys: Keys, vectors: Vectors) -> PackedVectors:
    """Rounds each row to 8 bits a number by its own scale, which keeps its largest number exact."""
    most = np.abs(vectors).max(axis=1, initial=0.0)
    scales = np.maximum(most / _LEVELS, np.finfo(np.float32).tiny).astype(np.float32)
    return PackedVectors(keys, scales, np.rint(vectors / scales[:, None]).astype(np.int8))


def best(keys: Keys, scores: Vectors, k: int) -> list[tuple[str, float]]:
    """The ids and scores of the best `k`; ties are ordered by id."""
    first = [(id_of(int(keys[at])), float(scores[at])) for at in best_places(scores, k)]
    return sorted(first, key=lambda item: (-item[1], item[0]))[:k]


def best_places(scores: npt.NDArray[np.floating[Any]], k: int) -> Places:
    """The places whose score is at least the k-th best."""
    if len(scores) <= k:
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.partition(scores, -k)[-k])
