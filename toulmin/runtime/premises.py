"""A pair as the two texts that a trained judge reads: ALCE's premise and hypothesis (specification, metrics 1.9)."""

from __future__ import annotations

from collections.abc import Sequence

from toulmin.data import Passage
from toulmin.steps import Pair


def premise(passages: Sequence[Passage]) -> str:
    """The passages one below the other, in their order, each under its title where it has one."""
    return "\n".join(f"{heading(passage)}{passage.text}" for passage in passages)


def heading(passage: Passage) -> str:
    """The line of its title that stands above a passage; empty without one."""
    return f"Title: {passage.title}\n" if passage.title else ""


def hypothesis(pair: Pair) -> str:
    """The claim; behind its question where it is no sentence of its own."""
    return f"{pair.question} {pair.claim}" if pair.question else pair.claim
