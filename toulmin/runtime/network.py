"""The trained parts' networks: ONNX files run by onnxruntime on the CPU, and the rows of tokens they read.

Each row runs alone, one to a core: some networks scale by a batch's largest number, so rows would change each
other, and padding doubles the time (`benchmarks/results/rows.txt`). Control tokens spelled in a text are read as
plain text.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toulmin.errors import ModelError, UsageError, first_line

# From 1.29 on it reports to its maker what it runs, from its import on; what reads people's documents reports nothing.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

try:
    import onnxruntime
except ImportError as absent:
    raise ModelError(
        "The trained parts need onnxruntime, but it is not installed; run: pip install 'toulmin[embedded]'"
    ) from absent

onnxruntime.disable_telemetry_events()  # on Windows the environment does not decide

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
            raise ModelError(f"{path} holds no network that onnxruntime can load: {first_line(error)}") from error
        self._path, self._threads = path, threads or _cores()
        self._pool = ThreadPoolExecutor(self._threads, "toulmin rows")
        self.inputs = tuple(node.name for node in self._session.get_inputs())
        self.outputs = tuple(node.name for node in self._session.get_outputs())

    def each(self, feeds: Sequence[Feed]) -> list[tuple[Floats, ...]]:
        """The outputs for each row, in order. Raises `ModelError`."""
        run = self._pool.map if min(self._threads, len(feeds)) > 1 else map
        return list(run(self._alone, feeds))

    def _alone(self, feed: Feed) -> tuple[Floats, ...]:
        try:
            return tuple(np.asarray(output[0], np.float32) for output in self._session.run(None, feed))
        except Exception as error:  # onnxruntime has a dozen error types
            raise ModelError(f"The network {self._path} failed: {first_line(error)}") from error


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# ---------------------------------------------------------------- texts as rows of tokens


try:
    from tokenizers import Tokenizer
except ImportError as absent:
    raise ModelError(
        "The trained parts need tokenizers and onnxruntime, but tokenizers is not installed;"
        " run: pip install 'toulmin[embedded]'"
    ) from absent

_CONTROLS = 3  # [CLS], [SEP], [SEP]
_COUNTED = 65_536  # texts whose token counts are cached
_FIRST = 64  # first texts: a question or a claim stands before many second ones
_LEAST_ROOM = 16  # tokens of the second text, however long the first is


class Row(NamedTuple):
    """Token ids `[CLS] first [SEP] second [SEP]`; `second` is the second text's start, `spans` its tokens'
    characters.
    """

    ids: list[int]
    second: int
    spans: list[tuple[int, int]]


class Tokens:
    def __init__(self, path: Path, most: int) -> None:
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises plain Exception
            raise ModelError(f"{path} should be a tokenizer of the tokenizers library: {error}") from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True
        self._most = most
        self._cls, self._sep = (self._control(name) for name in ("[CLS]", "[SEP]"))
        self.count = lru_cache(maxsize=_COUNTED)(self._count)
        self._first = lru_cache(maxsize=_FIRST)(self._ids)

    def _control(self, name: str) -> int:
        token_id = self._tokenizer.token_to_id(name)
        if token_id is None:
            raise ModelError(f"The tokenizer of a trained part should know {name}; export the part again.")
        return int(token_id)

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _count(self, text: str) -> int:
        return len(self._ids(text))

    def spans(self, text: str) -> list[tuple[int, int]]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)

    def room(self, first: str) -> int:
        """The tokens left for the second text; at least a few."""
        return max(self._most - _CONTROLS - self.count(first), min(_LEAST_ROOM, self._most - _CONTROLS))

    def alone(self, text: str) -> Row:
        """One text, cut at its end to fit."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        ids = [self._cls, *encoding.ids[: self._most - 2], self._sep]
        return Row(ids, len(ids), [])

    def row(self, first: str, second: str) -> Row:
        """Two texts, both cut at their ends to fit."""
        encoding = self._tokenizer.encode(second, add_special_tokens=False)
        room = self.room(first)
        asked = self._first(first)[: self._most - _CONTROLS - room]
        ids = [self._cls, *asked, self._sep, *encoding.ids[:room], self._sep]
        return Row(ids, len(asked) + 2, encoding.offsets[:room])


# ---------------------------------------------------------------- a network that reads rows


_INPUTS = ("ids", "kinds", "mask")
ANSWERS = "answers"  # a ranker's second output


class Network:
    """The network in an ONNX file; `threads` and errors are as of `Graph`."""

    def __init__(self, path: Path, threads: int | None = None) -> None:
        self._graph = Graph(path, threads)
        if self._graph.inputs != _INPUTS:
            raise ModelError(f"{path} should take {', '.join(_INPUTS)}; name a file that training/export.py wrote.")

    @property
    def says_whether(self) -> bool:
        """Whether it is a ranker, which also says of a row whether it answers."""
        return ANSWERS in self._graph.outputs

    def logits(self, rows: Sequence[Row]) -> list[Floats]:
        """One array a row: of the row, or of each of its tokens."""
        return [outputs[0] for outputs in self.outputs(rows)]

    def outputs(self, rows: Sequence[Row]) -> list[tuple[Floats, ...]]:
        """Every output of each row: of a ranker, the logits of its tokens and that of its answering."""
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
