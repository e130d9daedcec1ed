"""Length and repetition"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toulmin.metrics.answered import Answered
from toulmin.metrics.cleaning import Read
from toulmin.metrics.columns import Column, Measured

_WORD = re.compile(r"\b\w+\b")


def length(answered: Sequence[Answered], read: Read) -> Measured:
    """Words between white space; 0 for an empty answer."""
    texts = [read(entry) for entry in answered]
    values = tuple(None if text is None else float(len(text.split())) for text in texts)
    return Measured((Column("length", values, scale=1.0),))


def distinct(answered: Sequence[Answered], read: Read) -> Measured:
    """The share of a text's runs of 1, 2, 3 words that are distinct (plan-based retrieval, Godbole et al. 2024).

    In lower case. Texts without a run do not count.
    """
    words = [_WORD.findall((read(entry) or "").lower()) for entry in answered]
    return Measured(tuple(Column(f"distinct_{n}", tuple(_share(each, n) for each in words)) for n in (1, 2, 3)))


def _share(words: Sequence[str], n: int) -> float | None:
    runs = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
    return len(set(runs)) / len(runs) if runs else None
