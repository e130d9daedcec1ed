"""Premise and hypothesis of a pair"""

from __future__ import annotations

from collections.abc import Sequence

from toulmin.data import Passage
from toulmin.steps import Pair


def premise(passages: Sequence[Passage]) -> str:
    """The passages in order, one below the other, each under its title if it has one."""
    return "\n".join(f"{heading(passage)}{passage.text}" for passage in passages)


def heading(passage: Passage) -> str:
    """The title line above a passage; empty without a title."""
    return f"Title: {passage.title}\n" if passage.title else ""


def hypothesis(pair: Pair) -> str:
    """The claim, after its question if it has one."""
    return f"{pair.question} {pair.claim}" if pair.question else pair.claim
