"""Our own encoder, run by onnxruntime: an installed part, or a folder that `training/encoder.py` made.

The graph takes `input_ids` and `attention_mask` and gives finished rows (pooled, of length one). Weights may be
stored in 8 bits; arithmetic is float32.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Encoding, Tokenizer

from toulmin.errors import ModelError, first_line
from toulmin.runtime.encoder import TitledText, Vectors, full_text
from toulmin.runtime.network import Feed, Graph
from toulmin.runtime.shipped import Part, part

KIND = "encoder"
FILES = ("model.onnx", "settings.json", "tokenizer.json")


@dataclass(frozen=True, slots=True)
class Card:
    dimension: int
    window: int
    query_prefix: str
    passage_prefix: str


class OnnxEncoder:
    """The encoder in a folder, or without one the installed encoder."""

    def __init__(self, folder: str | os.PathLike[str] | None = None, *, threads: int | None = None) -> None:
        """Checks each file's hash; `threads` texts run at once (None: one a core).

        Raises `ModelError` for a folder without an encoder or with changed files, `UsageError` for fewer than one
        thread.
        """
        weights = _part(folder)
        self._card = _read_card(weights)
        self._tokenizer = _tokenizer(weights.file("tokenizer.json"), self._card.window)
        self._graph = Graph(weights.file("model.onnx"), threads)
        self.name = weights.name
        hashes = [weights.manifest["files"][name] for name in FILES]
        self.identity = hashlib.sha256(json.dumps(hashes).encode()).hexdigest()

    @property
    def dimension(self) -> int:
        return self._card.dimension

    def encode_queries(self, queries: Sequence[str]) -> Vectors:
        return self._encode([self._card.query_prefix + query for query in queries])

    def encode_passages(self, passages: Sequence[TitledText]) -> Vectors:
        return self._encode([self._card.passage_prefix + full_text(passage) for passage in passages])

    def _encode(self, texts: Sequence[str]) -> Vectors:
        # The tokenizer takes UTF-8, which cannot encode a lone surrogate.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        feeds = [_feed(read) for read in self._tokenizer.encode_batch_fast(clean)] if clean else []
        rows = [outputs[0] for outputs in self._graph.each(feeds)]
        if any(row.shape != (self.dimension,) for row in rows):
            raise ModelError(
                f"The encoder {self.name} gave {rows[0].shape}, but its card says {self.dimension} numbers a row."
            )
        return np.array(rows, np.float32).reshape(len(rows), self.dimension)


def _feed(read: Encoding) -> Feed:
    ids = np.array([read.ids], np.int64)
    return {"input_ids": ids, "attention_mask": np.ones_like(ids)}


def _part(folder: str | os.PathLike[str] | None) -> Part:
    try:
        return part(KIND, folder)
    except ModelError as error:
        raise ModelError(f"{error} Third-party models are named transformer:FOLDER.") from error


def _read_card(weights: Part) -> Card:
    path = weights.file("settings.json")
    try:
        values = json.loads(path.read_text("utf-8"))
        return Card(
            dimension=int(values["dimension"]),
            window=int(values["window"]),
            query_prefix=str(values["query_prefix"]),
            passage_prefix=str(values["passage_prefix"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path} should describe an encoder, but: {error!r}; export it again.") from error


def _tokenizer(path: Path, window: int) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain exceptions
        raise ModelError(f"{path} holds no tokenizer: {first_line(error)}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(window)
    return tokenizer
