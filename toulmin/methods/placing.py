"""Where the claims of a text stand in it, to the character, and the text with some of them replaced.

`check` takes a text apart into claims without marks, emphasis and line breaks; here each claim is found again by its
letters and digits, so that everything that nobody meant to change stays byte for byte.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from toulmin.data import Claim
from toulmin.grounding.lines import Block, blocks
from toulmin.grounding.marks import Mark, find_marks

_STOPPED = re.compile(r"[.!?…。！？]")
_STOP = re.compile(r"[.!?。！？]$")
_OPENS = ("Ps", "Pi")  # of Unicode's categories: brackets and quotation marks that open


@dataclass(frozen=True, slots=True)
class Place:
    """Where a claim stands: `text[start:end]`, its stop and its marks included, within the paragraph or item `block`.

    `is_led`: the paragraph opens with a mark, so that in it marks stand before their sentences.
    """

    start: int
    end: int
    block: Block
    is_led: bool = False


def places(text: str, claims: Sequence[Claim], offered: int) -> tuple[Place | None, ...]:
    """The place of each claim, in order; None for one that cannot be found again.

    `offered` is how many passages its marks could name, as when the claims were read.
    """
    page = _Page.of(text, offered)
    cores = list(_cores(page, claims))
    found: list[Place | None] = []
    end = 0
    for n, core in enumerate(cores):
        following = next((later for later in cores[n + 1 :] if later), None)
        place = page.place(core, end, following) if core else None
        end = place.end if place else end
        found.append(place)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Core:
    """The first to the last letter of a claim."""

    first: int
    end: int
    block: Block


def _cores(page: _Page, claims: Sequence[Claim]) -> Iterator[_Core | None]:
    letters = "".join(page.text[i] for i in page.positions)
    cursor = 0
    for claim in claims:
        wanted = "".join(filter(str.isalnum, claim.text))
        at = letters.find(wanted, cursor)
        if at < 0 or not wanted:
            yield None
            continue
        cursor = at + len(wanted)
        first, last = page.positions[at], page.positions[cursor - 1]
        yield _Core(first, last + 1, next(block for block in page.blocks if block.start <= first < block.end))


@dataclass(frozen=True, slots=True)
class _Page:
    """A text with its marks and paragraphs; `worded` are their letters and digits, `positions` those of claims only."""

    text: str
    marks: tuple[Mark, ...]
    marked: frozenset[int]
    blocks: tuple[Block, ...]
    worded: frozenset[int]
    positions: tuple[int, ...]

    @classmethod
    def of(cls, text: str, offered: int) -> _Page:
        marks = tuple(find_marks(text, offered))
        marked = frozenset(i for mark in marks for i in range(mark.start, mark.end))
        found = tuple(blocks(text))
        worded = [i for b in found for i in range(b.start, b.end) if text[i].isalnum() and i not in marked]
        titles = [b for b in found if b.is_heading and not any(b.line <= mark.start < b.end for mark in marks)]
        silent = {i for b in titles for i in range(b.start, b.end)}
        spoken = tuple(i for i in worded if i not in silent)
        return cls(text, marks, marked, found, frozenset(worded), spoken)

    def place(self, core: _Core, floor: int, following: _Core | None) -> Place:
        """The core with the signs and marks around it that are its own; nothing of it stands before `floor`."""
        start = core.first
        bound = max(floor, core.block.start)
        while start > bound and self._is_sign(start - 1):
            start -= 1
        start = min([start, *(mark.start for mark in self._before(core, bound))])
        end = self._closed(core.end)
        for mark in self._behind(core, following):
            if self._has_words(end, mark.start):
                break
            end = self._closed(max(end, mark.end))
        return Place(start, end, core.block, self._opens(core.block))

    def _has_words(self, start: int, end: int) -> bool:
        return any(i in self.worded for i in range(start, end))

    def _is_sign(self, at: int) -> bool:
        return not (at in self.marked or self.text[at].isspace() or self.text[at].isalnum())

    def _closed(self, end: int) -> int:
        """Behind the signs that close a sentence."""
        while end < len(self.text) and self._is_sign(end) and unicodedata.category(self.text[end]) not in _OPENS:
            end += 1
        return end

    def _opens(self, block: Block) -> bool:
        """Whether a paragraph begins with a mark: there, marks stand before their sentences."""
        return any(block.line <= mark.start <= block.start for mark in self.marks)

    def _before(self, core: _Core, bound: int) -> list[Mark]:
        """The marks in front of a claim that point ahead to it."""
        if not self._opens(core.block):
            return []
        near = [mark for mark in self.marks if bound <= mark.start and mark.end <= core.first]
        return [mark for mark in near if not self._has_words(mark.end, core.first)]

    def _behind(self, core: _Core, following: _Core | None) -> list[Mark]:
        """The marks behind a claim that point back to it: where others point ahead, those before its stop."""
        before = following.first if following else len(self.text)
        marks = [mark for mark in self.marks if core.end <= mark.start < before]
        if following is None or not self._opens(following.block):
            return marks
        return [m for m in marks if m.start < following.block.line or _STOPPED.match(self.text, m.end)]


# ---------------------------------------------------------------- replacing


def remarked(sentence: str, marks: str, offered: int, *, is_led: bool) -> str:
    """The sentence, else byte for byte, with these marks in the place of its own: in front of its stop, or of all."""
    kept, at = "", 0
    for mark in find_marks(sentence, offered):
        kept += sentence[at : mark.start].rstrip()
        at = mark.end if kept else len(sentence) - len(sentence[mark.end :].lstrip())
    kept += sentence[at:]
    if is_led:
        return f"{marks} {kept}"
    stop = _STOP.search(kept)
    return f"{kept[: stop.start()]} {marks}{stop[0]}" if stop else f"{kept} {marks}"


def replaced(text: str, where: Sequence[Place | None], edits: Mapping[int, str]) -> str:
    """The text with the claims of these positions replaced; an empty text takes a claim away, and its white space.

    A list item or paragraph of which nothing is left goes with its marker and its line.
    """
    emptied = _emptied(where, edits)
    pieces, at = [], 0
    for n, place in enumerate(where):
        if place is None or n not in edits:
            continue
        start, end = place.start, place.end
        if not edits[n]:
            start, end = _line(text, place) if place.block in emptied else _widened(text, place, where, edits)
        start = max(start, at)
        pieces += [text[at:start], edits[n]]
        at = max(at, end)
    return "".join([*pieces, text[at:]])


def _emptied(where: Sequence[Place | None], edits: Mapping[int, str]) -> frozenset[Block]:
    """The paragraphs and items all of whose claims go."""
    told = [(n, place.block) for n, place in enumerate(where) if place]
    staying = {block for n, block in told if edits.get(n, "stays")}
    return frozenset(block for _, block in told if block not in staying)


def _widened(text: str, place: Place, where: Sequence[Place | None], edits: Mapping[int, str]) -> tuple[int, int]:
    """A claim that goes from the middle of a paragraph takes the space behind it, one at its end that before it."""
    later = [
        p for n, p in enumerate(where) if p and p.block == place.block and p.start >= place.end and edits.get(n, "s")
    ]
    if later:
        end = place.end
        while end < later[0].start and text[end].isspace():
            end += 1
        return place.start, end
    start = place.start
    while start > place.block.start and text[start - 1].isspace():
        start -= 1
    return start, place.end


def _line(text: str, place: Place) -> tuple[int, int]:
    """The lines of a paragraph or item with what ends them, and one of two blank lines around it."""
    block = place.block
    newline = text.find("\n", max(block.end, place.end))
    end = len(text) if newline < 0 else newline + 1
    if end == len(text):
        return len(text[: block.line].rstrip()), end
    before = text[: block.line]
    while (not before.strip() or before.endswith("\n\n")) and text[end : end + 1] == "\n":
        end += 1
    return block.line, end
