"""The pages that no training touches: probes are made from them, so whatever is trained must leave them out.

The rule stands here alone. A page is known by its title, in whatever set it turns up; where a set gives no titles, its
text is told by `has_held_out_text`.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import cache

from data import rows

SHARE = 15  # of a hundred pages
_SALT = "probes"  # so that no other cut by a hash of the title is the same one
_OPENING = 60  # characters after which two texts of the pages at hand no longer begin alike


def page(title: str) -> str:
    """The title in one spelling: composed, folded in case, with single spaces; underscores are spaces."""
    spaced = unicodedata.normalize("NFC", title).replace("_", " ")
    return " ".join(spaced.casefold().split())


def is_held_out(title: str) -> bool:
    """Whether the page of that title is kept for probes; an empty title names no page."""
    name = page(title)
    digest = hashlib.sha256(f"{_SALT}:{name}".encode()).digest()
    return bool(name) and int.from_bytes(digest[:4], "big") % 100 < SHARE


def opening(text: str) -> str:
    """How a text begins, without the differences that the sets have in marks and spaces."""
    return re.sub(r"\W+", "", text.casefold())[:_OPENING]


@cache
def _openings() -> frozenset[str]:
    return frozenset(opening(row["text"]) for row in rows("pool_corpus") if is_held_out(row["title"]))


def has_held_out_text(text: str) -> bool:
    """Whether a passage begins as one of a held-out page of `pool_corpus` does, under whatever title or none."""
    return opening(text) in _openings()
