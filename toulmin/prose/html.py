"""The prose of HTML: paragraphs and items without menus; footnotes and links are its citations.

Reads mark by mark without a tree, so depth costs nothing. `html.parser` takes minutes for a page of unclosed marks.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from html import unescape
from typing import NamedTuple
from urllib.parse import unquote

from toulmin.documents.html import BLOCKS, HEADINGS, is_unseen
from toulmin.documents.plain import set_apart
from toulmin.prose.blocks import Pointer, Prose, Writer, is_list_of_references, numbered_entries

# An unclosed mark takes the rest of the file, as in browsers, so nothing is read twice.
_MARK = re.compile(
    r"<!--(?P<comment>.*?)(?:--!?>|\Z)"
    r"|<(?P<slash>/?)(?P<tag>[a-z][^\s/>]*+)"
    r"(?P<attributes>(?:[^>\"'=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+|[\"'])*+)(?:>|\Z)"
    r"|<[!?/][^>]*+(?:>|\Z)"
    r"|\xad++|&\#?\w{1,40};?|\s++|[^<&\s\xad]++(?:[ ][^<&\s\xad]++)*+|.",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"([^\s\"'=/][^\s=/]*+)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"']++)))?+")
_CLOSED = re.compile(r"(?:^|[\s\"'])/$")
_RAW = frozenset("script style title textarea iframe noembed noframes xmp".split())
_RAW_ENDS = {tag: re.compile(rf"</{tag}|\Z", re.IGNORECASE) for tag in _RAW}
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
# They contain no sentence of the author's.
_OTHERS = frozenset("blockquote button dt pre summary table textarea title xmp".split())
_SECTIONS = ("article", "aside", "main", "section")
_ENDED_BY = {"li": ("li",), "dt": ("dt", "dd"), "dd": ("dt", "dd")}
_NOTE_ROLES = frozenset(("doc-biblioentry", "doc-endnote", "doc-footnote"))
_NUMBER = re.compile(r"\W*(?:\d{1,4}|[a-z]|[*†‡§]+)\W*")
_LETTER, _STOP = re.compile(r"[^\W\d_]"), re.compile(r"[.!?。！？][\"'”’»)\]]*$")
_LONGEST_TARGET = 2000


def read(source: str) -> Prose:
    page = Page(source, Writer(source))
    page.read(0, len(source))
    return page.prose()


class _Element(NamedTuple):
    tag: str
    is_left_out: bool
    note: str  # the id of the note that it is


class _Piece(NamedTuple):
    """Text of a block; or a pointer to `target`: the pieces from `begun` on, or a mark of a note."""

    text: str
    offset: int
    is_plain: bool = False  # neither bold nor linked
    target: str = ""
    begun: int = -1


class _Link(NamedTuple):
    begun: int
    is_spaced: bool
    target: str
    is_mark: bool  # of a note: its words are none of the text
    is_citation: bool  # its words are


class Page:
    """Reads a page, or the HTML parts of a source, into a writer."""

    def __init__(self, source: str, writer: Writer) -> None:
        self.writer = writer
        self._source = source
        self._open: list[_Element] = []
        self._where = defaultdict[str, list[int]](list)  # the open elements of a name
        self._blocks: list[int] = []  # those of them that are blocks
        self._left_out = 0
        self._pieces, self._is_spaced = list[_Piece](), True  # of the block
        self._link: _Link | None = None
        self._raised: tuple[int, bool] | None = None  # where superscript text begins
        self._last_raised = (-1, -1)
        self._item: str | None = None
        self._numbers: list[int] = []  # of the last item of each list
        self._marks: dict[str, int] = {}  # how sure it is that a note has this id
        self._notes = defaultdict[str, list[str]](list)
        self._within: list[str] = []  # the notes that are open
        self._anchor = ""  # the note that the block is
        self._cited: list[tuple[int, str]] = []
        self._is_references, self._lines = False, ["References"]

    def read(self, start: int, end: int) -> None:
        """Writes the sentences of `source[start:end]`; elements open at its end stay open for the next part."""
        position = start
        while mark := _MARK.match(self._source, position, end):
            position, tag = mark.end(), (mark["tag"] or "").lower()
            if mark["comment"] is not None:
                self.writer.comment(mark["comment"])
            elif tag and mark["slash"]:
                self.end(tag, mark.start())
            elif tag:
                self.start(tag, mark["attributes"], mark.start())
                if tag in _RAW_ENDS and (closing := _RAW_ENDS[tag].search(self._source, position, end)):
                    position = closing.start()
            elif mark[0][:2] not in ("<!", "<?", "</"):
                self.add(unescape(mark[0]), mark.start())
        self._end_block(end)

    def start(self, tag: str, text: str, offset: int) -> None:
        attributes = {name.lower(): unescape("".join(value)) for name, *value in _ATTRIBUTE.findall(text)}
        if tag in BLOCKS:
            self._end_block(offset)
            # A block ends an open paragraph; an item ends the one before.
            while self._blocks and self._open[self._blocks[-1]].tag in ("p", *_ENDED_BY.get(tag, ())):
                self._close(self._blocks[-1])
        if tag == "br":
            self.add(" ", offset)
        note = self._note(tag, attributes)
        if note and tag not in BLOCKS:
            self._anchor, note = note, ""
        if tag in _VOID or _CLOSED.search(text):
            return
        if tag == "a":
            self._begin_link(attributes)
        elif tag == "sup":
            self._raised = self._raised or (len(self._pieces), self._is_spaced)
        elif tag in ("ol", "ul"):
            self._numbers.append(0 if tag == "ol" else -1)
        elif tag == "li":
            self._item = "- "
            if self._numbers and self._numbers[-1] >= 0:
                self._numbers[-1] += 1
                self._item = f"{self._numbers[-1]}. "
        self._push(tag, attributes, note)

    def _push(self, tag: str, attributes: dict[str, str], note: str) -> None:
        is_of_page = tag in ("header", "footer") and not any(self._where[section] for section in _SECTIONS)
        is_left_out = tag in _OTHERS or is_of_page or (tag != "head" and is_unseen(tag, attributes))
        self._where[tag].append(len(self._open))
        if tag in BLOCKS:
            self._blocks.append(len(self._open))
        self._left_out += is_left_out
        self._within += [note] if note else []
        self._open.append(_Element(tag, is_left_out, note))

    def end(self, tag: str, offset: int) -> None:
        if tag in BLOCKS:
            self._end_block(offset)
        last = self._where[tag][-1] if self._where[tag] else -1
        is_over = tag in BLOCKS or not self._blocks or last > self._blocks[-1]  # what formats text ends in its block
        if last >= 0 and (is_over or self._open[last].is_left_out):
            self._close(last)

    def _close(self, first: int) -> None:
        while len(self._open) > first:
            element = self._open.pop()
            self._where[element.tag].pop()
            self._left_out -= element.is_left_out
            if element.note:
                self._within.pop()
            if self._blocks and self._blocks[-1] == len(self._open):
                self._blocks.pop()
            if element.tag == "a":
                self._end_link()
            elif element.tag == "sup":
                self._end_raised()
            elif element.tag in ("ol", "ul"):
                self._numbers.pop()
            elif element.tag == "li":
                self._item = None

    def _note(self, tag: str, attributes: dict[str, str]) -> str:
        """The id of a note, if an earlier mark names it."""
        sure = 0 if tag == "aside" or attributes.get("role") in _NOTE_ROLES or self._is_references else 2
        for name in (attributes.get("id"), attributes.get("name")):
            if name and self._marks.get(name, -1) >= min(sure, 1 if tag in ("li", "dd", "p") else 2):
                return name
        return ""

    def _begin_link(self, attributes: dict[str, str]) -> None:
        self._end_link()
        names = f"{attributes.get('role', '')} {attributes.get('class', '')}"
        is_mark = bool(self._where["sup"]) or "noteref" in names or "footnote" in names
        self._link = _Link(
            len(self._pieces), self._is_spaced, attributes.get("href", ""), is_mark, "biblioref" in names
        )

    def _end_link(self) -> None:
        link, self._link = self._link, None
        words = "".join(piece.text for piece in self._pieces[link.begun :]) if link and link.target else ""
        if link is None or not words.strip():
            return
        is_inside, is_way_back = link.target.startswith("#"), bool(self._anchor or self._within)
        is_mark = link.is_mark or self._last_raised == (link.begun, len(self._pieces))
        if is_mark or (is_inside and is_way_back):
            del self._pieces[link.begun :]
            self._is_spaced = link.is_spaced
        if not is_inside:
            self._pieces.append(_Piece("", 0, False, link.target, -1 if is_mark else link.begun))
        elif not is_way_back:
            name = unquote(link.target[1:])
            sure = 2 if is_mark or link.is_citation else 1 if _NUMBER.fullmatch(words) else 0
            self._marks[name] = max(sure, self._marks.get(name, 0))
            self._pieces.append(_Piece("", 0, False, f"#{name}"))

    def _end_raised(self) -> None:
        """Leaves out the brackets around a note's mark."""
        begun, is_spaced = self._raised or (len(self._pieces), self._is_spaced)
        marks = [piece for piece in self._pieces[begun:] if piece.target and piece.begun < 0]
        raised, before = "".join(piece.text for piece in self._pieces[begun:]), self._pieces[begun - 1 : begun]
        if marks:
            self._pieces[begun:], self._is_spaced = marks, is_spaced
        elif before and set_apart(raised, before[0].text[-1:])[:1] == "^":
            self._pieces.insert(begun, self._pieces[begun]._replace(text="^"))
        self._raised, self._last_raised = None, (begun, len(self._pieces))

    def add(self, text: str, offset: int) -> None:
        if self._left_out or text == "\xad" or (self._is_spaced and text.isspace()):
            return
        self._is_spaced = text.isspace()
        is_plain = not (self._link or self._where["b"] or self._where["strong"])
        self._pieces.append(_Piece(" " if self._is_spaced else text, offset, is_plain))

    def _end_block(self, offset: int) -> None:
        self._end_link()
        pieces, self._pieces, self._is_spaced, self._raised = self._pieces, [], True, None
        words = "".join(piece.text for piece in pieces).strip()
        if not words:
            return
        while pieces[-1].text == " ":
            pieces.pop()
        is_heading, note = any(self._where[tag] for tag in HEADINGS), self._anchor or "".join(self._within[-1:])
        source = " ".join([words, *(piece.target for piece in pieces if piece.target[:1] not in ("", "#"))])
        item, self._anchor, self._item = self._item or "", "", None
        if is_heading:
            self._is_references = is_list_of_references(words)
            return
        if note:
            self._notes[note].append(source)
        if self._is_references:
            self._lines.append(item + source)
        elif not note and _is_sentence(words, pieces):
            self._write(pieces, "- " if item else "", offset)

    def _write(self, pieces: list[_Piece], item: str, offset: int) -> None:
        self.writer.write(item, pieces[0].offset)
        starts = []
        for piece in pieces:
            starts.append(self.writer.position)
            self.writer.write(piece.text, piece.offset)
            if piece.target.startswith("#"):
                self._cited.append((self.writer.position, piece.target[1:]))
            elif piece.target:
                begun = starts[piece.begun] if piece.begun >= 0 else self.writer.position
                self.writer.point(begun, piece.target, is_citation=piece.begun < 0)
        self.writer.end_block(offset)

    def prose(self) -> Prose:
        prose = self.writer.prose(numbered_entries("\n".join(self._lines)))
        notes = {name: " ".join(" ".join(words).split())[:_LONGEST_TARGET] for name, words in self._notes.items()}
        marks = [Pointer(start, start, notes[name], True) for start, name in self._cited if name in notes]
        return replace(prose, pointers=tuple(sorted([*prose.pointers, *marks])))


def _is_sentence(words: str, pieces: list[_Piece]) -> bool:
    """Whether a block is neither a menu entry nor a heading in all but name."""
    is_long = len(words) > 20 or len(words.split()) > 2
    has_plain = any(piece.is_plain and _LETTER.search(piece.text) for piece in pieces)
    return _STOP.search(words) is not None or (is_long and has_plain)
