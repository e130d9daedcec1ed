"""What a near copy of a source's sentence changed that the gate does not see: the kind of a thing, the two sides.

Rules of this file
* A word is changed only in place, for another of its kind (`kinds.txt`), and is nowhere in the premises.
* Sides are exchanged round a verb only where each is whole on the other side, both in the same voice.
* One sentence that says it as the claim does is enough for no objection.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources

from toulmin.judges.comparison import LEAST_CONTENT, NEAR_COPY, Comparison, compare
from toulmin.judges.coverage import Sentence, Source
from toulmin.judges.gate import LONGEST, SIMILAR
from toulmin.judges.missing import has_term
from toulmin.text.language import STOPWORDS, stem


@lru_cache(maxsize=1)
def _kinds() -> tuple[frozenset[str], ...]:
    rows = resources.files("toulmin.text").joinpath("kinds.txt").read_text("utf-8").splitlines()
    return tuple(frozenset(map(stem, row.split())) for row in rows)


def changed_kind(claim: Sentence, sources: Sequence[Source]) -> str | None:
    """Another thing of the same kind in place of the source's, in words; None if a sentence like it agrees."""
    near = [(beside, _change(beside, sources)) for beside in _copied(claim, sources)]
    top = max((beside.share for beside, _ in near), default=0.0)
    reasons = [reason for beside, reason in near if beside.share >= top - SIMILAR]
    return None if None in reasons else next(iter(reasons), None)


def _copied(claim: Sentence, sources: Sequence[Source]) -> Iterator[Comparison]:
    if not any(key in kind for kind in _kinds() for key in claim.content):
        return
    for source in sources:
        title = source.title.where.keys()
        loose = claim.units - title
        for sentence in source.text.sentences:
            is_short = max(len(claim.keys), len(sentence.keys)) <= LONGEST
            if is_short and len(loose & sentence.units) >= (NEAR_COPY - 0.2) * len(loose):
                beside = compare(claim, sentence, title)
                if beside.share >= NEAR_COPY and beside.content >= LEAST_CONTENT:
                    yield beside


def _change(beside: Comparison, sources: Sequence[Source]) -> str | None:
    claim, source = beside.claim, beside.source
    for block in beside.blocks:
        mine = [at for at in range(block.a_start, block.a_end) if claim.keys[at] not in STOPWORDS]
        theirs = [at for at in range(block.b_start, block.b_end) if source.keys[at] not in STOPWORDS]
        if len(mine) == len(theirs) == 1:
            key, other = claim.keys[mine[0]], source.keys[theirs[0]]
            alike = any(key in kind and other in kind for kind in _kinds()) and other not in claim.units
            if alike and not has_term(key, [reading for premise in sources for reading in premise]):
                return f"the source says {source.shown[theirs[0]]!r}, the claim says {claim.shown[mine[0]]!r}"
    return None


# ---------------------------------------------------------------- two sides of a verb

_REACH = 12  # units from the verb to the last word of a side
_NEAR = 5  # to its first word
_AUXILIARIES = frozenset(
    map(stem, "is are was were be been being has have had will would can could did do does".split())
)


def exchanged_sides(claim: Sentence, sources: Sequence[Source]) -> str | None:
    """A verb whose two sides the source has the other way round; None if any sentence has them the claim's way."""
    alike = [sentence for source in sources for sentence in source.text.sentences if claim.content <= sentence.units]
    for at in range(1, len(claim.keys) if alike and not claim.denials else 0):
        left, right = _content(claim.keys[:at]), _content(claim.keys[at + 1 :])
        if left and right and left.isdisjoint(right) and _is_verb(claim, at):
            voice = _is_passive(claim.keys, at, right)
            ways = {way for sentence in alike for way in _ways(sentence.keys, claim.keys[at], left, right)}
            if ways and all(straight != (passive == voice) for straight, passive in ways):
                return f"the source has the two sides of {claim.shown[at]!r} the other way round"
    return None


def _content(keys: Sequence[str]) -> frozenset[str]:
    return frozenset(key for key in keys if key not in STOPWORDS)


def _is_verb(claim: Sentence, at: int) -> bool:
    """Whether the word may be a verb by its ending and by what stands before it."""
    before, word = claim.keys[at - 1], claim.shown[at]
    is_plain = at not in claim.facts and word.islower() and claim.keys[at] not in STOPWORDS
    return is_plain and (before in _AUXILIARIES or (before not in STOPWORDS and word.endswith(("ed", "s"))))


def _is_passive(keys: Sequence[str], at: int, after: frozenset[str]) -> bool:
    """Whether "by" leads to the side after the verb; it does not where somebody else is between."""
    following = keys[at + 1 : at + _REACH]
    between = following[: next((n for n, key in enumerate(following) if key in after), 0)]
    return "by" in between and STOPWORDS.issuperset(between[len(between) - 1 - between[::-1].index("by") :])


def _ways(keys: Sequence[str], verb: str, left: frozenset[str], right: frozenset[str]) -> Iterator[tuple[bool, bool]]:
    """Whether the sides stand round the verb as in the claim, and whether in the passive."""
    for at, key in enumerate(keys):
        before, after = keys[max(0, at - _REACH) : at], keys[at + 1 : at + 1 + _REACH]
        for first, second in ((left, right), (right, left)) if key == verb else ():
            is_near = not first.isdisjoint(before[-_NEAR:]) and not second.isdisjoint(after[:_NEAR])
            if is_near and first.issubset(before) and second.issubset(after):
                yield first is left, _is_passive(keys, at, second)
