"""A pair to learn from: passages, a claim, and whether they support it; and the key of its page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from toulmin.text.language import fold

Family = Literal["natural", "inference"]
Label = Literal["supported", "unsupported", "contradicted"]

_BRACKETED = re.compile(r"\s*\([^()]*\)\s*$")
_MARKS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Text:
    """A passage as the judge sees it."""

    title: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Pair:
    """One thing to learn. `split` is dev where any dev record shares the page.

    `wrong` are the characters of the claim that the passages do not back; None where nobody knows which.
    """

    id: str
    source: str
    family: Family
    premise: tuple[Text, ...]
    claim: str
    question: str | None
    label: Label
    page: str
    split: str
    wrong: tuple[tuple[int, int], ...] | None = None


@lru_cache(maxsize=100_000)
def page_key(page: str) -> str:
    """One spelling of a page's title or of a topic: folded case and accents, no article, no "(film)" behind it."""
    bare = _BRACKETED.sub("", page) or page
    return _MARKS.sub(" ", fold(bare)).strip().removeprefix("the ") or page.strip()
