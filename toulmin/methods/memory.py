"""VTG's two memories, and windows over them"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from toulmin.data import Passage
from toulmin.text.language import words


@dataclass(frozen=True, slots=True)
class Memory:
    """VTG's memories: `long` (D_L) has what proved useful, `short` (D_S) what the last search found."""

    long: tuple[Passage, ...]
    short: tuple[Passage, ...] = ()

    @property
    def passages(self) -> tuple[Passage, ...]:
        """D_L, then D_S, each passage once; the order decides which citations a simplification keeps."""
        return distinct((*self.long, *self.short))

    def retaining(self, ids: Iterable[str]) -> Memory:
        """Adds passages of either memory to the long-term one, new ones at its end."""
        known = {passage.id: passage for passage in self.passages}
        return replace(self, long=distinct((*self.long, *(known[id] for id in ids))))

    def refresh(self, passages: Sequence[Passage]) -> Memory:
        return replace(self, short=tuple(passages))


def distinct(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    first: dict[str, Passage] = {}
    for passage in passages:
        first.setdefault(passage.id, passage)
    return tuple(first.values())


def windows(passages: Collection[Passage], size: int | None) -> tuple[tuple[Passage, ...], ...]:
    """The passages in order, cut into the fewest runs of at most `size` words, titles included.

    None is no limit. A longer passage is a window by itself.
    """
    if size is None:
        return (tuple(passages),) if passages else ()
    cut: list[list[Passage]] = []
    room = 0
    for passage in passages:
        length = len(words(passage.title)) + len(words(passage.text))
        if not cut or length > room:
            cut.append([])
            room = size
        cut[-1].append(passage)
        room -= length
    return tuple(tuple(window) for window in cut)
