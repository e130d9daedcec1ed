"""Finds the likely nearest of many vectors with faiss: in 8 bits, with inverted lists beyond 50,000.

Importing this module loads faiss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import faiss
import numpy as np

from toulmin.indexing.catalogue import damage_error
from toulmin.indexing.packed_vectors import PackedVectors, Places
from toulmin.runtime.encoder import Vectors

FLAT_UP_TO = 50_000
_TRAINED_ON = 100_000
_LISTS_A_ROOT = 4  # inverted lists, times the square root of the number of vectors
_LOOKED_AT = 32  # lists searched for each query
_BLOCK = 8192


def build(vectors: PackedVectors, path: Path) -> None:
    count, dimension = vectors.codes.shape
    metric, packing = faiss.METRIC_INNER_PRODUCT, faiss.ScalarQuantizer.QT_8bit
    if count <= FLAT_UP_TO:
        made: Any = faiss.IndexScalarQuantizer(dimension, packing, metric)
    else:
        lists = int(_LISTS_A_ROOT * math.sqrt(count))
        made = faiss.IndexIVFScalarQuantizer(faiss.IndexFlatIP(dimension), dimension, lists, packing, metric)
    made.train(_unpack(vectors.at(np.sort(np.random.default_rng(0).permutation(count)[:_TRAINED_ON]))))
    for start in range(0, count, _BLOCK):
        made.add(_unpack(vectors.at(np.arange(start, min(count, start + _BLOCK)))))
    with path.open("wb") as file:  # a full disk is an OSError here, and only a RuntimeError in faiss
        faiss.write_index(made, cast(Any, faiss).PyCallbackIOWriter(file.write))


def _unpack(vectors: PackedVectors) -> Vectors:
    return vectors.codes.astype(np.float32) * vectors.scales[:, None]


class Nearest:
    """An open faiss index; thread-safe."""

    def __init__(self, index: Path, path: Path, count: int) -> None:
        """Raises `IndexDamaged` for a broken file or another count."""
        try:
            self._made: Any = faiss.read_index(str(path))
        except RuntimeError as error:
            raise damage_error(index, f"{path.name} cannot be read ({str(error).splitlines()[0][:100]})") from error
        if self._made.ntotal != count:
            raise damage_error(index, f"{path.name} holds {self._made.ntotal} vectors, not {count}")
        if isinstance(self._made, faiss.IndexIVF):
            self._made.nprobe = min(_LOOKED_AT, self._made.nlist)

    def places(self, queries: Vectors, k: int) -> Sequence[Places]:
        """The rows of about the `k` nearest for each query."""
        _, rows = self._made.search(np.ascontiguousarray(queries), min(k, self._made.ntotal))
        return [row[row >= 0] for row in rows]
