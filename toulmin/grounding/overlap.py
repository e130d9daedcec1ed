"""How two texts overlap, measured on their terms or other units, in order or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch where two sequences differ: `a[a_start:a_end]` stands in place of `b[b_start:b_end]`."""

    a_start: int
    a_end: int
    b_start: int
    b_end: int


def differences(a: Sequence[str], b: Sequence[str]) -> tuple[Block, ...]:
    """Where two sequences differ, in order; equal sequences have none."""
    head = 0
    while head < len(a) and head < len(b) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    a_end, b_end = len(a) - tail, len(b) - tail
    if head in (a_end, b_end):
        return () if head == a_end == b_end else (Block(head, a_end, head, b_end),)
    matcher = SequenceMatcher(None, a[head:a_end], b[head:b_end], autojunk=False)
    return tuple(
        Block(head + a1, head + a2, head + b1, head + b2)
        for tag, a1, a2, b1, b2 in matcher.get_opcodes()
        if tag != "equal"
    )


def longest_run(a: Sequence[str], b: Sequence[str]) -> int:
    """The length of the longest stretch that both sequences share."""
    places: dict[str, list[int]] = {}
    for j, item in enumerate(b):
        places.setdefault(item, []).append(j)
    best = 0
    before: dict[int, int] = {}
    for item in a:
        before = {j: before.get(j - 1, 0) + 1 for j in places.get(item, ())}
        if before:
            best = max(best, max(before.values()))
    return best
