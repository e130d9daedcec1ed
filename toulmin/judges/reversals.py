"""Denials and opposites of a sentence."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from toulmin.judges.comparison import LEAST_CONTENT, NEAR_COPY, Comparison
from toulmin.judges.reading import Sentence
from toulmin.text.language import STOPWORDS
from toulmin.text.oppositions import opposites

_DENYING_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis")


def find_reversal(claim: Sentence, source: Sentence, title: AbstractSet[str]) -> tuple[float, str | None]:
    """The share of the claim's content units in a sentence, in any order, and the reversal, if any."""
    shared = claim.content & source.held
    share = (len(shared) + len((claim.content - shared) & title)) / max(1, len(claim.content))
    if len(shared) < LEAST_CONTENT or share < NEAR_COPY:
        return share, None
    return share, _plainly_denied(claim, source) or _plainly_opposed(claim, source)


def _plainly_denied(claim: Sentence, source: Sentence) -> str | None:
    for at, reach in claim.denials.items():
        if reach and reach[0] in source.held and not source.denials:
            return f"the claim says {claim.shown[at]!r}, the source does not"
    return None


def _plainly_opposed(claim: Sentence, source: Sentence) -> str | None:
    if claim.denials or source.denials:
        return None
    for at, key in enumerate(claim.keys):
        if key not in source.held and key not in STOPWORDS:
            other = next((k for k in source.keys if k in opposites(key) and k not in claim.held | STOPWORDS), None)
            if other is not None:
                return f"the source says {source.shown[source.keys.index(other)]!r}, the claim says {claim.shown[at]!r}"
    return None


def denial_reversal(beside: Comparison) -> str | None:
    claim, source = beside.claim, beside.source
    for block in beside.blocks:
        mine = _negators(claim, block.a_start, block.a_end)
        theirs = _negators(source, block.b_start, block.b_end)
        if mine and not theirs and _reaches(claim, mine, source):
            return f"the claim says {claim.shown[mine[0]]!r}, the source does not"
        if theirs and not mine and _reaches(source, theirs, claim):
            return f"the source says {source.shown[theirs[0]]!r}, the claim does not"
    return None


def _negators(sentence: Sentence, start: int, end: int) -> list[int]:
    return [at for at in sentence.denials if start <= at < end]


def _reaches(denying: Sentence, negators: list[int], other: Sentence) -> bool:
    for at in negators:
        reach = denying.denials[at]
        if not reach or reach[0] in other.keys or (len(reach) > 1 and reach[1] in other.keys):
            return True
    return False


def opposite_word(beside: Comparison) -> str | None:
    claim, source = beside.claim, beside.source
    for block in beside.blocks:
        in_place = block.a_end - block.a_start == block.b_end - block.b_start == 1
        for a in range(block.a_start, block.a_end):
            for b in range(block.b_start, block.b_end):
                mine, theirs = claim.keys[a], source.keys[b]
                if _oppose(mine, theirs) and (in_place or (mine not in source.held and theirs not in claim.held)):
                    return f"the source says {source.shown[b]!r}, the claim says {claim.shown[a]!r}"
    return None


def _oppose(a: str, b: str) -> bool:
    if b in opposites(a):
        return True
    short, long = sorted((a, b), key=len)
    return len(short) >= 4 and any(long == prefix + short for prefix in _DENYING_PREFIXES)
