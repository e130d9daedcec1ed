"""Where a claim nearly copies a sentence: what it changed, in words.

That a number or a name stands somewhere in a source says little about a claim that moves it to another place. So a
claim is laid beside each sentence that shares three quarters of its units, and the differing stretches are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import product

from toulmin.grounding.facts import Fact
from toulmin.grounding.overlap import Block, differences
from toulmin.judges.naming import may_be_same
from toulmin.judges.oppositions import is_negator, opposites
from toulmin.judges.reading import COUNTS, Sentence, implied
from toulmin.language import STOPWORDS

NEAR_COPY = 0.75  # share of a claim's units that must align before the two are compared
LEAST_CONTENT = 2  # telling units that must align: "She is a ..." is like too many sentences
_LONGER = 2  # units by which a source's stretch may exceed the claim's and still be what was replaced
_MOVED = 4  # units of the longest stretch that is seen to change places
_DENYING_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis")
_JOINS_EQUALS = frozenset("and or with nor &".split())


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim's sentence beside one of a source: where they differ, and how much of the claim does not.

    `share` counts the claim's units that stand in the source sentence in order, or in the title, and facts that
    only moved; `content` counts the telling ones among those that the sentence itself holds.
    """

    claim: Sentence
    source: Sentence
    blocks: tuple[Block, ...]
    title: AbstractSet[str]
    share: float
    content: int


def compare(claim: Sentence, source: Sentence, title: AbstractSet[str]) -> Comparison:
    """The claim's sentence laid beside the source's."""
    blocks = differences(claim.keys, source.keys)
    differing = [at for block in blocks for at in range(block.a_start, block.a_end)]
    loose = sum(not _stands_elsewhere(claim, at, source, title) for at in differing)
    lost = {claim.keys[at] for at in differing}
    return Comparison(claim, source, blocks, title, 1 - loose / max(1, len(claim.keys)), len(claim.content - lost))


def _stands_elsewhere(claim: Sentence, at: int, source: Sentence, title: AbstractSet[str]) -> bool:
    """Whether a unit of the claim stands in the title, or is a fact that the source has at another place."""
    known = claim.facts.get(at)
    return claim.keys[at] in title or (known is not None and (claim.keys[at] in source.held or _says(source, known)))


def agree(claim: Fact, source: Fact, title: AbstractSet[str] = frozenset()) -> bool:
    """Whether the source's fact says what the claim's says: a finer date, another form of the name."""
    if claim.kind == "name" or source.kind == "name":
        return claim.kind == source.kind and may_be_same(claim.value, source.value, title)
    return claim.value in implied(source.value)


def conflict(beside: Comparison) -> str | None:
    """What the claim changed against the sentence it nearly copies, in words; None if nothing that matters."""
    if beside.content < LEAST_CONTENT:
        return None
    looks = (_replaced_fact, _denied, _turned_around, _swapped)
    return next((reason for look in looks if (reason := look(beside))), None)


def reversed_share(claim: Sentence, source: Sentence, title: AbstractSet[str]) -> tuple[float, str | None]:
    """The share of the claim's telling units that a sentence holds in any order, and how the claim says the reverse."""
    held = claim.content & source.held
    share = (len(held) + len((claim.content - held) & title)) / max(1, len(claim.content))
    if len(held) < LEAST_CONTENT or share < NEAR_COPY:
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


def _figure(sentence: Sentence, at: int) -> Fact | None:
    """The fact at a place; the words "one" and "first" count as figures here."""
    known = sentence.facts.get(at)
    if known is None and sentence.keys[at] in COUNTS:
        return Fact("number", COUNTS[sentence.keys[at]][1:], 0, 0)
    return known


def _facts_in(sentence: Sentence, start: int, end: int) -> Iterator[tuple[str, Fact]]:
    for at in range(start, end):
        known = _figure(sentence, at)
        if known is not None:
            yield sentence.shown[at], known


def _says(sentence: Sentence, fact: Fact) -> bool:
    return any(agree(fact, known) for _, known in _facts_in(sentence, 0, len(sentence.keys)))


def _replaced_fact(beside: Comparison) -> str | None:
    for block in beside.blocks:
        if block.b_end - block.b_start > block.a_end - block.a_start + _LONGER:
            continue
        there = list(_facts_in(beside.source, block.b_start, block.b_end))
        for shown, fact in _facts_in(beside.claim, block.a_start, block.a_end):
            rival = next((words for words, other in there if _rivals(fact, other) and not _moved(other, beside)), None)
            if rival is not None and not _is_told(fact, there, beside):
                return f"the source says {rival}, the claim says {shown}"
    return None


def _is_told(fact: Fact, there: list[tuple[str, Fact]], beside: Comparison) -> bool:
    """Whether the source tells the claim's fact in the same stretch; or elsewhere, in a sentence otherwise changed."""
    if any(agree(fact, other, beside.title) for _, other in there):
        return True
    return len(beside.blocks) > 1 and _says(beside.source, fact)


def _rivals(a: Fact, b: Fact) -> bool:
    return (a.kind == "name") == (b.kind == "name") and not agree(b, a)


def _moved(fact: Fact, beside: Comparison) -> bool:
    """Whether the claim has the source's fact at another place, where the source has none of it."""
    blocks = beside.blocks
    return any(
        agree(fact, known) for block in blocks for _, known in _facts_in(beside.claim, block.a_start, block.a_end)
    )


def _negators(sentence: Sentence, start: int, end: int) -> list[int]:
    return [at for at in sentence.denials if start <= at < end]


def _content(sentence: Sentence, start: int, end: int) -> list[str]:
    return [key for key in sentence.keys[start:end] if key not in STOPWORDS and not is_negator(key)]


def _denied(beside: Comparison) -> str | None:
    claim, source = beside.claim, beside.source
    for block in beside.blocks:
        mine = _negators(claim, block.a_start, block.a_end)
        theirs = _negators(source, block.b_start, block.b_end)
        if mine and not theirs and _reaches(claim, mine, source):
            return f"the claim says {claim.shown[mine[0]]!r}, the source does not"
        if theirs and not mine and _reaches(source, theirs, claim):
            return f"the source says {source.shown[theirs[0]]!r}, the claim does not"
    return None


def _reaches(denying: Sentence, negators: list[int], other: Sentence) -> bool:
    """Whether what one sentence denies is what the other says."""
    for at in negators:
        reach = denying.denials[at]
        if not reach or reach[0] in other.keys or (len(reach) > 1 and reach[1] in other.keys):
            return True
    return False


def _turned_around(beside: Comparison) -> str | None:
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


def _swapped(beside: Comparison) -> str | None:
    """Two facts that changed places, with up to a few words each, around words that are not symmetric."""
    if not beside.blocks or len(beside.claim.keys) != len(beside.source.keys):
        return None
    start, end = beside.blocks[0].a_start, beside.blocks[-1].a_end
    mine, theirs = beside.claim.keys[start:end], beside.source.keys[start:end]
    for first, second in product(range(1, _MOVED + 1), repeat=2):
        between = theirs[first : len(theirs) - second]
        if mine == theirs[len(theirs) - second :] + between + theirs[:first] and not set(between) <= _JOINS_EQUALS:
            left = _fact_shown(beside.source, start, start + first)
            right = _fact_shown(beside.source, end - second, end)
            return f"the source has {left} and {right} the other way round" if left and right else None
    return None


def _fact_shown(sentence: Sentence, start: int, end: int) -> str | None:
    return next((sentence.shown[at] for at in range(start, end) if at in sentence.facts), None)
