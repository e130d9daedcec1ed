"""The networks of the trained parts, run by onnxruntime on the CPU, and the rows of tokens that they read.

Each row runs alone, one a core: in a batch, rows would change each other's numbers, and padding doubles the time
(`benchmarks/results/rows.txt`). Control tokens in a text are read as plain text.
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

from toulmin.errors import ModelError, UsageError, first_line, missing_libraries

# From 1.29 on, onnxruntime sends usage reports from its import on; Toulmin, which reads people's documents, sends none.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

try:
    import onnxruntime
    from tokenizers import Tokenizer
except ImportError as absent:
    raise missing_libraries("A trained part", absent, "embedded", "onnxruntime and tokenizers") from absent

onnxruntime.disable_telemetry_events()  # on Windows the environment does not decide

Floats = NDArray[np.float32]
Feed = Mapping[str, Any]  # the inputs of one row by their names, each an array of shape (1, tokens)
_QUIET = 3  # onnxruntime's level for errors only


class Graph:
    """Runs `threads` rows at once (None: one a core).

    Raises `UsageError` for fewer than one thread, `ModelError` if onnxruntime cannot load the file.
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
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._path, self._threads = path, threads or cores
        self._pool = ThreadPoolExecutor(self._threads, "toulmin rows")
        self.inputs = tuple(node.name for node in self._session.get_inputs())
        self.outputs = tuple(node.name for node in self._session.get_outputs())

    def each(self, feeds: Sequence[Feed]) -> list[tuple[Floats, ...]]:
        """The outputs for each row. Raises `ModelError`."""
        run = self._pool.map if min(self._threads, len(feeds)) > 1 else map
        return list(run(self._alone, feeds))

    def _alone(self, feed: Feed) -> tuple[Floats, ...]:
        try:
            return tuple(np.asarray(output[0], np.float32) for output in self._session.run(None, feed))
        except Exception as error:  # onnxruntime has a dozen error types
            raise ModelError(f"The network {self._path} failed: {first_line(error)}") from error


# ---------------------------------------------------------------- texts as rows of tokens


_CONTROLS = 3  # [CLS], [SEP], [SEP]
_COUNTED = 65_536  # texts whose token counts are cached
_FIRST = 64  # first texts: a question or a claim stands before many second ones
_LEAST_ROOM = 16  # tokens of the second text, however long the first is


class Row(NamedTuple):
    """Token ids `[CLS] first [SEP] second [SEP]`; `second` is the start of the second text, `spans` are the characters
    of its tokens.
    """

    ids: list[int]
    second: int
    spans: list[tuple[int, int]]


def load_tokenizer(path: Path) -> Tokenizer:
    """Without padding and truncation. Raises `ModelError`."""
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise ModelError(f"{path} should be a tokenizer of the tokenizers library: {first_line(error)}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


class Tokens:
    def __init__(self, path: Path, most: int) -> None:
        self._tokenizer = load_tokenizer(path)
        self._tokenizer.encode_special_tokens = True
        self._most = most
        # MPNet's tokenizer has BERT's control tokens too, as words that nothing taught.
        is_mpnet = self._tokenizer.token_to_id("<s>") is not None
        self._cls, self._sep = map(self._control, ("<s>", "</s>") if is_mpnet else ("[CLS]", "[SEP]"))
        self.count = lru_cache(maxsize=_COUNTED)(self._count)
        self._first = lru_cache(maxsize=_FIRST)(self._ids)

    def _control(self, name: str) -> int:
        token_id = self._tokenizer.token_to_id(name)
        if token_id is None:
            raise ModelError(f"The tokenizer of a trained part should contain {name}; export the part again.")
        return int(token_id)

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _count(self, text: str) -> int:
        return len(self._ids(text))

    def room(self, first: str) -> int:
        return max(self._most - _CONTROLS - self.count(first), min(_LEAST_ROOM, self._most - _CONTROLS))

    def alone(self, text: str) -> Row:
        """One text, cut to fit."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        ids = [self._cls, *encoding.ids[: self._most - 2], self._sep]
        return Row(ids, len(ids), [])

    def row(self, first: str, second: str) -> Row:
        """Two texts, both cut to fit."""
        encoding = self._tokenizer.encode(second, add_special_tokens=False)
        room = self.room(first)
        asked = self._first(first)[: self._most - _CONTROLS - room]
        ids = [self._cls, *asked, self._sep, *encoding.ids[:room], self._sep]
        return Row(ids, len(asked) + 2, encoding.offsets[:room])


# ---------------------------------------------------------------- a network that reads rows


_INPUTS = ("ids", "kinds", "mask")
ANSWERS = "answers"  # a ranker's second output


class Network:
    """`threads` and errors are as in `Graph`."""

    def __init__(self, path: Path, threads: int | None = None) -> None:
        self._graph = Graph(path, threads)
        if self._graph.inputs != _INPUTS:
            raise ModelError(f"{path} should take {', '.join(_INPUTS)}; name a file that training/export.py wrote.")

    @property
    def ranks(self) -> bool:
        """Whether a second output scores whether a row answers."""
        return ANSWERS in self._graph.outputs

    def logits(self, rows: Sequence[Row]) -> list[Floats]:
        """One array a row, for the row or for each of its tokens."""
        return [outputs[0] for outputs in self.outputs(rows)]

    def place(self, output: str) -> int | None:
        """Of an output among a row's; None without it."""
        names = self._graph.outputs
        return names.index(output) if output in names else None

    def outputs(self, rows: Sequence[Row]) -> list[tuple[Floats, ...]]:
        return self._graph.each([pad_rows([row]) for row in rows])


def pad_rows(rows: Sequence[Row]) -> Feed:
    """The inputs `ids`, `kinds` (1 in the second text) and `mask` (0 in padding)."""
    width = max(len(row.ids) for row in rows)
    ids, kinds, mask = (np.zeros((len(rows), width), np.int64) for _ in _INPUTS)
    for n, row in enumerate(rows):
        size = len(row.ids)
        ids[n, :size] = row.ids
        kinds[n, row.second : size] = 1
        mask[n, :size] = 1
    return {"ids": ids, "kinds": kinds, "mask": mask}
