"""Where the claims of a text stand in it, to the character, and the text with some of them replaced.

`check` takes a text apart into claims without marks, emphasis and line breaks; here each claim is found again by its
letters and digits, so that everything that nobody meant to change stays byte for byte.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from toulmin.data import Claim
from toulmin.parsing.lines import Block, blocks
from toulmin.parsing.marks import Mark, find_marks

STOPS = ".!?…。！？｡؟۔।॥።"
_STOP = re.compile(r"[.!?。！？]$")
_NEWLINE = re.compile(r"\r?\n")
_BLANK_LINE = re.compile(r"\n\r?\n\Z")
_WIDE = ("。", "！", "？")  # behind these no space is needed
_OPENS = ("Ps", "Pi")  # of Unicode's categories: brackets and quotation marks that open


@dataclass(frozen=True, slots=True)
class Place:
    """Where a claim stands: `text[start:end]`, its stop and its marks included, within the paragraph or item `block`.

    `strays` are marks of its own that stand behind a heading, or on lines before a text's first claim. `is_led`: the
    paragraph opens with a mark, so that in it marks stand before their sentences.
    """

    start: int
    end: int
    block: Block
    strays: tuple[Mark, ...] = ()
    is_led: bool = False


def places(text: str, claims: Sequence[Claim], offered: int) -> tuple[Place | None, ...]:
    """The place of each claim, in order; None for one that cannot be found again.

    `offered` is how many passages its marks could name, as when the claims were read.
    """
    page = _Page.of(text, offered)
    cores = page.cores(claims)
    known = [core for core in cores if core]
    after: dict[_Core, _Core] = dict(pairwise(known))
    found: list[Place | None] = []
    end = 0
    for core in cores:
        place = page.place(core, end, after.get(core)) if core else None
        end = place.end if place else end
        found.append(place)
    return tuple(found)


class _Core(NamedTuple):
    """The first to the last letter of a claim."""

    first: int
    end: int
    block: Block


@dataclass(frozen=True, slots=True)
class _Page:
    """A text with its marks and paragraphs; `worded` are their letters and digits, `positions` those of claims only."""

    text: str
    marks: tuple[Mark, ...]
    marked: frozenset[int]
    blocks: tuple[Block, ...]
    worded: tuple[int, ...]
    positions: tuple[int, ...]

    @classmethod
    def of(cls, text: str, offered: int) -> _Page:
        marks = tuple(find_marks(text, offered))
        marked = frozenset(i for mark in marks for i in range(mark.start, mark.end))
        found = tuple(blocks(text))
        worded = [i for b in found for i in range(b.start, b.end) if text[i].isalnum() and i not in marked]
        titles = [b for b in found if b.is_heading and not any(b.line <= mark.start < b.end for mark in marks)]
        silent = {i for b in titles for i in range(b.start, b.end)}
        return cls(text, marks, marked, found, tuple(worded), tuple(i for i in worded if i not in silent))

    def cores(self, claims: Sequence[Claim]) -> list[_Core | None]:
        """Each claim's letters, looked for behind those of the claim before."""
        letters = "".join(self.text[i] for i in self.positions)
        lines = [block.line for block in self.blocks]
        found: list[_Core | None] = []
        cursor = 0
        for claim in claims:
            wanted = "".join(filter(str.isalnum, claim.text))
            at = letters.find(wanted, cursor) if wanted else -1
            if at < 0:
                found.append(None)
                continue
            cursor = at + len(wanted)
            first, last = self.positions[at], self.positions[cursor - 1]
            found.append(_Core(first, last + 1, self.blocks[bisect_right(lines, first) - 1]))
        return found

    def place(self, core: _Core, floor: int, following: _Core | None) -> Place:
        """The core with the signs and marks around it that are its own; nothing of it stands before `floor`."""
        bound = max(floor, core.block.start)
        ahead = min((mark.start for mark in self._before(core, bound)), default=core.first)
        start = next((i for i in range(bound, ahead) if self._is_sign(i)), ahead)
        end = self._closed(core, core.end)
        strays: list[Mark] = []
        for mark in self._behind(core, following):
            if strays or self._has_words(end, mark.start):
                strays.append(mark)
            else:
                end = self._closed(core, max(end, mark.end))
        return Place(start, end, core.block, (*self._ahead(core), *strays), self._opens(core.block))

    def _between(self, start: int, end: int) -> Sequence[Mark]:
        """The marks that begin there."""
        first = bisect_left(self.marks, start, key=_start)
        return self.marks[first : bisect_left(self.marks, end, key=_start)]

    def _has_words(self, start: int, end: int) -> bool:
        return bisect_left(self.worded, start) < bisect_left(self.worded, end)

    def _is_sign(self, at: int) -> bool:
        return not (at in self.marked or self.text[at].isspace() or self.text[at].isalnum())

    def _closed(self, core: _Core, end: int) -> int:
        """Behind the signs that close a sentence; those set off by a space belong to it as long as no stop has come."""
        while True:
            while self._closes(end):
                end += 1
            following = end
            while following < len(self.text) and self.text[following] in " \u00a0":
                following += 1
            if self._is_stopped(core, end) or following == end or not self._closes(following):
                return end
            end = following

    def _is_stopped(self, core: _Core, end: int) -> bool:
        """Whether a stop has come: a sign behind it, also behind marks, opens the next sentence ("[1] **A**")."""
        return any(self.text[i] in STOPS for i in range(core.end, end) if i not in self.marked)

    def _closes(self, at: int) -> bool:
        return at < len(self.text) and self._is_sign(at) and unicodedata.category(self.text[at]) not in _OPENS

    def _opens(self, block: Block) -> bool:
        """Whether a paragraph begins with a mark: there, marks stand before their sentences."""
        return bool(self._between(block.line, block.start + 1))

    def _before(self, core: _Core, bound: int) -> list[Mark]:
        """The marks in front of a claim that point ahead to it."""
        if not self._opens(core.block):
            return []
        return [mark for mark in self._between(bound, core.first) if not self._has_words(mark.end, core.first)]

    def _ahead(self, core: _Core) -> Sequence[Mark]:
        """Of the first claim, the marks on lines before it, which have no other claim to belong to."""
        is_first = self.positions[0] == core.first
        return self._between(0, core.block.line) if is_first else ()

    def _behind(self, core: _Core, following: _Core | None) -> Sequence[Mark]:
        """The marks behind a claim that point back to it: where others point ahead, those before its stop."""
        marks = self._between(core.end, following.first if following else len(self.text))
        is_led = following is not None and self._opens(following.block)
        if following is None or (following.block == core.block and not is_led):
            return marks
        line = following.block.line
        return [m for m in marks if m.start < line or (is_led and self.text[m.end : m.end + 1] in tuple(STOPS))]


def _start(mark: Mark) -> int:
    return mark.start


# ---------------------------------------------------------------- replacing


def remarked(sentence: str, marks: str, offered: int, *, is_led: bool) -> str:
    """The sentence, else byte for byte, with these marks in the place of its own: in front of its stop, or of all."""
    kept, at = "", 0
    for mark in find_marks(sentence, offered):
        piece = sentence[at : mark.start]
        kept += piece[:-1] if piece[-1:].isspace() else piece
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
    staying = [place for n, place in enumerate(where) if place and edits.get(n, "stays")]
    last = {place.block: place for place in staying}
    pieces, at = [], 0
    for n, place in enumerate(where):
        if place is None or n not in edits:
            continue
        start, end = (place.start, place.end) if edits[n] else _widened(text, place, last.get(place.block))
        words = edits[n] + (" " if edits[n] and _runs_on(text, end, edits[n]) else "")
        for begin, stop, new in sorted([(start, end, words), *((mark.start, mark.end, "") for mark in place.strays)]):
            pieces += [text[at : max(begin, at)], new]
            at = max(stop, at)
    return "".join([*pieces, text[at:]])


def _runs_on(text: str, end: int, words: str) -> bool:
    """Whether what follows would run into a new sentence: it was set off by a mark alone."""
    return not (end == len(text) or text[end].isspace() or words.endswith(_WIDE))


def _widened(text: str, place: Place, last: Place | None) -> tuple[int, int]:
    """What goes with a claim: the space behind it, that before it where it is the last, or all of its lines.

    `last` is the last claim of its paragraph that stays.
    """
    if last is None:
        return _line(text, place)
    start, end = place.start, place.end
    if last.start >= end:
        if start > place.block.start and not text[start - 1].isspace():
            return start, end  # a mark alone set it off: the space behind it is all there is
        while text[end].isspace():
            end += 1
        return start, end
    while text[start - 1].isspace():
        start -= 1
    return start, end


def _line(text: str, place: Place) -> tuple[int, int]:
    """The lines of a paragraph or item with what ends them, and one of two blank lines around it."""
    block = place.block
    newline = text.find("\n", max(block.end, place.end))
    end = len(text) if newline < 0 else newline + 1
    if end == len(text):
        return len(text[: block.line].rstrip()), end
    before = text[: block.line]
    while (not before.strip() or _BLANK_LINE.search(before)) and (blank := _NEWLINE.match(text, end)):
        end = blank.end()
    return block.line, end
