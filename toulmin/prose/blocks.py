"""The prose of a document: its sentences, their places in the file, and what they cite.

Headings, code, tables, quotations and front matter are no prose. A comment `toulmin: skip REASON` leaves out the next
block, `toulmin: skip-file REASON` the whole document.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from toulmin.data import Place
from toulmin.text.language import line_starts


class Pointer(NamedTuple):
    """`text[start:end]` points to words that name a source: a path, an address, a title, or an entry with one.

    A citation (footnote, key, number) names the source of a claim; a link does not.
    """

    start: int
    end: int
    target: str
    is_citation: bool


class Skip(NamedTuple):
    """`text[start:end]` is left out of checks, and why."""

    start: int
    end: int
    reason: str


class Remark(NamedTuple):
    """A comment for a place of the document."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """Blocks of sentences, a line each with an empty one between; list items begin with "- ".

    `starts` are pairs of offsets in `text` and `source`; both run alike after each. `entries` are a numbered list of
    references, for marks such as [1].
    """

    text: str
    source: str
    starts: tuple[tuple[int, int], ...] = ((0, 0),)
    pointers: tuple[Pointer, ...] = ()
    skips: tuple[Skip, ...] = ()
    entries: Mapping[int, str] = field(default_factory=dict)

    def place(self, start: int, end: int) -> Place:
        return Place.between(_line_starts(self.source), self._offset(start), self._offset(end - 1) + 1)

    def _offset(self, position: int) -> int:
        begun, offset = self.starts[bisect_right(self.starts, position, key=lambda pair: pair[0]) - 1]
        return min(offset + position - begun, len(self.source))

    def why_skipped(self, start: int, end: int) -> str | None:
        return next((skip.reason for skip in self.skips if skip.start < end and start < skip.end), None)


_line_starts = lru_cache(maxsize=8)(line_starts)


# ---------------------------------------------------------------- what readers share


_COMMENT = re.compile(r"\s*+toulmin:\s*+skip(-file)?\b[\s:,–—-]*+")


def is_skip(comment: str) -> bool:
    """Whether a comment leaves something out."""
    return _COMMENT.match(comment) is not None


class Writer:
    def __init__(self, source: str) -> None:
        self._source = source
        self._parts: list[str] = []
        self.position = 0
        self._starts: list[tuple[int, int]] = []
        self._pointers: list[Pointer] = []
        self._skips: list[Skip] = []
        self._begun = 0  # where the block begins
        self._waiting: str | None = None  # the reason to leave out the next block
        self._all: str | None = None

    def write(self, text: str, offset: int) -> None:
        """`offset` is the first character's place in the source."""
        if text:
            self._starts.append((self.position, offset))
            self._parts.append(text)
            self.position += len(text)

    def point(self, start: int, target: str, *, is_citation: bool) -> None:
        """The text written since `start` points to the target."""
        if target.strip():
            self._pointers.append(Pointer(start, self.position, " ".join(target.split()), is_citation))

    def end_block(self, offset: int) -> None:
        """Ends a block, if one has begun, at that offset."""
        if self.position == self._begun:
            return
        if self._waiting:
            self._skips.append(Skip(self._begun, self.position, self._waiting))
        self._waiting = None
        self.write("\n\n", max(0, offset - 1))
        self._begun = self.position

    def comment(self, words: str) -> None:
        """Reads a comment, without its signs."""
        if match := _COMMENT.match(words):
            reason = " ".join(words[match.end() :].split()) or "no reason is given"
            self._all, self._waiting = (reason, None) if match[1] else (self._all, reason)

    def prose(self, entries: Mapping[int, str] | None = None) -> Prose:
        if self._all:
            self._skips = [Skip(0, self.position, self._all)]
        return Prose(
            "".join(self._parts),
            self._source,
            tuple(self._starts) or ((0, 0),),
            tuple(self._pointers),
            tuple(self._skips),
            numbered_entries(self._source) if entries is None else entries,
        )


_REFERENCES = re.compile(
    r"(?im)^[^\S\n]{0,3}(?:#{1,6}[^\S\n]+)?(?:\*\*)?"
    r"(?:references|sources|citations|bibliography|works cited)(?:\*\*)?:?[^\S\n]*$"
)
_ENTRY = re.compile(r"(?m)^[^\S\n]{0,3}(?:[-*•][^\S\n]+)?(?:\[(\d{1,4})\]:?|(\d{1,4})[.)])[^\S\n]+(.+)$")
_DEFINITION = re.compile(r"(?m)^[^\S\n]{0,3}\[(\d{1,4})\]:[^\S\n]+(.+)$")


def is_list_of_references(heading: str) -> bool:
    return _REFERENCES.fullmatch(heading) is not None


def numbered_entries(source: str) -> dict[int, str]:
    """The entries under the last heading "References" or the like, and definitions such as "[1]: notes.md"."""
    entries = {int(entry[1]): entry[2] for entry in _DEFINITION.finditer(source)}
    heading = max((match.end() for match in _REFERENCES.finditer(source)), default=len(source))
    for entry in _ENTRY.finditer(source, heading):
        entries.setdefault(int(entry[1] or entry[2]), entry[3])
    return entries


# ---------------------------------------------------------------- keys of a bibliography


_KEYS = re.compile(r"(?<!\w)@([\w:.#$%&+?<>~/-]*\w)")
_BIB_ENTRY = re.compile(r"@\w+\s*\{\s*([^,\s{}]+)\s*,(.*?)(?=^\s*@\w+\s*\{|\Z)", re.DOTALL | re.MULTILINE)
_CSL_ID = re.compile(r"(?<![^\s{,])[\"']?id[\"']?\s*:\s*[\"']?([^\s\"',}]+)")
_BIB_FIELD = re.compile(r"\b(?:file|url|title|howpublished|doi)\s*=\s*[{\"]+([^{}\"]+)", re.IGNORECASE)


def keys_in(words: str) -> list[str]:
    """The keys of a Pandoc citation: "@harrison1759, p. 3; @maskelyne"."""
    return _KEYS.findall(words)


def bibliography(text: str) -> dict[str, str]:
    """The fields of BibTeX entries that name a source, by key; "" for keys of CSL's JSON and YAML."""
    entries = {entry[1]: " ; ".join(_BIB_FIELD.findall(entry[2])) for entry in _BIB_ENTRY.finditer(text)}
    return dict.fromkeys(_CSL_ID.findall(text), "") | entries
