"""Changes against a source that the gate does not see: a kind of thing, and two sides.

Rules of this file
* A changed word replaces its antonym or another of its kind, and is nowhere in the premises.
* Two sides of a verb are exchanged only if each stands whole on the other side, in the same voice.
* One sentence that agrees with the claim prevents the objection.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources

from toulmin.judges.absence import has_term
from toulmin.judges.comparison import LEAST_CONTENT, Comparison
from toulmin.judges.coverage import Sentence, Source
from toulmin.judges.gate import common_reason, near_copies
from toulmin.text.language import STOPWORDS, stem


@lru_cache(maxsize=1)
def _kinds() -> dict[str, frozenset[str]]:
    kinds: dict[str, frozenset[str]] = {}
    for name in ("kinds.txt", "antonyms.txt"):
        rows = resources.files("toulmin.text").joinpath(name).read_text("utf-8").splitlines()
        for kind in (frozenset(map(stem, row.split())) for row in rows if not row.startswith("#")):
            kinds |= {word: kinds.get(word, frozenset()) | kind for word in kind}
    return kinds


def changed_kind(claim: Sentence, sources: Sequence[Source]) -> str | None:
    """A thing that replaces another of its kind; None if a similar sentence agrees."""
    if _kinds().keys().isdisjoint(claim.content):
        return None
    copies = [beside for source in sources for beside in near_copies(claim, source.text, source.title.where.keys())]
    return common_reason([(each.share, _change(each, sources)) for each in copies if each.content >= LEAST_CONTENT])


def _change(beside: Comparison, sources: Sequence[Source]) -> str | None:
    claim, source = beside.claim, beside.source
    # "Not far" may be "near".
    for block in beside.blocks if len(claim.denials) == len(source.denials) else ():
        mine = [at for at in range(block.a_start, block.a_end) if claim.keys[at] not in STOPWORDS]
        theirs = [at for at in range(block.b_start, block.b_end) if source.keys[at] not in STOPWORDS]
        if len(mine) == len(theirs) == 1:
            key, other = claim.keys[mine[0]], source.keys[theirs[0]]
            alike = other in _kinds().get(key, ()) and other not in claim.units
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
    """A verb with exchanged sides; None if any sentence agrees with the claim."""
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
    """By its ending and the word before it."""
    before, word = claim.keys[at - 1], claim.shown[at]
    is_plain = at not in claim.facts and word.islower() and claim.keys[at] not in STOPWORDS
    return is_plain and (before in _AUXILIARIES or (before not in STOPWORDS and word.endswith(("ed", "s"))))


def _is_passive(keys: Sequence[str], at: int, after: frozenset[str]) -> bool:
    """Whether "by" leads to the side after the verb, with nobody between them."""
    following = keys[at + 1 : at + _REACH]
    between = following[: next((n for n, key in enumerate(following) if key in after), 0)]
    return "by" in between and STOPWORDS.issuperset(between[len(between) - 1 - between[::-1].index("by") :])


def _ways(keys: Sequence[str], verb: str, left: frozenset[str], right: frozenset[str]) -> Iterator[tuple[bool, bool]]:
    """Whether the sides stand as in the claim, and whether the sentence is passive."""
    for at, key in enumerate(keys):
        before, after = keys[max(0, at - _REACH) : at], keys[at + 1 : at + 1 + _REACH]
        for first, second in ((left, right), (right, left)) if key == verb else ():
            is_near = not first.isdisjoint(before[-_NEAR:]) and not second.isdisjoint(after[:_NEAR])
            if is_near and first.issubset(before) and second.issubset(after):
                yield first is left, _is_passive(keys, at, second)
