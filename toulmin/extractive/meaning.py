"""What trained parts may tell the embedded writer: how near sentences are in meaning, and which words answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from toulmin.data import Passage
from toulmin.steps import Span


class Nearness(NamedTuple):
    """Cosines of n sentences: `asked` with the question, n of them; `each` with each other, n x n."""

    asked: Sequence[float]
    each: Sequence[Sequence[float]]


class Meaning(Protocol):
    """Whatever compares meanings; equal texts give equal cosines, up to the last digits."""

    def nearness(self, question: str, sentences: Sequence[tuple[str, str]]) -> Nearness:
        """Of sentences, each with the title that it stands under."""
        ...


class SpanReader(Protocol):
    """Whatever finds the words that answer a question, and knows how likely they do."""

    def likeliest(self, question: str, passages: Sequence[Passage]) -> Span | None:
        """The likeliest words, however unlikely; None where there is nothing to read."""
        ...
