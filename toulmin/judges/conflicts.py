"""What a near copy changed."""

from __future__ import annotations

from functools import partial
from itertools import product

from toulmin.judges.comparison import LEAST_CONTENT, Comparison, agree, facts_in, figure_at, says
from toulmin.judges.reading import Sentence
from toulmin.judges.reversals import denial_reversal, opposite_word
from toulmin.text.facts import Fact
from toulmin.text.language import stem
from toulmin.text.overlap import Block

_LONGER = 2  # units by which the source's part of a block may exceed the claim's and still be what it replaces
_MOVED = 4  # units of the longest stretch that can be seen to change places
UNITS = frozenset(
    stem(word)
    for word in (
        "second minute hour day week month year decade century metre meter kilometre kilometer centimetre centimeter"
        " millimetre millimeter mile yard foot feet inch gram kilogram milligram tonne ton pound ounce litre liter"
        " millilitre milliliter gallon percent degree dollar euro yen rupee hectare acre watt kilowatt megawatt volt"
        " g kg mg m km cm mm ml l lb oz ft s h"
    ).split()
)
_JOINS_EQUALS = frozenset("and or with nor &".split())


def conflict(beside: Comparison) -> str | None:
    """What the claim changed in the sentence it nearly copies, in words; None if nothing that matters."""
    if beside.content < LEAST_CONTENT:
        return None
    looks = (_fact_change, _unit_change, denial_reversal, opposite_word, _swap)
    return next((reason for look in looks if (reason := look(beside))), None)


def _fact_change(beside: Comparison) -> str | None:
    for block in map(partial(_narrow, beside), beside.blocks):
        there = list(facts_in(beside.source, block.b_start, block.b_end))
        for shown, fact in facts_in(beside.claim, block.a_start, block.a_end):
            rival = next(
                (words for words, other in there if _rivals(fact, other) and not _is_elsewhere(other, beside)), None
            )
            if rival is not None and not _is_told(fact, there, beside):
                return f"the source says {rival}, the claim says {shown}"
    return None


def _unit_change(beside: Comparison) -> str | None:
    claim, source = beside.claim, beside.source
    for block in beside.blocks:
        mine, theirs = claim.keys[block.a_start : block.a_end], source.keys[block.b_start : block.b_end]
        measured = block.a_start > 0 and figure_at(claim, block.a_start - 1) is not None
        if measured and len(mine) == len(theirs) == 1 and {*mine, *theirs} <= UNITS:
            return f"the source says {source.shown[block.b_start]}, the claim says {claim.shown[block.a_start]}"
    return None


def _narrow(beside: Comparison, block: Block) -> Block:
    """The part of a differing block where one fact replaces another.

    In a much longer source part, the facts after the same word ("by Smith", "by Jones, who later ..."), or the figures
    before one; else empty.
    """
    a_first, a_last, b_first, b_last = block.a_start, block.a_end - 1, block.b_start, block.b_end - 1
    if b_last - b_first <= a_last - a_first + _LONGER:
        return block
    claim, source = beside.claim, beside.source
    if 0 < a_first <= a_last and a_first - 1 not in claim.facts and figure_at(claim, a_first):
        return Block(a_first, a_first + 1, b_first, b_first + 1)
    follows = a_last + 1 < len(claim.keys)
    if a_first <= a_last and follows and _is_figure(claim, a_last) and _is_figure(source, b_last):
        return Block(a_last, a_last + 1, b_last, b_last + 1)
    return Block(a_first, a_first, b_first, b_first)


def _is_figure(sentence: Sentence, at: int) -> bool:
    known = figure_at(sentence, at)
    return known is not None and known.kind != "name"


def _is_told(fact: Fact, there: list[tuple[str, Fact]], beside: Comparison) -> bool:
    """Whether the source has the claim's fact here, or anywhere if other blocks differ."""
    if any(agree(fact, other, beside.title) for _, other in there):
        return True
    return len(beside.blocks) > 1 and says(beside.source, fact)


def _rivals(a: Fact, b: Fact) -> bool:
    return (a.kind == "name") == (b.kind == "name") and not agree(b, a)


def _is_elsewhere(fact: Fact, beside: Comparison) -> bool:
    blocks = beside.blocks
    return any(
        agree(fact, known) for block in blocks for _, known in facts_in(beside.claim, block.a_start, block.a_end)
    )


def _swap(beside: Comparison) -> str | None:
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
