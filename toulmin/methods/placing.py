"""Finds the exact places of claims in a text, and replaces some of them.

A claim has its signs and marks around its letters and digits; all else stays byte for byte.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from operator import attrgetter
from typing import NamedTuple

from toulmin.parsing.lines import Block, blocks
from toulmin.parsing.marks import Mark, find_written_marks

STOPS = ".!?…。！？｡؟۔।॥።"
_STOP = re.compile(r"[.!?。！？]$")
_NEWLINE = re.compile(r"\r?\n")
_BLANK_LINE = re.compile(r"\n\r?\n\Z")
_WIDE = ("。", "！", "？")  # no space is needed after these
_OPENS = ("Ps", "Pi")  # Unicode's categories of opening brackets and quotation marks


class Place(NamedTuple):
    """`text[start:end]` is a claim with its stop and marks, within the paragraph or item `block`.

    `strays` are its marks after a heading or on lines before the first claim. `is_led`: the paragraph opens with a
    mark, so marks precede their sentences.
    """

    start: int
    end: int
    block: Block
    strays: tuple[Mark, ...] = ()
    is_led: bool = False


def places(text: str, spans: Sequence[tuple[int, int]], offered: int) -> tuple[Place, ...]:
    """`spans` are the offsets of the claims, `offered` the number of passages for marks."""
    page = _Page.of(text, offered)
    cores = [page.core(*span) for span in spans]
    where: list[Place] = []
    for core, following in zip_longest(cores, cores[1:]):
        where.append(page.place(core, where[-1].end if where else 0, following))
    return tuple(where)


class _Core(NamedTuple):
    """The first to the last letter of a claim."""

    first: int
    end: int
    block: Block


class _Page(NamedTuple):
    """`worded` are positions of letters and digits outside marks, `opening` is the first outside headings too."""

    text: str
    marks: tuple[Mark, ...]
    marked: frozenset[int]
    blocks: tuple[Block, ...]
    worded: tuple[int, ...]
    opening: int | None

    @classmethod
    def of(cls, text: str, offered: int) -> _Page:
        marks = tuple(find_written_marks(text, offered))
        marked = frozenset(i for mark in marks for i in range(mark.start, mark.end))
        paragraphs = tuple(blocks(text))
        worded = [i for b in paragraphs for i in range(b.start, b.end) if text[i].isalnum() and i not in marked]
        titles = [b for b in paragraphs if b.is_heading and not any(b.line <= mark.start < b.end for mark in marks)]
        silent = {i for b in titles for i in range(b.start, b.end)}
        return cls(text, marks, marked, paragraphs, tuple(worded), next((i for i in worded if i not in silent), None))

    def core(self, start: int, end: int) -> _Core:
        letters = self.worded[bisect_left(self.worded, start) : bisect_left(self.worded, end)] or range(start, end)
        block = self.blocks[bisect_right(self.blocks, letters[0], key=attrgetter("line")) - 1]
        return _Core(letters[0], letters[-1] + 1, block)

    def place(self, core: _Core, floor: int, following: _Core | None) -> Place:
        """The core with its signs and marks, none before `floor`."""
        bound = max(floor, core.block.start)
        ahead = min((mark.start for mark in self._before(core, bound)), default=core.first)
        start = next((i for i in range(bound, ahead) if self._is_sign(i)), ahead)
        end = self._sentence_end(core, core.end)
        strays: list[Mark] = []
        for mark in self._behind(core, following):
            if strays or self._has_words(end, mark.start):
                strays.append(mark)
            else:
                end = self._sentence_end(core, max(end, mark.end))
        is_first = self.opening == core.first  # the marks on lines before it belong to it
        ahead_of_text = self._between(0, core.block.line) if is_first else ()
        return Place(start, end, core.block, (*ahead_of_text, *strays), self._opens(core.block))

    def _between(self, start: int, end: int) -> Sequence[Mark]:
        first = bisect_left(self.marks, start, key=attrgetter("start"))
        return self.marks[first : bisect_left(self.marks, end, key=attrgetter("start"))]

    def _has_words(self, start: int, end: int) -> bool:
        return bisect_left(self.worded, start) < bisect_left(self.worded, end)

    def _is_sign(self, at: int) -> bool:
        return not (at in self.marked or self.text[at].isspace() or self.text[at].isalnum())

    def _sentence_end(self, core: _Core, end: int) -> int:
        """The position after the closing signs; before a stop also those after a space."""
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
        """After a stop and its marks, a sign opens the next sentence ("[1] **A**")."""
        return any(self.text[i] in STOPS for i in range(core.end, end) if i not in self.marked)

    def _closes(self, at: int) -> bool:
        return at < len(self.text) and self._is_sign(at) and unicodedata.category(self.text[at]) not in _OPENS

    def _opens(self, block: Block) -> bool:
        return bool(self._between(block.line, block.start + 1))

    def _before(self, core: _Core, bound: int) -> list[Mark]:
        if not self._opens(core.block):
            return []
        return [mark for mark in self._between(bound, core.first) if not self._has_words(mark.end, core.first)]

    def _behind(self, core: _Core, following: _Core | None) -> Sequence[Mark]:
        """The marks that belong to the claim; if the next paragraph opens with marks, those before its stop."""
        marks = self._between(core.end, following.first if following else len(self.text))
        is_led = following is not None and self._opens(following.block)
        if following is None or (following.block == core.block and not is_led):
            return marks
        line = following.block.line
        return [m for m in marks if m.start < line or (is_led and self.text[m.end : m.end + 1] in tuple(STOPS))]


# ---------------------------------------------------------------- a text with claims replaced


def set_marks(sentence: str, old: Sequence[Mark], marks: str, *, is_led: bool) -> str:
    """The sentence with these marks in place of its `old` ones: before its stop or, if `is_led`, before all of it."""
    kept, at = "", 0
    for mark in old:
        piece = sentence[at : mark.start]
        kept += piece[:-1] if piece[-1:].isspace() else piece
        at = mark.end if kept else len(sentence) - len(sentence[mark.end :].lstrip())
    kept += sentence[at:]
    if is_led:
        return f"{marks} {kept}"
    stop = _STOP.search(kept)
    return f"{kept[: stop.start()]} {marks}{stop[0]}" if stop else f"{kept} {marks}"


def replace_claims(text: str, where: Sequence[Place], edits: Mapping[int, str]) -> str:
    """Replaces the claims at these positions; an empty text removes a claim with its white space.

    An item or paragraph that becomes empty is removed with its marker and line.
    """
    staying = [place for n, place in enumerate(where) if edits.get(n, "stays")]
    last = {place.block: place for place in staying}
    pieces, at = [], 0
    for n, place in enumerate(where):
        if n not in edits:
            continue
        start, end = (place.start, place.end) if edits[n] else _removal_span(text, place, last.get(place.block))
        runs_on = end < len(text) and not text[end].isspace() and not edits[n].endswith(_WIDE)
        words = edits[n] + (" " if edits[n] and runs_on else "")
        for begin, stop, new in sorted([(start, end, words), *((mark.start, mark.end, "") for mark in place.strays)]):
            pieces += [text[at : max(begin, at)], new]
            at = max(stop, at)
    return "".join([*pieces, text[at:]])


def _removal_span(text: str, place: Place, last: Place | None) -> tuple[int, int]:
    """A removed claim with the space after it, before it for the last one, or all of its lines.

    `last` is the last remaining claim of its paragraph.
    """
    if last is None:
        return _line(text, place)
    start, end = place.start, place.end
    if last.start < end:
        return len(text[:start].rstrip()), end
    if start == place.block.start or text[start - 1].isspace():  # else only a mark separated it: its space stays
        end = len(text) - len(text[end:].lstrip())
    return start, end


def _line(text: str, place: Place) -> tuple[int, int]:
    """The lines of a paragraph or item, with one of two blank lines around them."""
    block = place.block
    newline = text.find("\n", max(block.end, place.end))
    end = len(text) if newline < 0 else newline + 1
    if end == len(text):
        return len(text[: block.line].rstrip()), end
    before = text[: block.line]
    while (not before.strip() or _BLANK_LINE.search(before)) and (blank := _NEWLINE.match(text, end)):
        end = blank.end()
    return block.line, end
