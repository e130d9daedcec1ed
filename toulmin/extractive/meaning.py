"""What an encoder tells the embedded writer: how near sentences are to a question, and to each other, in meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Nearness(NamedTuple):
    """Cosines of n sentences: `asked` with the question, n of them; `each` with each other, n x n."""

    asked: Sequence[float]
    each: Sequence[Sequence[float]]


class Meaning(Protocol):
    """Whatever compares meanings; equal texts give equal cosines, up to the last digits."""

    def nearness(self, question: str, sentences: Sequence[tuple[str, str]]) -> Nearness:
        """Of sentences, each with the title that it stands under."""
        ...
