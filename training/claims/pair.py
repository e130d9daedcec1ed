"""A pair to learn from: passages, a claim, and whether they support it; and the fold that its page falls into."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from toulmin.text.language import fold

Family = Literal["natural", "inference"]
Label = Literal["supported", "unsupported", "contradicted"]

APART = "apart"  # the split of natural pairs that nothing may be learnt from
_BRACKETED = re.compile(r"\s*\([^()]*\)\s*$")
_APART = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Text:
    """A passage as the judge sees it."""

    title: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Pair:
    """One thing to learn. `page` is the key of `folds`; `split` is dev where any dev record shares the page.

    `wrong` are the characters of the claim that the passages do not back; None where nobody knows which.
    """

    id: str
    source: str
    family: Family
    edit: str | None
    premise: tuple[Text, ...]
    claim: str
    question: str | None
    label: Label
    page: str
    split: str
    licence: str
    wrong: tuple[tuple[int, int], ...] | None = None

    def line(self) -> str:
        """The pair as one line of JSON, without the line's end."""
        return json.dumps(self._plain(), ensure_ascii=False)

    def _plain(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self.__slots__}
        return plain | {"premise": [{"title": text.title, "text": text.text} for text in self.premise]}


@lru_cache(maxsize=100_000)
def page_key(page: str) -> str:
    """One spelling of a page's title or of a topic: folded case and accents, no article, no "(film)" behind it."""
    bare = _BRACKETED.sub("", page) or page
    return _APART.sub(" ", fold(bare)).strip().removeprefix("the ") or page.strip()


def folds(page: str, k: int) -> int:
    """The fold, 0 to k-1, of a page: the same in every source, on every machine, whatever the order of records."""
    digest = hashlib.blake2b(page_key(page).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % k
