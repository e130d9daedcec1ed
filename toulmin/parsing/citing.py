"""Reads text with marks as claims with citations: the reverse of `toulmin.data.render`.

A mark belongs to the sentence that contains or precedes it; at the start of a paragraph or item, to the sentence that
follows. Labels that were not offered are counted and dropped.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from toulmin.data import Citation, Claim, Passage, Style
from toulmin.parsing.lines import Block, Line, blocks, has_words, without_emphasis, without_preamble, without_references
from toulmin.parsing.marks import PASSAGE_NUMBERS, Find, LabelRange, MarkPosition, PlainText, find_marks, framed, lift
from toulmin.text.language import sentences

# ---------------------------------------------------------------- from labels to the passages offered


# Of a range wider than this that exceeds what was offered ("[1-999999]"), only the ends are read.
_WIDEST_RANGE = 100

_BARE = re.compile(r"(?:[\W\d]|\band\b)++")
_NUMBER = re.compile(r"\d+(?:\s?[–-]\s?\d+)?")
_CLAUSE_END = re.compile(r"(?<=[.;!?。])\s+|,?\s\b(?:while|whereas|but|although|though|however)\b")
_DENIES = re.compile(
    r"\b(?:do|does|did)(?: not|n['’]t) (?:\w{2,12}ly )?(?:support|mention|contain|address|confirm|state|back"
    r"|provide|say)"
    r"|\bnone of (?:the|these)\b|\bneither\b|\bnot (?:\w{2,12}ly )?(?:support|relevant|related)|\birrelevant\b"
    r"|\bunrelated\b|\bno (?:passage|document|source)s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Labels:
    """Ids of cited passages, in order, each once; `invalid` counts labels that were not offered."""

    ids: tuple[str, ...] = ()
    invalid: int = 0


def read_labels(text: str, offered: Sequence[Passage]) -> Labels:
    """The passages named as support: by marks, else by "passages 1 and 3", else by bare numbers.

    Clauses that deny support ("but [1] does not mention it") are skipped.
    """
    assertions = "\n".join(clause for clause in _CLAUSE_END.split(text) if not _DENIES.search(clause))
    labels = [label for mark in find_marks(assertions, len(offered)) for label in mark.labels]
    return resolve_labels(labels or list(_labels_in_words(assertions, len(offered))), offered)


def _labels_in_words(text: str, offered: int) -> Iterator[LabelRange]:
    runs = [", ".join(_NUMBER.findall(text))] if _BARE.fullmatch(text) else PASSAGE_NUMBERS.findall(text)
    for run in runs:
        for mark in find_marks(f"[{run}]", offered):
            yield from mark.labels


def resolve_labels(labels: Iterable[LabelRange], offered: Sequence[Passage]) -> Labels:
    ids: dict[str, None] = {}
    invalid, seen = 0, set()
    for label in labels:
        named, beyond = _expand(label, len(offered))
        invalid += beyond
        if label not in seen:
            seen.add(label)
            ids.update((offered[n - 1].id, None) for n in named)
    return Labels(tuple(ids), invalid)


def _expand(label: LabelRange, offered: int) -> tuple[Sequence[int], int]:
    first, last = label
    is_slip = last < first or (last > offered and last - first > _WIDEST_RANGE)
    if is_slip:
        ends = [n for n in (first, last) if 1 <= n <= offered]
        return ends, 2 - len(ends)
    named = range(max(first, 1), min(last, offered) + 1)
    return named, last - first + 1 - len(named)


def with_citations(claim: Claim, ids: Iterable[str]) -> Claim:
    """Cites these passages alone, each once."""
    return replace(claim, citations=tuple(map(Citation, dict.fromkeys(ids))))


def build_claim(words: str, labels: Sequence[LabelRange], offered: Sequence[Passage], section: str | None) -> Claim:
    ids = resolve_labels(labels, offered).ids
    return Claim(" ".join(without_emphasis(words).split()), tuple(Citation(id) for id in ids), section=section)


# ---------------------------------------------------------------- the entities of a list answer


_ENTITY = re.compile(
    r"\s*(?:\"(?P<straight>(?:[^\"\n]|\"\"){1,300})\"\s*\.?\s*|“(?P<curly>[^”\n]{1,300})”\s*\.?\s*"
    r"|(?P<plain>(?:[^,，、]|(?<=\d),(?=\d{3}(?!\d)))*+))(?:[,，、]|$)"
)
_ANNOUNCED = re.compile(r"\s*(?:here (?:are|is)|the following|the answers?)\b[^:,\n]{0,120}:\s", re.IGNORECASE)
_LAST_AND = re.compile(r"^\s*(?:and|or|&)\s+(?=\S)")
_ABBREVIATION = re.compile(r"(?:\b\w\.){2}$")


class _Entity(NamedTuple):
    """Marks between `share` and the next entity's belong to this one."""

    share: int
    words: str
    is_quoted: bool = False


def entities(lifted: PlainText, offered: Sequence[Passage]) -> tuple[Claim, ...]:
    pieces = [piece for piece in _entity_pieces(lifted) if has_words(piece.words)]
    shares = [piece.share for piece in pieces]
    named: list[list[LabelRange]] = [[] for _ in pieces]
    for mark in lifted.marks if pieces else ():
        named[max(0, bisect_right(shares, mark.position) - 1)].extend(mark.labels)
    return merge_entities(((piece.words, labels) for piece, labels in zip(pieces, named, strict=True)), offered)


def merge_entities(named: Iterable[tuple[str, Sequence[LabelRange]]], offered: Sequence[Passage]) -> tuple[Claim, ...]:
    """A repeated entity adds its citations to the first."""
    merged: dict[str, tuple[str, list[LabelRange]]] = {}
    for entity, labels in named:
        words = " ".join(entity.split())
        if has_words(words):
            merged.setdefault(words.casefold(), (words, []))[1].extend(labels)
    return tuple(build_claim(words, labels, offered, None) for words, labels in merged.values())


def _entity_pieces(lifted: PlainText) -> Iterator[_Entity]:
    text = lifted.text
    lines = without_preamble(text)
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


# ---------------------------------------------------------------- drafts


_ANSWER = re.compile(r"\s*(?:\*\*)?(?:final |the )?answer(?:\*\*)?\s?:(?:\*\*)?(?=\s|$)", re.IGNORECASE)
_STOP = re.compile(r"[.!?…。！？]+[\"'”’»)]*(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Draft:
    """The claims of a reply; none is an abstention. `invalid` counts labels that were not offered.

    Per claim, except in a list: `strays`, the numbers in its marks that no passage has, and `spans`, its offsets in the
    reply.
    """

    claims: tuple[Claim, ...] = ()
    invalid: int = 0
    strays: tuple[tuple[int, ...], ...] = field(default=(), compare=False)
    spans: tuple[tuple[int, int], ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)  # for whoever reads the answer


def without_marks(text: str) -> str:
    """Unescapes escaped marks too."""
    return lift(text).text


class Sentence(NamedTuple):
    """A sentence without its marks; `cites`: it had some."""

    words: str
    cites: bool
    is_item: bool


_Filter = Callable[[Sentence], bool]


class _Piece(NamedTuple):
    start: int
    end: int
    block: Block
    section: str | None = None


def read_draft(
    text: str, offered: Sequence[Passage], style: Style, is_no_claim: _Filter | None = None, find: Find = find_marks
) -> Draft:
    """The claims of a text whose marks count the `offered` passages from 1. Never raises.

    These are its sentences (`long`; in a `report` Markdown headings become sections), the first one (`short`), or its
    entities (`list`). Lists of references and sentences for which `is_no_claim` is true are left out.
    """
    lifted = _after_lead(lift(without_references(text), len(offered), find))
    invalid = resolve_labels((label for mark in lifted.marks for label in mark.labels), offered).invalid
    if is_no_claim is not None:
        lifted = _blank_out(is_no_claim, lifted, style)
    if style == "list":
        return Draft(entities(lifted, offered), invalid)
    labelled = _labelled_sentences(lifted, style)[: 1 if style == "short" else None]
    strays = ((n for label in labels for n in label if not 1 <= n <= len(offered)) for _, labels in labelled)
    return Draft(
        tuple(build_claim(lifted.text[p.start : p.end], labels, offered, p.section) for p, labels in labelled),
        invalid,
        tuple(tuple(dict.fromkeys(numbers)) for numbers in strays),
        tuple(lifted.span(piece.start, piece.end) for piece, _ in labelled),
    )


def with_citations_in_words(draft: Draft, offered: Sequence[Passage]) -> Draft:
    """Adds citations for words such as "The second passage says that ..."; the texts stay."""
    named = [resolve_labels(framed(claim.text).labels if offered else (), offered) for claim in draft.claims]
    pairs = zip(draft.claims, named, strict=True)
    claims = tuple(with_citations(claim, (*claim.cited, *each.ids)) for claim, each in pairs)
    return replace(draft, claims=claims, invalid=draft.invalid + sum(each.invalid for each in named))


def _after_lead(lifted: PlainText) -> PlainText:
    lead = _ANSWER.match(lifted.text)
    return lifted._replace(text=" " * lead.end() + lifted.text[lead.end() :]) if lead else lifted


def _blank_out(is_no_claim: _Filter, lifted: PlainText, style: Style) -> PlainText:
    """Spaces for these sentences, so that positions stay valid; drops their marks."""
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
    return lifted._replace(text="".join([*text, lifted.text[at:]]), marks=tuple(marks))


def _labelled_sentences(lifted: PlainText, style: Style) -> list[tuple[_Piece, list[LabelRange]]]:
    parts = blocks(lifted.text)
    spoken = _sentences_of(lifted, parts, style)
    pieces = [piece for piece in spoken if has_words(lifted.text[piece.start : piece.end])]
    named: list[list[LabelRange]] = [[] for _ in pieces]
    for mark, owner in zip(lifted.marks, _owners(lifted.marks, pieces, parts), strict=True):
        if pieces:
            named[owner].extend(mark.labels)
    return list(zip(pieces, named, strict=True))


def _sentences_of(lifted: PlainText, parts: Sequence[Block], style: Style) -> Iterator[_Piece]:
    """Skips headings, except in a short answer and with a mark."""
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
    """Cuts at stops right after marks too ("Acme Inc [1]. Thorp")."""
    stops = (_STOP.match(text, mark, block.end) for mark in marks if mark > block.start)
    return [block.start, *(stop.end() for stop in stops if stop), block.end]


def _owners(marks: Sequence[MarkPosition], pieces: Sequence[_Piece], parts: Sequence[Block]) -> list[int]:
    starts, positions = [piece.start for piece in pieces], [mark.position for mark in marks]
    # Blocks such as "[1] One. [2] Two.", where marks precede their sentences.
    first = ((block, bisect_left(positions, block.line)) for block in parts)
    opened = frozenset(block for block, i in first if i < len(positions) and positions[i] <= block.start)
    following = [bisect_left(starts, position) for position in positions]
    return [
        next_ if pieces and _points_ahead(mark, pieces, next_, opened) else next_ - 1
        for mark, next_ in zip(marks, following, strict=True)
    ]


def _points_ahead(mark: MarkPosition, pieces: Sequence[_Piece], following: int, opened: frozenset[Block]) -> bool:
    if following == 0:
        return True
    if following == len(pieces) or mark.position < pieces[following - 1].end:
        return False
    block = pieces[following].block
    return block in opened and block.line <= mark.position
