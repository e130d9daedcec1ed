"""An encoder that needs no model: texts are near that share words."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from toulmin.runtime.encoder import TitledText, Vectors, full_text


class ByWords:
    """Each word adds a direction of its own."""

    def __init__(self, name: str = "by-words", dimension: int = 32) -> None:
        self.name, self.identity, self.dimension = name, f"{name}-{dimension}", dimension
        self.encoded: list[str] = []

    def encode_queries(self, queries: Sequence[str]) -> Vectors:
        return np.stack([self._row(query) for query in queries])

    def encode_passages(self, passages: Sequence[TitledText]) -> Vectors:
        self.encoded += [full_text(passage) for passage in passages]
        return np.stack([self._row(full_text(passage)) for passage in passages])

    def _row(self, text: str) -> Vectors:
        total = np.full(self.dimension, 1e-3, np.float32)
        for word in text.lower().split():
            total += np.random.default_rng(zlib.crc32(word.encode())).normal(size=self.dimension).astype(np.float32)
        return total / np.linalg.norm(total)
