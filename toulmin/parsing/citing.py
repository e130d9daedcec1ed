"""Between text with marks and claims with citations: the reverse of `toulmin.data.render`.

A mark belongs to the sentence that holds it or that it follows; one that opens a paragraph or item belongs to what
it opens. Labels that were not offered are counted and dropped.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from toulmin.data import Claim, Passage, Style
from toulmin.parsing.entities import _HAS_WORDS, entities
from toulmin.parsing.labels import Labels, build_claim, read_labels, resolve_labels
from toulmin.parsing.lines import Block, blocks, list_items, without_emphasis, without_references
from toulmin.parsing.marks import LabelRange, Lifted, Placed, lift
from toulmin.text.language import sentences

__all__ = ["Draft", "Labels", "list_items", "read_draft", "read_labels", "without_marks"]

_ANSWER = re.compile(r"\s*(?:\*\*)?(?:final |the )?answer(?:\*\*)?\s?:(?:\*\*)?(?=\s|$)", re.IGNORECASE)
_STOP = re.compile(r"[.!?…。！？]+[\"'”’»)]*(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Draft:
    """The claims of a reply; `invalid` counts labels that were not offered. No claims: an abstention."""

    claims: tuple[Claim, ...] = ()
    invalid: int = 0


def without_marks(text: str) -> str:
    """The text without citation marks; an escaped mark loses its backslash."""
    return lift(text).text


class Sentence(NamedTuple):
    """A sentence without its marks; `cites`: it had some, `is_item`: it is in a list item."""

    words: str
    cites: bool
    is_item: bool


class _Piece(NamedTuple):
    start: int
    end: int
    block: Block
    section: str | None = None


def read_draft(
    text: str, offered: Sequence[Passage], style: Style, is_no_claim: Callable[[Sentence], bool] | None = None
) -> Draft:
    """The claims of a text whose marks count the `offered` passages from 1. Never raises.

    They are the sentences (`long`, `report`, where Markdown headings become sections), the first one (`short`), or
    the entities of a list, without lists of references and sentences for which `is_no_claim` is true.
    """
    lifted = _after_lead(lift(without_references(text), len(offered)))
    invalid = resolve_labels((label for mark in lifted.marks for label in mark.labels), offered).invalid
    if is_no_claim is not None:
        lifted = _blank_out(is_no_claim, lifted, style)
    claims = entities(lifted, offered) if style == "list" else _statements(lifted, offered, style)
    return Draft(claims[:1] if style == "short" else claims, invalid)


def _after_lead(lifted: Lifted) -> Lifted:
    lead = _ANSWER.match(lifted.text)
    if lead is None:
        return lifted
    return Lifted(" " * lead.end() + lifted.text[lead.end() :], lifted.marks)


def _blank_out(is_no_claim: Callable[[Sentence], bool], lifted: Lifted, style: Style) -> Lifted:
    """Blanks those sentences, so that positions stay valid, and drops their marks."""
    parts = blocks(lifted.text)
    pieces = list(_sentences_of(lifted, parts, style))
    owners = _owners(lifted.marks, pieces, parts)
    citing = frozenset(owners)
    candidates = (Sentence(lifted.text[p.start : p.end], i in citing, p.block.is_item) for i, p in enumerate(pieces))
    passed = {i for i, sentence in enumerate(candidates) if is_no_claim(sentence)}
    text, at = [], 0
    for piece in (pieces[i] for i in sorted(passed)):
        text += [lifted.text[at : piece.start], re.sub(r"[^\n]", " ", lifted.text[piece.start : piece.end])]
        at = piece.end
    marks = (mark for mark, owner in zip(lifted.marks, owners, strict=True) if owner not in passed)
    return Lifted("".join([*text, lifted.text[at:]]), tuple(marks))


def _statements(lifted: Lifted, offered: Sequence[Passage], style: Style) -> tuple[Claim, ...]:
    parts = blocks(lifted.text)
    spoken = _sentences_of(lifted, parts, style)
    pieces = [piece for piece in spoken if _HAS_WORDS.search(lifted.text, piece.start, piece.end)]
    named: list[list[LabelRange]] = [[] for _ in pieces]
    for mark, owner in zip(lifted.marks, _owners(lifted.marks, pieces, parts), strict=True):
        if pieces:
            named[owner].extend(mark.labels)
    return tuple(
        build_claim(lifted.text[piece.start : piece.end], labels, offered, piece.section)
        for piece, labels in zip(pieces, named, strict=True)
    )


def _sentences_of(lifted: Lifted, parts: Sequence[Block], style: Style) -> Iterator[_Piece]:
    """Outside headings; a short answer may be a heading, and one with a mark is a sentence."""
    text, section = lifted.text, None
    positions = [mark.position for mark in lifted.marks]
    for block in parts:
        inside = positions[bisect_left(positions, block.line) : bisect_right(positions, block.end)]
        if block.is_heading and style != "short" and not inside:
            words = without_emphasis(text[block.start : block.end])
            section = " ".join(words.split()) if style == "report" else None
            continue
        for start, end in pairwise(_cuts(text, block, inside)):
            for span in sentences(text[start:end]):
                yield _Piece(start + span.start, start + span.end, block, section)


def _cuts(text: str, block: Block, marks: Sequence[int]) -> list[int]:
    """The ends of a block, and stops right after its marks ("Acme Inc [1]. Thorp")."""
    stops = (_STOP.match(text, mark, block.end) for mark in marks if mark > block.start)
    return [block.start, *(stop.end() for stop in stops if stop), block.end]


def _owners(marks: Sequence[Placed], pieces: Sequence[_Piece], parts: Sequence[Block]) -> list[int]:
    starts = [piece.start for piece in pieces]
    opened = _blocks_led_by_marks(marks, parts)
    following = [bisect_left(starts, mark.position) for mark in marks]
    return [
        next_ if pieces and _points_ahead(mark, pieces, next_, opened) else next_ - 1
        for mark, next_ in zip(marks, following, strict=True)
    ]


def _points_ahead(mark: Placed, pieces: Sequence[_Piece], following: int, opened: frozenset[Block]) -> bool:
    if following == 0:
        return True
    if following == len(pieces) or mark.position < pieces[following - 1].end:
        return False
    block = pieces[following].block
    return block in opened and block.line <= mark.position


def _blocks_led_by_marks(marks: Sequence[Placed], parts: Sequence[Block]) -> frozenset[Block]:
    """Blocks such as "[1] One. [2] Two.", where marks precede their sentences."""
    positions = [mark.position for mark in marks]
    first = ((block, bisect_left(positions, block.line)) for block in parts)
    return frozenset(block for block, i in first if i < len(positions) and positions[i] <= block.start)
