"""Aligns sentences of a claim and a source, and compares their facts and names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache

from toulmin.judges.coverage import COUNTS, Sentence, implications
from toulmin.text.language import STOPWORDS, stem
from toulmin.text.names import Fact
from toulmin.text.overlap import Block, differences

# Peoples whose names do not begin like their countries', and short forms that are not initials. Two words joined by
# `_` are a pair of neighbouring terms.
_SAME = """
france french frenchman | china chinese | netherlands dutch holland | spain spanish spaniard | germany german
britain british uk united_kingdom | england english | wales welsh | ireland irish | scotland scottish scots
denmark danish | sweden swedish | poland polish | turkey turkish | greece greek | switzerland swiss
us usa america american united_states | ussr soviet | norway norwegian | finland finnish | thailand thai
philippines filipino philippine | portugal portuguese | iceland icelandic | afghanistan afghan | cyprus cypriot
television tv | mount mt | saint st | doctor dr | junior jr | senior sr | fort ft | department dept
january jan | february feb | september sept | october oct | november nov | december dec
"""


_ROWS = (row.split() for row in re.split(r"[|\n]", _SAME))
_GROUPS = [frozenset(" ".join(map(stem, entry.split("_"))) for entry in row) for row in _ROWS]
ALIASES = {term: group for group in _GROUPS for term in group}
NEAR_COPY = 0.75  # the least share of a claim's units that must align for a comparison
LEAST_CONTENT = 2  # content units that must align: "She is a ..." resembles too many sentences


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two aligned sentences.

    `share`: the claim's units that stand in order or in the title, and moved facts. `content`: the number of content
    units in the source's sentence.
    """

    claim: Sentence
    source: Sentence
    blocks: tuple[Block, ...]
    title: AbstractSet[str]
    share: float
    content: int


def letters_of(words: Sequence[str]) -> str:
    return "".join(word[0] for word in words if word not in STOPWORDS)


@lru_cache(maxsize=20_000)
def _telling(name: str) -> frozenset[str]:
    return frozenset(stem(word) for word in name.split() if word not in STOPWORDS) or frozenset((name,))


def may_be_same(claim: str, source: str, title: AbstractSet[str] = frozenset()) -> bool:
    """Whether two names, as in `Fact.value`, may mean the same.

    One may be longer, a short form ("UK", "Tim") or in `title` ("President Obama" under *Barack Obama*).
    """
    ours, theirs = _telling(claim), _telling(source)
    if ours <= theirs or theirs <= ours or _is_short(claim, source) or _is_short(source, claim):
        return True
    if not ours & theirs:
        return ours <= title and theirs <= title
    return all(word in title or _has_short(word, theirs - ours) for word in ours - theirs)


def _is_short(short: str, long: str) -> bool:
    group = ALIASES.get(stem(short), frozenset())
    if not group.isdisjoint({*_telling(long), " ".join(map(stem, long.split()))}):
        return True
    spellings = (letters_of(long.split()), long.replace("-", ""))
    return " " not in short and len(short) > 1 and short.replace("-", "") in spellings


def _has_short(word: str, others: AbstractSet[str]) -> bool:
    return any(
        min(len(word), len(other)) in (1, 3, 4, 5) and (word.startswith(other) or other.startswith(word))
        for other in others
    )


def compare(claim: Sentence, source: Sentence, title: AbstractSet[str]) -> Comparison:
    blocks = differences(claim.keys, source.keys)
    differing = [at for block in blocks for at in range(block.a_start, block.a_end)]
    loose = sum(not _stands_elsewhere(claim, at, source, title) for at in differing)
    lost = {claim.keys[at] for at in differing}
    return Comparison(claim, source, blocks, title, 1 - loose / max(1, len(claim.keys)), len(claim.content - lost))


def _stands_elsewhere(claim: Sentence, at: int, source: Sentence, title: AbstractSet[str]) -> bool:
    known = claim.facts.get(at)
    return claim.keys[at] in title or (known is not None and (claim.keys[at] in source.units or says(source, known)))


def agree(claim: Fact, source: Fact, title: AbstractSet[str] = frozenset()) -> bool:
    """Whether the source's fact implies the claim's: a finer date, another form of a name."""
    if claim.kind == "name" or source.kind == "name":
        return claim.kind == source.kind and may_be_same(claim.value, source.value, title)
    return claim.value in implications(source.value)


def figure_at(sentence: Sentence, at: int) -> Fact | None:
    """The fact at a unit; "one" and "first" count."""
    known = sentence.facts.get(at)
    if known is None and sentence.keys[at] in COUNTS:
        return Fact("number", COUNTS[sentence.keys[at]][1:], 0, 0)
    return known


def facts_in(sentence: Sentence, start: int, end: int) -> Iterator[tuple[str, Fact]]:
    return ((sentence.shown[at], fact) for at in range(start, end) if (fact := figure_at(sentence, at)))


def says(sentence: Sentence, fact: Fact) -> bool:
    return any(agree(fact, known) for _, known in facts_in(sentence, 0, len(sentence.keys)))
