"""What an encoder is to those who use one: search by meaning, and whoever chooses among sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Titled(Protocol):
    """A text that stands under a title, which may be empty; a `Passage` is one."""

    @property
    def title(self) -> str:
        """What it stands under."""
        ...

    @property
    def text(self) -> str:
        """Its words."""
        ...


class Encoder(Protocol):
    """Turns texts into rows of float32; the inner product of a query's row and a passage's is their score.

    Rows are of length one unless the model was trained otherwise (DPR), so most scores are cosines. Equal texts have
    equal rows up to the last digits, whatever stands beside them. What is longer than the model's window is cut.
    """

    @property
    def name(self) -> str:
        """What people call it; no path."""
        ...

    @property
    def identity(self) -> str:
        """Tells it from every encoder with other vectors: vectors of two identities are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers a row has."""
        ...

    def encode_queries(self, queries: Sequence[str]) -> Vectors:
        """One row a query, in order."""
        ...

    def encode_passages(self, passages: Sequence[Titled]) -> Vectors:
        """One row a passage, in order."""
        ...


def joined(passage: Titled) -> str:
    """A passage as one text, title first, as the papers' retrievers were given it."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text
