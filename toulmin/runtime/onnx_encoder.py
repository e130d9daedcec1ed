"""Our own encoder, run by onnxruntime: an installed part, or a folder made by `training/encoder.py`.

The graph takes `input_ids` and `attention_mask` and returns pooled rows of length one. Weights may be stored in 8 bits;
arithmetic is float32.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from toulmin.errors import ModelError
from toulmin.runtime.encoder import TitledText, Vectors, full_text
from toulmin.runtime.network import Graph, load_tokenizer
from toulmin.runtime.shipped import Part, part

KIND = "encoder"
FILES = ("model.onnx", "settings.json", "tokenizer.json")


class Card(NamedTuple):
    dimension: int
    window: int
    query_prefix: str
    passage_prefix: str


class OnnxEncoder:
    def __init__(self, folder: str | os.PathLike[str] | None = None, *, threads: int | None = None) -> None:
        """By default the installed encoder; `threads` texts run at once (None: one a core).

        Raises `ModelError` for no encoder or changed files, `UsageError` for fewer than one thread.
        """
        try:
            weights = part(KIND, folder)
        except ModelError as error:
            raise ModelError(f"{error} Third-party models are named transformer:FOLDER.") from error
        self._card = _read_card(weights)
        self._tokenizer = load_tokenizer(weights.file("tokenizer.json"))
        self._tokenizer.enable_truncation(self._card.window)
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
        encodings = self._tokenizer.encode_batch_fast(clean) if clean else []
        ids = [np.array([encoding.ids], np.int64) for encoding in encodings]
        feeds = [{"input_ids": row, "attention_mask": np.ones_like(row)} for row in ids]
        rows = [outputs[0] for outputs in self._graph.each(feeds)]
        if any(row.shape != (self.dimension,) for row in rows):
            raise ModelError(
                f"The encoder {self.name} gave {rows[0].shape}, but its card says {self.dimension}; export it again."
            )
        return np.array(rows, np.float32).reshape(len(rows), self.dimension)


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
        raise ModelError(f"{path} should describe an encoder: {error!r}; export it again.") from error
