"""MAUVE of answers against human texts"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence

from toulmin.metrics.answered import Answered
from toulmin.metrics.cleaning import Read
from toulmin.metrics.columns import Column, Measured

MAUVE = "mauve"
_WORDS = 100
_NOTE = (
    "mauve is one number of all answers together, kept at the first question and without an interval; it depends much"
    " on how many there are, so only runs over the same questions compare."
)

Mauve = Callable[[Sequence[str], Sequence[str]], float]
"""The MAUVE of human texts and of a model's, 0 to 1."""


def mauve(answered: Sequence[Answered], read: Read, score: Mauve) -> Measured:
    """One number over questions with a gold text and no failed answer, at the first that counts."""
    texts = [read(entry) for entry in answered]
    counted = [i for i, entry in enumerate(answered) if texts[i] is not None and entry.item.gold.answer is not None]
    values: list[float | None] = [None] * len(answered)
    if counted:
        items = [answered[i].item for i in counted]
        human = [continuation(item.question, item.gold.answer or "") for item in items]
        ours = [continuation(item.question, texts[i] or "") for i, item in zip(counted, items, strict=True)]
        values[counted[0]] = score(human, ours)
    return Measured((Column(MAUVE, tuple(values)),), notes=(_NOTE,))


def continuation(question: str, text: str) -> str:
    """The first 100 words of question and text, without punctuation at the end."""
    return " ".join(f"{question} {text.strip()}".split()[:_WORDS]).rstrip(string.punctuation)
