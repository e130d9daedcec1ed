"""What a claim-by-claim method has at hand: long-term and short-term memory, and windows over them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from toulmin.data import Passage
from toulmin.text.language import words


@dataclass(frozen=True, slots=True)
class Memory:
    """VTG's two memories: `long` (D_L) holds what proved its worth, `short` (D_S) what the last search found."""

    long: tuple[Passage, ...]
    short: tuple[Passage, ...] = ()

    @property
    def passages(self) -> tuple[Passage, ...]:
        """D_L in its order, then D_S, each passage once: the order decides which citations a simplification keeps."""
        return distinct((*self.long, *self.short))

    def retaining(self, ids: Iterable[str]) -> Memory:
        """With these passages, of either memory, in the long-term one: new ones at its end, in the order given."""
        known = {passage.id: passage for passage in self.passages}
        return replace(self, long=distinct((*self.long, *(known[id] for id in ids))))

    def refreshed(self, found: Sequence[Passage]) -> Memory:
        """With these passages in place of all that the short-term memory held."""
        return replace(self, short=tuple(found))


def distinct(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Each passage once, where it first stands."""
    first: dict[str, Passage] = {}
    for passage in passages:
        first.setdefault(passage.id, passage)
    return tuple(first.values())


def windows(passages: Collection[Passage], size: int | None) -> tuple[tuple[Passage, ...], ...]:
    """The passages in their order, cut into the fewest runs of whole passages of at most `size` words, title included.

    None is no limit. A passage that is longer by itself is a window of its own.
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
