"""The encoder that this project makes, run by onnxruntime: one of the trained parts, or a folder that holds one.

Its `settings.json` has the numbers of a row, the tokens of a window, and what stands before a query and a passage. The
graph takes `input_ids` and `attention_mask` and gives the finished rows (pooled, of length one). Its weights may be
stored in 8 bits; they are unpacked when it is loaded and the arithmetic is that of float32. `training/encoder.py` makes
such a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Encoding, Tokenizer

from toulmin.encoders.encoder import Titled, Vectors, in_batches, joined
from toulmin.errors import ModelError, UsageError
from toulmin.shipped import Part, part

KIND = "encoder"
FILES = ("model.onnx", "settings.json", "tokenizer.json")
_BATCH_TOKENS = 4096
_QUIET = 3  # onnxruntime's word for errors only


@dataclass(frozen=True, slots=True)
class Card:
    """What the folder says of its encoder."""

    dimension: int
    window: int
    query_prefix: str
    passage_prefix: str


class OnnxEncoder:
    """An encoder in a folder of ours, or without one that of the installed weights."""

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        threads: int | None = None,
        batch_tokens: int = _BATCH_TOKENS,
    ) -> None:
        """Loads it, every file checked by its hash; without `threads` it takes every core.

        Raises `ModelError` for a folder that holds no such encoder, or another than its manifest says.
        """
        if batch_tokens < 1 or (threads is not None and threads < 1):
            raise UsageError(f"An encoder's threads and batch_tokens count from 1, not {threads} and {batch_tokens}.")
        held = _part(folder)
        self._card = _read_card(held)
        self._batch_tokens = batch_tokens
        self._tokenizer, self._pad = _tokenizer(held.file("tokenizer.json"), self._card.window)
        self._session = _session(held.file("model.onnx"), threads)
        self.name = held.name
        told = [held.manifest["files"][name] for name in FILES]
        self.identity = hashlib.sha256(json.dumps(told).encode()).hexdigest()

    @property
    def dimension(self) -> int:
        """How many numbers a row has."""
        return self._card.dimension

    def encode_queries(self, queries: Sequence[str]) -> Vectors:
        """One row a query, in order."""
        return self._encode([self._card.query_prefix + query for query in queries])

    def encode_passages(self, passages: Sequence[Titled]) -> Vectors:
        """One row a passage, in order."""
        return self._encode([self._card.passage_prefix + joined(passage) for passage in passages])

    def _encode(self, texts: Sequence[str]) -> Vectors:
        # A lone surrogate has no UTF-8, which the tokenizer is handed.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        read = self._tokenizer.encode_batch_fast(clean) if clean else []

        def rows_at(batch: list[int]) -> Vectors:
            return self._rows([read[at] for at in batch])

        lengths = [len(one.ids) for one in read]
        return in_batches(
            lengths, self.dimension, self._batch_tokens, lambda batch: self._rows([read[at] for at in batch])
        )

    def _rows(self, read: Sequence[Encoding]) -> Vectors:
        longest = max(len(one.ids) for one in read)
        ids = np.full((len(read), longest), self._pad, np.int64)
        mask = np.zeros((len(read), longest), np.int64)
        for row, one in enumerate(read):
            ids[row, : len(one.ids)] = one.ids
            mask[row, : len(one.ids)] = 1
        try:
            (rows,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
        except Exception as error:  # onnxruntime has a dozen types of its own
            raise ModelError(f"The encoder {self.name} failed: {_first_line(error)}") from error
        if rows.shape != (len(read), self.dimension):
            raise ModelError(
                f"The encoder {self.name} gave {rows.shape}, but its card says {self.dimension} numbers a row."
            )
        return np.asarray(rows, np.float32)


def _part(folder: str | os.PathLike[str] | None) -> Part:
    try:
        return part(KIND, folder)
    except ModelError as error:
        raise ModelError(f"{error} Other people's models are named transformer:FOLDER.") from error


def _read_card(held: Part) -> Card:
    path = held.file("settings.json")
    try:
        told = json.loads(path.read_text("utf-8"))
        return Card(
            dimension=int(told["dimension"]),
            window=int(told["window"]),
            query_prefix=str(told["query_prefix"]),
            passage_prefix=str(told["passage_prefix"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path} should tell of an encoder, but: {error!r}; export it anew.") from error


def _tokenizer(path: Path, window: int) -> tuple[Tokenizer, int]:
    """The tokenizer, cutting at the window, and the id that fills rows up."""
    try:
        made = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain exceptions
        raise ModelError(f"{path} holds no tokenizer: {_first_line(error)}") from error
    pad = made.padding["pad_id"] if made.padding else 0
    made.no_padding()
    made.enable_truncation(window)
    return made, int(pad)


def _session(path: Path, threads: int | None) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _QUIET
    if threads is not None:
        options.intra_op_num_threads = threads
    # A thread that waits sleeps: others may have use for the core.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Unpacks weights of 8 bits once, at loading; otherwise they are unpacked again for every batch.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a dozen types of its own
        raise ModelError(f"{path} cannot be loaded: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
