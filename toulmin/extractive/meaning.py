"""Nearness in meaning: an optional trained part of the embedded writer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from toulmin.runtime.encoder import Encoder, Vectors


class Nearness(NamedTuple):
    """Cosines of n sentences: `to_question` has shape n; `each`, among themselves, n x n."""

    to_question: Sequence[float]
    each: Sequence[Sequence[float]]


class Meaning(Protocol):
    """Compares meanings; equal texts give equal cosines up to rounding."""

    def nearness(self, question: str, sentences: Sequence[tuple[str, str]]) -> Nearness:
        """The cosines of sentences, each given as (title, text)."""


KEPT = 8_192  # rows; 12 MB of 384 numbers


class _Text(NamedTuple):
    title: str
    text: str


class EncoderMeaning:
    """Compares by an encoder, made for the first question. Not thread-safe.

    Caches the latest `kept` sentence rows, since passages are asked about repeatedly.
    """

    def __init__(self, make: Callable[[], Encoder], kept: int = KEPT) -> None:
        self._make, self._most = make, kept
        self._rows: dict[tuple[str, str], Vectors] = {}

    @cached_property
    def _encoder(self) -> Encoder:
        return self._make()

    def nearness(self, question: str, sentences: Sequence[tuple[str, str]]) -> Nearness:
        if not sentences:
            return Nearness((), ())
        query = _unit(self._encoder.encode_queries([question]))[0]
        rows = self._of(sentences)
        return Nearness((rows @ query).tolist(), (rows @ rows.T).tolist())

    def _of(self, sentences: Sequence[tuple[str, str]]) -> Vectors:
        new = [text for text in dict.fromkeys(sentences) if text not in self._rows]
        if new:
            rows = _unit(self._encoder.encode_passages([_Text(*text) for text in new]))
            self._rows.update(zip(new, rows, strict=True))
        matrix = np.stack([self._rows[text] for text in sentences])
        for text in list(self._rows)[: max(0, len(self._rows) - self._most)]:
            del self._rows[text]
        return matrix


def _unit(rows: Vectors) -> Vectors:
    """DPR's encoders return rows of any length."""
    units: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return units
