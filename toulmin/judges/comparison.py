"""A claim's sentence laid beside one of a source, unit by unit."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from toulmin.judges.naming import may_be_same
from toulmin.judges.reading import COUNTS, Sentence, implied
from toulmin.text.facts import Fact
from toulmin.text.overlap import Block, differences

NEAR_COPY = 0.75  # share of a claim's units that must align before the two are compared
LEAST_CONTENT = 2  # telling units that must align: "She is a ..." is like too many sentences


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
    return claim.keys[at] in title or (known is not None and (claim.keys[at] in source.held or says(source, known)))


def agree(claim: Fact, source: Fact, title: AbstractSet[str] = frozenset()) -> bool:
    """Whether the source's fact says what the claim's says: a finer date, another form of the name."""
    if claim.kind == "name" or source.kind == "name":
        return claim.kind == source.kind and may_be_same(claim.value, source.value, title)
    return claim.value in implied(source.value)


def figure_at(sentence: Sentence, at: int) -> Fact | None:
    """The fact at a place; the words "one" and "first" count as figures here."""
    known = sentence.facts.get(at)
    if known is None and sentence.keys[at] in COUNTS:
        return Fact("number", COUNTS[sentence.keys[at]][1:], 0, 0)
    return known


def facts_in(sentence: Sentence, start: int, end: int) -> Iterator[tuple[str, Fact]]:
    """The facts in a stretch of units, each with its words."""
    for at in range(start, end):
        known = figure_at(sentence, at)
        if known is not None:
            yield sentence.shown[at], known


def says(sentence: Sentence, fact: Fact) -> bool:
    """Whether a sentence holds the fact in some form."""
    return any(agree(fact, known) for _, known in facts_in(sentence, 0, len(sentence.keys)))
