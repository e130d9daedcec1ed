"""A network that reads rows"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from toulmin.errors import ModelError
from toulmin.runtime.network import Feed, Floats, Graph
from toulmin.runtime.rows import Row

_INPUTS = ("ids", "kinds", "mask")


class Network:
    """The network in an ONNX file; `threads` and errors are as of `Graph`."""

    def __init__(self, path: Path, threads: int | None = None) -> None:
        self._graph = Graph(path, threads)
        if self._graph.inputs != _INPUTS:
            raise ModelError(f"{path} should take {', '.join(_INPUTS)}; name a file that training/export.py wrote.")

    def logits(self, rows: Sequence[Row]) -> list[Floats]:
        """One array a row: of the row, or of each of its tokens."""
        return self._graph.each([pad_rows([row]) for row in rows])


def pad_rows(rows: Sequence[Row]) -> Feed:
    """A network's inputs: `ids`, `kinds` (1 in the second text) and `mask` (0 in padding)."""
    width = max(len(row.ids) for row in rows)
    ids, kinds, mask = (np.zeros((len(rows), width), np.int64) for _ in _INPUTS)
    for n, row in enumerate(rows):
        size = len(row.ids)
        ids[n, :size] = row.ids
        kinds[n, row.second : size] = 1
        mask[n, :size] = 1
    return {"ids": ids, "kinds": kinds, "mask": mask}
