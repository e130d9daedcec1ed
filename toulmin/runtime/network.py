"""The trained parts' networks: ONNX files run by onnxruntime on the CPU, and the rows of tokens they read.

Each row runs alone, one to a core: some networks scale by a batch's largest number, so rows would change each
other, and padding doubles the time (`benchmarks/rows.py`). Control tokens spelled in a text are read as plain text.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toulmin.errors import ModelError, UsageError

try:
    import onnxruntime
except ImportError as absent:
    raise ModelError(
        "The trained parts need onnxruntime, but it is not installed; run: pip install 'toulmin[embedded]'"
    ) from absent

Floats = NDArray[np.float32]
Feed = Mapping[str, Any]  # the inputs of one row by their names, each an array of shape (1, tokens)
_QUIET = 3  # onnxruntime's level for errors only


class Graph:
    """The network in that file; `threads` rows run at once (None: one a core).

    Raises `UsageError` for fewer than one thread, `ModelError` if onnxruntime cannot load it.
    """

    def __init__(self, path: Path, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise UsageError(f"The threads of a trained part should be at least 1, not {threads}.")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = _QUIET
        options.intra_op_num_threads = 1
        # Weights stored in 8 bits are unpacked once, not for every row.
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its errors have no other common class
            raise ModelError(f"{path} holds no network that onnxruntime can load: {_first_line(error)}") from error
        self._path, self._threads = path, threads or _cores()
        self._pool = ThreadPoolExecutor(self._threads, "toulmin rows")
        self.inputs = tuple(node.name for node in self._session.get_inputs())

    def each(self, feeds: Sequence[Feed]) -> list[Floats]:
        """The output for each row, in order. Raises `ModelError`."""
        run = self._pool.map if min(self._threads, len(feeds)) > 1 else map
        return list(run(self._alone, feeds))

    def _alone(self, feed: Feed) -> Floats:
        try:
            return np.asarray(self._session.run(None, feed)[0][0], np.float32)
        except Exception as error:  # onnxruntime has a dozen error types
            raise ModelError(f"The network {self._path} failed: {_first_line(error)}") from error


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
