"""A claim's sentence aligned with a source's, and facts or names that may be the same."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from toulmin.judges.naming import may_be_same
from toulmin.judges.reading import COUNTS, Sentence, implications
from toulmin.text.facts import Fact
from toulmin.text.overlap import Block, differences

NEAR_COPY = 0.75  # the least share of a claim's units that must align for a comparison
LEAST_CONTENT = 2  # content units that must align: "She is a ..." resembles too many sentences


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim's sentence aligned with a source's.

    `share` counts the claim's units in order or in the title, and moved facts; `content` the content units that the
    sentence itself has.
    """

    claim: Sentence
    source: Sentence
    blocks: tuple[Block, ...]
    title: AbstractSet[str]
    share: float
    content: int


def compare(claim: Sentence, source: Sentence, title: AbstractSet[str]) -> Comparison:
    blocks = differences(claim.keys, source.keys)
    differing = [at for block in blocks for at in range(block.a_start, block.a_end)]
    loose = sum(not _stands_elsewhere(claim, at, source, title) for at in differing)
    lost = {claim.keys[at] for at in differing}
    return Comparison(claim, source, blocks, title, 1 - loose / max(1, len(claim.keys)), len(claim.content - lost))


def _stands_elsewhere(claim: Sentence, at: int, source: Sentence, title: AbstractSet[str]) -> bool:
    known = claim.facts.get(at)
    return claim.keys[at] in title or (known is not None and (claim.keys[at] in source.held or says(source, known)))


def agree(claim: Fact, source: Fact, title: AbstractSet[str] = frozenset()) -> bool:
    """Whether the source's fact implies the claim's: a finer date, another form of the name."""
    if claim.kind == "name" or source.kind == "name":
        return claim.kind == source.kind and may_be_same(claim.value, source.value, title)
    return claim.value in implications(source.value)


def figure_at(sentence: Sentence, at: int) -> Fact | None:
    """The fact at a unit or None; "one" and "first" count."""
    known = sentence.facts.get(at)
    if known is None and sentence.keys[at] in COUNTS:
        return Fact("number", COUNTS[sentence.keys[at]][1:], 0, 0)
    return known


def facts_in(sentence: Sentence, start: int, end: int) -> Iterator[tuple[str, Fact]]:
    for at in range(start, end):
        known = figure_at(sentence, at)
        if known is not None:
            yield sentence.shown[at], known


def says(sentence: Sentence, fact: Fact) -> bool:
    return any(agree(fact, known) for _, known in facts_in(sentence, 0, len(sentence.keys)))
