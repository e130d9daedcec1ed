"""The protocol of text encoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class TitledText(Protocol):
    """A text with a title, which may be empty; a `Passage` is one."""

    @property
    def title(self) -> str:
        """The title, or ""."""

    @property
    def text(self) -> str:
        """The text under the title."""


class Encoder(Protocol):
    """Turns texts into rows of float32; a score is the inner product of a query's and a passage's row.

    Rows have length one except in models trained otherwise (DPR). Equal texts have equal rows up to the last
    digits, in any batch. Text beyond the window is cut.
    """

    @property
    def name(self) -> str:
        """The name shown to people; no path."""

    @property
    def identity(self) -> str:
        """Unique to its vectors: vectors of two identities are never compared."""

    @property
    def dimension(self) -> int:
        """How many numbers a row has."""

    def encode_queries(self, queries: Sequence[str]) -> Vectors:
        """One row a query, in order."""

    def encode_passages(self, passages: Sequence[TitledText]) -> Vectors:
        """One row a passage, in order."""


def full_text(passage: TitledText) -> str:
    """Title first, as the papers' retrievers read passages."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text
