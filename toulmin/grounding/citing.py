"""Between text with marks and claims with citations.

`toulmin.data.render` writes claims as text; here such text, and whatever a language model writes in its place, becomes
claims again. A mark belongs to the sentence in which it stands or that it follows; one that opens a paragraph or an
item belongs to what it opens. Labels are mapped to passage ids at once; a label that nobody offered is counted and
points nowhere. `marks` says which forms count.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from toulmin.data import Citation, Claim, Passage, Style
from toulmin.grounding.lines import (
    Block,
    Line,
    blocks,
    list_items,
    read_lines,
    without_bold,
    without_preamble,
    without_references,
)
from toulmin.grounding.marks import LabelRange, Lifted, Placed, find_marks, lift
from toulmin.language import sentences

__all__ = ["Draft", "Labels", "list_items", "read_draft", "read_labels", "without_marks"]

# A range wider than this that leaves what was offered ("[1-999999]") is a slip of the pen: only its ends are read.
_WIDEST_RANGE = 100

_ANSWER = re.compile(r"\s*(?:\*\*)?(?:final |the )?answer(?:\*\*)?\s?:(?:\*\*)?(?=\s|$)", re.IGNORECASE)
_HAS_WORDS = re.compile(r"[^\W_]")
_STOP = re.compile(r"[.!?…。！？]+[\"'”’»)]*(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Draft:
    """The claims that a reply holds; `invalid` counts the labels that nobody offered. No claims: an abstention."""

    claims: tuple[Claim, ...] = ()
    invalid: int = 0


@dataclass(frozen=True, slots=True)
class Labels:
    """Cited passages by id, in the order named, each once; `invalid` counts labels that nobody offered."""

    ids: tuple[str, ...] = ()
    invalid: int = 0


def without_marks(text: str) -> str:
    """The text without citation marks; an escaped mark (`\\[3]`) becomes the text that it stands for."""
    return lift(text).text


# ---------------------------------------------------------------- labels

_NAMED = re.compile(
    r"\b(?:document|doc|passage|source|reference)s?\s*[#:]?\s*((?:\d+\s*(?:[,;&–-]|\band\b)?\s*)+)", re.IGNORECASE
)
_BARE = re.compile(r"\W*((?:\d+\s*(?:[,;&–-]|\band\b)?\s*)+)[\s.]*", re.IGNORECASE)


def read_labels(text: str, offered: Sequence[Passage]) -> Labels:
    """The passages that a reply names: by marks; where it has none, by "passages 1 and 3"; else as bare numbers."""
    found = [label for mark in find_marks(text, len(offered)) for label in mark.labels]
    return _resolved(found or list(_spoken_labels(text, len(offered))), offered)


def _spoken_labels(text: str, offered: int) -> Iterator[LabelRange]:
    bare = _BARE.fullmatch(text)
    for run in [bare[1]] if bare else _NAMED.findall(text):
        for mark in find_marks(f"[{run.strip(' ,;&–-')}]", offered):
            yield from mark.labels


def _resolved(labels: Iterable[LabelRange], offered: Sequence[Passage]) -> Labels:
    ids: dict[str, None] = {}
    invalid, seen = 0, set()
    for label in labels:
        named, beyond = _expanded(label, len(offered))
        invalid += beyond
        if label not in seen:
            seen.add(label)
            ids.update((offered[n - 1].id, None) for n in named)
    return Labels(tuple(ids), invalid)


def _expanded(label: LabelRange, offered: int) -> tuple[Sequence[int], int]:
    """The labels of a range that were offered, and how many were not."""
    first, last = label
    is_slip = last < first or (last > offered and last - first > _WIDEST_RANGE)
    if is_slip:
        ends = [n for n in (first, last) if 1 <= n <= offered]
        return ends, 2 - len(ends)
    named = range(max(first, 1), min(last, offered) + 1)
    return named, last - first + 1 - len(named)


# ---------------------------------------------------------------- drafts


class _Piece(NamedTuple):
    """Part of a reply that makes a claim: a range of the text without marks."""

    start: int
    end: int
    block: Block
    section: str | None = None


def read_draft(text: str, offered: Sequence[Passage], style: Style) -> Draft:
    """The claims of a reply whose marks count the `offered` passages from 1.

    Sentences become claims (`long`, `report`; a report's Markdown headings become sections), or the first sentence
    (`short`), or the entities of a list. Pieces without a word are no claims, and neither is a list of references below
    the text. Never raises for odd text.
    """
    lifted = _after_lead(lift(without_references(text), len(offered)))
    invalid = _resolved((label for mark in lifted.marks for label in mark.labels), offered).invalid
    claims = _entities(lifted, offered) if style == "list" else _statements(lifted, offered, style)
    return Draft(claims[:1] if style == "short" else claims, invalid)


def _after_lead(lifted: Lifted) -> Lifted:
    """The reply without a repeated "Answer:" at its head, which is blanked so that positions hold."""
    lead = _ANSWER.match(lifted.text)
    if lead is None:
        return lifted
    return Lifted(" " * lead.end() + lifted.text[lead.end() :], lifted.marks)


def _statements(lifted: Lifted, offered: Sequence[Passage], style: Style) -> tuple[Claim, ...]:
    found = blocks(lifted.text)
    spoken = _sentences_of(lifted, found, style)
    pieces = [piece for piece in spoken if _HAS_WORDS.search(lifted.text, piece.start, piece.end)]
    named = _by_owner(lifted.marks, pieces, found)
    return tuple(
        _claim(lifted.text[piece.start : piece.end], labels, offered, piece.section)
        for piece, labels in zip(pieces, named, strict=True)
    )


def _claim(words: str, labels: Sequence[LabelRange], offered: Sequence[Passage], section: str | None) -> Claim:
    ids = _resolved(labels, offered).ids
    return Claim(" ".join(without_bold(words).split()), tuple(Citation(id) for id in ids), section=section)


def _sentences_of(lifted: Lifted, found: Sequence[Block], style: Style) -> Iterator[_Piece]:
    """The sentences outside headings; a short answer may be a heading, and what carries a mark is none."""
    text, section = lifted.text, None
    positions = [mark.position for mark in lifted.marks]
    for block in found:
        inside = positions[bisect_left(positions, block.line) : bisect_right(positions, block.end)]
        if block.is_heading and style != "short" and not inside:
            words = without_bold(text[block.start : block.end])
            section = " ".join(words.split()) if style == "report" else None
            continue
        for start, end in pairwise(_cuts(text, block, inside)):
            for span in sentences(text[start:end]):
                yield _Piece(start + span.start, start + span.end, block, section)


def _cuts(text: str, block: Block, marks: Sequence[int]) -> list[int]:
    """The ends of a block, and the stops right after its marks: "Acme Inc [1]. Thorp" is two sentences for sure."""
    stops = (_STOP.match(text, mark, block.end) for mark in marks if mark > block.start)
    return [block.start, *(stop.end() for stop in stops if stop), block.end]


def _by_owner(marks: Sequence[Placed], pieces: Sequence[_Piece], found: Sequence[Block]) -> list[list[LabelRange]]:
    """The labels of each piece."""
    named: list[list[LabelRange]] = [[] for _ in pieces]
    starts = [piece.start for piece in pieces]
    opened = _opened_by_marks(marks, found)
    for mark in marks if pieces else ():
        following = bisect_left(starts, mark.position)
        owner = following if _points_ahead(mark, pieces, following, opened) else following - 1
        named[owner].extend(mark.labels)
    return named


def _points_ahead(mark: Placed, pieces: Sequence[_Piece], following: int, opened: frozenset[Block]) -> bool:
    """Whether a mark belongs to the piece that follows, as in a block that opens with a mark."""
    if following == 0:
        return True
    if following == len(pieces) or mark.position < pieces[following - 1].end:
        return False
    block = pieces[following].block
    return block in opened and block.line <= mark.position


def _opened_by_marks(marks: Sequence[Placed], found: Sequence[Block]) -> frozenset[Block]:
    """The blocks that open with a mark ("[1] One. [2] Two."): there, marks stand before their sentences."""
    positions = [mark.position for mark in marks]
    first = ((block, bisect_left(positions, block.line)) for block in found)
    return frozenset(block for block, i in first if i < len(positions) and positions[i] <= block.start)


# ---------------------------------------------------------------- lists

_ENTITY = re.compile(
    r"\s*(?:\"(?P<straight>(?:[^\"\n]|\"\"){1,300})\"\s*\.?\s*|“(?P<curly>[^”\n]{1,300})”\s*\.?\s*"
    r"|(?P<plain>(?:[^,，、]|(?<=\d),(?=\d{3}(?!\d)))*+))(?:[,，、]|$)"
)
_ANNOUNCED = re.compile(r"\s*(?:here (?:are|is)|the following|the answers?)\b[^:,\n]{0,120}:\s", re.IGNORECASE)
_LAST_AND = re.compile(r"^\s*(?:and|or|&)\s+(?=\S)")
_ABBREVIATION = re.compile(r"(?:\b\w\.){2,}$")


class _Entity(NamedTuple):
    """An entity's words; what stands from `share` on, up to the next share, belongs to it."""

    share: int
    words: str
    is_quoted: bool = False


def _entities(lifted: Lifted, offered: Sequence[Passage]) -> tuple[Claim, ...]:
    """The distinct entities of a list; a second mention only adds its citations to the first."""
    pieces = [piece for piece in _entity_pieces(lifted) if _HAS_WORDS.search(piece.words)]
    shares = [piece.share for piece in pieces]
    named: list[list[LabelRange]] = [[] for _ in pieces]
    for mark in lifted.marks if pieces else ():
        named[max(0, bisect_right(shares, mark.position) - 1)].extend(mark.labels)
    merged: dict[str, tuple[str, list[LabelRange]]] = {}
    for piece, labels in zip(pieces, named, strict=True):
        words = " ".join(piece.words.split())
        merged.setdefault(words.casefold(), (words, []))[1].extend(labels)
    return tuple(_claim(words, labels, offered, None) for words, labels in merged.values())


def _entity_pieces(lifted: Lifted) -> Iterator[_Entity]:
    """A line of a marked list is one entity; any other line is cut at its commas."""
    text = lifted.text
    lines = without_preamble(text, list(read_lines(text)))
    is_list = sum(line.kind != "plain" for line in lines) > 1
    marked_ends = {mark.position for mark in lifted.marks}
    for line in lines:
        if is_list and line.kind != "plain":
            found = [_Entity(line.line, text[line.start : line.end])]
        else:
            found = _cut_at_commas(text, line)
        yield from found[:-1]
        yield found[-1] if line.end in marked_ends else _without_stop(found[-1])


def _cut_at_commas(text: str, line: Line) -> list[_Entity]:
    announced = _ANNOUNCED.match(text, line.start, line.end)
    start = announced.end() if announced else line.start
    found: list[_Entity] = []
    while (entity := _ENTITY.match(text, start, line.end)) and (start < line.end or not found):
        quoted = (entity["straight"] or "").replace('""', '"') or entity["curly"]
        found.append(_Entity(start, quoted or entity["plain"], bool(quoted)))
        start = entity.end()
    if len(found) > 1 and not found[-1].is_quoted:
        found[-1] = found[-1]._replace(words=_LAST_AND.sub("", found[-1].words, count=1))
    return [found[0]._replace(share=line.line), *found[1:]]


def _without_stop(entity: _Entity) -> _Entity:
    """The entity without the full stop that ends a reply; an abbreviation keeps its own."""
    words = entity.words.rstrip()
    if entity.is_quoted or _ABBREVIATION.search(words):
        return entity
    return entity._replace(words=words.removesuffix("."))
