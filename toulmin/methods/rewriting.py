"""Which sentence a new one rewrites"""

from __future__ import annotations

from collections.abc import Sequence

from toulmin.methods.assessing import content_terms

REWRITTEN = "rewritten by what the passages say"
_NEAR = 0.5  # of the content terms of the shorter sentence


def rewrites(new: str, sentences: Sequence[str]) -> int | None:
    """The index of the sentence that shares most content terms with the new one, the first of equals.

    None if they share less than half of the shorter one's.
    """
    terms = content_terms(new)
    near = [_nearness(terms, content_terms(sentence)) for sentence in sentences]
    best = max(near, default=0.0)
    return near.index(best) if best >= _NEAR else None


def _nearness(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / (min(len(first), len(second)) or 1)
