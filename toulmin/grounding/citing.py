"""Between text with marks and claims with citations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toulmin.data import Claim, Passage, Style


@dataclass(frozen=True, slots=True)
class Draft:
    """The claims that a reply holds; `invalid` counts the labels that nobody offered. No claims: an abstention."""

    claims: tuple[Claim, ...] = ()
    invalid: int = 0


@dataclass(frozen=True, slots=True)
class Labels:
    """Cited passages by id, in the order named, each once; `invalid` counts labels that nobody offered."""

    ids: tuple[str, ...] = ()
    invalid: int = 0


def without_marks(text: str) -> str: ...
def read_labels(text: str, offered: Sequence[Passage]) -> Labels: ...
def read_draft(text: str, offered: Sequence[Passage], style: Style) -> Draft: ...
def list_items(text: str) -> tuple[str, ...]: ...
