"""A trained part's network, run by onnxruntime on the CPU: rows of tokens in, logits out.

Rows are read one by one. The network rounds what it computes by the largest number of what it reads at once, so rows
read together would change each other's verdicts; and alone they need no padding and stay in the processor's cache,
which is faster (`training/README.md` has the figures).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toulmin.errors import ModelError, UsageError
from toulmin.judges.tokens import Row

try:
    import onnxruntime
except ImportError as absent:
    raise ModelError(
        "The trained parts need onnxruntime, but it is not installed; run: pip install 'toulmin[embedded]'"
    ) from absent

Floats = NDArray[np.float32]
_INPUTS = ("ids", "kinds", "mask")


class Network:
    """The network in an ONNX file; `threads` None is as many as the machine has."""

    def __init__(self, path: Path, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise UsageError(f"The threads of a trained part should be at least 1, not {threads}.")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or os.cpu_count() or 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its errors have no common class but this
            raise ModelError(f"{path} holds no network that onnxruntime can load: {error}") from error
        if tuple(given.name for given in self._session.get_inputs()) != _INPUTS:
            raise ModelError(f"{path} should take {', '.join(_INPUTS)}; name a file that training/export.py wrote.")

    def logits(self, rows: Sequence[Row]) -> list[Floats]:
        """For each row what the network says of it, in order: of the row, or of each of its tokens."""
        return [np.asarray(self._session.run(None, padded([row]))[0][0], np.float32) for row in rows]


def padded(rows: Sequence[Row]) -> dict[str, Any]:
    """The inputs of a network: `ids`, `kinds` (1 in the second text) and `mask` (0 in what fills a short row up)."""
    width = max(len(row.ids) for row in rows)
    ids, kinds, mask = (np.zeros((len(rows), width), np.int64) for _ in _INPUTS)
    for n, row in enumerate(rows):
        size = len(row.ids)
        ids[n, :size] = row.ids
        kinds[n, row.second : size] = 1
        mask[n, :size] = 1
    return {"ids": ids, "kinds": kinds, "mask": mask}
