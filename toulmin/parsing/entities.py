"""The entities of a list answer."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from toulmin.data import Claim, Passage
from toulmin.parsing.labels import build_claim
from toulmin.parsing.lines import Line, read_lines, without_preamble
from toulmin.parsing.marks import LabelRange, Lifted

_HAS_WORDS = re.compile(r"[^\W_]")
_ENTITY = re.compile(
    r"\s*(?:\"(?P<straight>(?:[^\"\n]|\"\"){1,300})\"\s*\.?\s*|“(?P<curly>[^”\n]{1,300})”\s*\.?\s*"
    r"|(?P<plain>(?:[^,，、]|(?<=\d),(?=\d{3}(?!\d)))*+))(?:[,，、]|$)"
)
_ANNOUNCED = re.compile(r"\s*(?:here (?:are|is)|the following|the answers?)\b[^:,\n]{0,120}:\s", re.IGNORECASE)
_LAST_AND = re.compile(r"^\s*(?:and|or|&)\s+(?=\S)")
_ABBREVIATION = re.compile(r"(?:\b\w\.){2,}$")


class _Entity(NamedTuple):
    """What lies between `share` and the next entity's belongs to this one."""

    share: int
    words: str
    is_quoted: bool = False


def entities(lifted: Lifted, offered: Sequence[Passage]) -> tuple[Claim, ...]:
    """The distinct entities of a list; a repeated one adds its citations to the first."""
    pieces = [piece for piece in _entity_pieces(lifted) if _HAS_WORDS.search(piece.words)]
    shares = [piece.share for piece in pieces]
    named: list[list[LabelRange]] = [[] for _ in pieces]
    for mark in lifted.marks if pieces else ():
        named[max(0, bisect_right(shares, mark.position) - 1)].extend(mark.labels)
    merged: dict[str, tuple[str, list[LabelRange]]] = {}
    for piece, labels in zip(pieces, named, strict=True):
        words = " ".join(piece.words.split())
        merged.setdefault(words.casefold(), (words, []))[1].extend(labels)
    return tuple(build_claim(words, labels, offered, None) for words, labels in merged.values())


def _entity_pieces(lifted: Lifted) -> Iterator[_Entity]:
    text = lifted.text
    lines = without_preamble(text, list(read_lines(text)))
    is_list = sum(line.kind != "plain" for line in lines) > 1
    marked_ends = {mark.position for mark in lifted.marks}
    for line in lines:
        if is_list and line.kind != "plain":
            pieces = [_Entity(line.line, text[line.start : line.end])]
        else:
            pieces = _cut_at_commas(text, line)
        yield from pieces[:-1]
        yield pieces[-1] if line.end in marked_ends else _without_stop(pieces[-1])


def _cut_at_commas(text: str, line: Line) -> list[_Entity]:
    announced = _ANNOUNCED.match(text, line.start, line.end)
    start = announced.end() if announced else line.start
    pieces: list[_Entity] = []
    while (entity := _ENTITY.match(text, start, line.end)) and (start < line.end or not pieces):
        quoted = (entity["straight"] or "").replace('""', '"') or entity["curly"]
        pieces.append(_Entity(start, quoted or entity["plain"], bool(quoted)))
        start = entity.end()
    if len(pieces) > 1 and not pieces[-1].is_quoted:
        pieces[-1] = pieces[-1]._replace(words=_LAST_AND.sub("", pieces[-1].words, count=1))
    return [pieces[0]._replace(share=line.line), *pieces[1:]]


def _without_stop(entity: _Entity) -> _Entity:
    words = entity.words.rstrip()
    if entity.is_quoted or _ABBREVIATION.search(words):
        return entity
    return entity._replace(words=words.removesuffix("."))
