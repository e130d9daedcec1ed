"""The protocol of text encoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class TitledText(Protocol):
    """A `Passage`, or another text with a title."""

    @property
    def title(self) -> str:
        """May be empty."""

    @property
    def text(self) -> str:
        """Without the title."""


class Encoder(Protocol):
    """Turns texts into rows of float32; a score is the inner product of a query's and a passage's row.

    Rows have length one, except those of some folders (DPR's). Equal texts have almost equal rows in any batch. Text
    beyond the window is cut.
    """

    @property
    def name(self) -> str:
        """For people; no path."""

    @property
    def identity(self) -> str:
        """Vectors of two identities are never compared."""

    @property
    def dimension(self) -> int:
        """The length of a row."""

    def encode_queries(self, queries: Sequence[str]) -> Vectors:
        """One row a query."""

    def encode_passages(self, passages: Sequence[TitledText]) -> Vectors:
        """One row a passage."""


def full_text(passage: TitledText) -> str:
    """Title first, as in the papers."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text
