"""Nearness in meaning, and spans that answer: optional trained parts of the embedded writer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from toulmin.data import Passage
from toulmin.steps import Span


class Nearness(NamedTuple):
    """Cosines of n sentences: `asked` with the question, shape n; `each` among themselves, n x n."""

    asked: Sequence[float]
    each: Sequence[Sequence[float]]


class Meaning(Protocol):
    """Compares meanings; equal texts give equal cosines up to rounding."""

    def nearness(self, question: str, sentences: Sequence[tuple[str, str]]) -> Nearness:
        """The cosines of sentences, each given as (title, text)."""
        ...


class SpanReader(Protocol):
    """Finds the words that answer a question."""

    def likeliest(self, question: str, passages: Sequence[Passage]) -> Span | None:
        """The likeliest words, however unlikely; None if there is nothing to read."""
        ...
