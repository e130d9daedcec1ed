"""Cuts a document's text into passages that can be cited.

* A passage is a slice: `document.text[start:end] == passage.text`. Passages do not overlap and hold every word.
* A sentence stays whole unless it is longer than 1.5 passages.
* Cuts are optimised over a million characters: passages near the wanted size, cut before headings, else between
  paragraphs if possible.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from toulmin.data import BELOW, Document, Heading, Passage, Source
from toulmin.text.language import UNSPACED, Span, sentences

# In multiples of the wanted size: the longest passage of several sentences, and the longest record that stays whole.
_LONGEST = 1.5
_LONGEST_RECORD = 3.0

# The cost of a cut, in squares of the wanted size.
_BEFORE_HEADING = -0.09  # a gain, as a passage of two sections gets the name of the first one only
_IN_PARAGRAPH = 0.09
_AFTER_HEADING = 0.25
_IN_SENTENCE = 0.25
_IN_CLAUSE = 0.36

# A run without spaces counts as one word for this many characters, so that passages stay bounded.
_LONGEST_WORD = 60
_MOST_MARKS = 30
_JOINING = ("Mn", "Mc", "Me", "Cf", "Sk")  # Unicode categories of marks
_BLOCK = 1_000_000  # characters

_CLAUSE_END = re.compile(r"[,;:—–][\"'”’»)\]]*\s+|[、，；：]|\n\s*")
_TOKEN = re.compile(rf"{UNSPACED.pattern}|[^\s{UNSPACED.pattern[1:-2]}]+")  # a class: a group takes memory each time
_SPACE = re.compile(r"\s")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
_STATEMENT_END = re.compile(r"[.!…。！।॥。۔][\"'”’»)\]」』】]*$")
# Of a FAQ: a short paragraph that asks, or a line alone with a section's number and no stop.
_QUESTION = re.compile(r"Q[:.]\s|(?:\d+(?:\.\d+)+\.?\s.{,200}[^\s.!…:;]|.{,200}[?？؟][\"'”’»)]*)\s*(?:\n[^\S\n]*\n|\Z)")


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    words: float
    cost: float  # of a cut after it


def cut(document: Document, size: int = 100) -> list[Passage]:
    """The passages of a document in order, of about `size` words each; none for a text without words.

    A record of up to three times `size` stays one passage. In scripts without spaces two characters count as a word.
    Raises `ValueError` for a size below 1.
    """
    if size < 1:
        raise ValueError(f"a passage needs at least 1 word, not {size}")
    text = document.text
    lead, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if lead >= end:
        return []
    whole = size if document.record is None else size * _LONGEST_RECORD
    if len(text) <= whole * _LONGEST_WORD and _count(text) <= whole:
        only = [lead] if len(document.headings) == 1 else []  # a text of several sections belongs to none
        return [_passage(document, lead, end, next(sections(document.headings, document.title, only), ""))]
    spans = [span for start, end in _blocks(text) for span in _spans(document, start, end, size)]
    above = sections(document.headings, document.title, [span.start for span in spans])
    return [_passage(document, *span, section) for span, section in zip(spans, above, strict=True)]


def _blocks(text: str) -> Iterator[Span]:
    # Of one or two `_BLOCK`, between paragraphs if possible, so that a long text takes little memory.
    start = 0
    while len(text) - start > 2 * _BLOCK:
        within = (text, start + _BLOCK, start + 2 * _BLOCK)
        gap = _PARAGRAPH_END.search(*within) or _SPACE.search(*within)
        end = gap.end() if gap else _whole_letter(text, within[2], len(text))
        yield Span(start, end)
        start = end
    yield Span(start, len(text))


def _spans(document: Document, start: int, end: int, size: int) -> Iterator[Span]:
    heads = {heading.start - start for heading in document.headings}
    pieces = _merge_short(_pieces(document.text[start:end], heads, size), size)
    return (Span(start + pieces[a].start, start + pieces[b - 1].end) for a, b in pairwise(_best_cuts(pieces, size)))


def _passage(document: Document, start: int, end: int, section: str) -> Passage:
    place = (document.path, document.url, document.record, page_at(start, document.pages), section)
    source = Source(start, end, *place, metadata=document.metadata)
    return Passage.of(document.text[start:end], document.title, source)


def page_at(place: int, pages: Sequence[int]) -> int | None:
    """`pages` are the offsets at which they begin."""
    return max(1, bisect_right(pages, place)) if pages else None


def sections(headings: Sequence[Heading], title: str, starts: Iterable[int]) -> Iterator[str]:
    """The headings above each place, outermost first, without the title; places ascend."""
    waiting, path = list(reversed(headings)), list[Heading]()
    for start in starts:
        while waiting and waiting[-1].start <= start:
            heading = waiting.pop()
            path = [*(outer for outer in path if outer.level < heading.level), heading]
        yield BELOW.join(heading.words for heading in path if heading.words not in title)


# ---------------------------------------------------------------- counting


def _count(text: str) -> float:
    unspaced = 0 if text.isascii() else sum(map(len, UNSPACED.findall(text)))
    spaced = UNSPACED.sub(" ", text) if unspaced else text
    words = spaced.split()
    if len(spaced) <= _LONGEST_WORD * len(words):
        return unspaced / 2 + len(words)
    return unspaced / 2 + sum(1 + len(word) // _LONGEST_WORD for word in words)


# ---------------------------------------------------------------- pieces


def _pieces(text: str, heads: Set[int], size: int) -> Iterator[_Piece]:
    spans = sentences(text)
    for span, follower in zip(spans, [*(span.start for span in spans[1:]), len(text)], strict=True):
        cost = _cost_after(text, span, follower, heads) * size**2
        words = _count(text[span.start : span.end])
        if words <= _LONGEST * size:
            yield _Piece(*span, words, cost)
        else:
            parts = list(_clauses(text, span, size))
            yield from parts[:-1]
            yield replace(parts[-1], cost=cost)


def _cost_after(text: str, span: Span, follower: int, heads: Set[int]) -> float:
    if span.start in heads:
        return _AFTER_HEADING
    if follower in heads:
        return _BEFORE_HEADING
    if not _PARAGRAPH_END.search(text, span.end, follower):
        return _IN_PARAGRAPH
    if _QUESTION.match(text, follower) and not _QUESTION.match(text, span.start):
        return _BEFORE_HEADING
    is_stated = _STATEMENT_END.search(text, max(span.start, span.end - 8), span.end)
    is_answered = text.startswith(("Q: ", "Q. "), span.start) or text.startswith(("A: ", "A. "), follower)
    is_deeper = _indent(text, follower) > _indent(text, span.start)  # code, or an explanation
    return _AFTER_HEADING if not is_stated or is_answered or is_deeper else 0.0


def _indent(text: str, place: int) -> int:
    before = text[text.rfind("\n", 0, place) + 1 : place]
    return len(before) - len(before.lstrip())


def _clauses(text: str, span: Span, size: int) -> Iterator[_Piece]:
    ends = [match.end() for match in _CLAUSE_END.finditer(text, span.start, span.end)]
    for part in _group(text, span.start, [*ends, span.end], size / 10):
        words = _count(text[part.start : part.end])
        if words <= size:
            yield _Piece(*part, words, _IN_SENTENCE * size**2)
        else:
            yield from _runs(text, part, size)


def _runs(text: str, span: Span, size: int) -> Iterator[_Piece]:
    for part in _group(text, span.start, _token_ends(text, span), size / 5):
        yield _Piece(*part, _count(text[part.start : part.end]), _IN_CLAUSE * size**2)


def _token_ends(text: str, span: Span) -> Iterator[int]:
    for match in _TOKEN.finditer(text, span.start, span.end):
        step = 8 if UNSPACED.match(match[0]) else _LONGEST_WORD
        places = range(match.start() + step, match.end(), step)
        yield from (_whole_letter(text, end, match.end()) for end in places)
        yield match.end()


def _whole_letter(text: str, end: int, limit: int) -> int:
    """The first offset from `end` that separates no letter from its marks. Looks ahead only a little: marks can stack
    without end.
    """
    limit = min(limit, end + _MOST_MARKS)
    while end < limit and (unicodedata.category(text[end]) in _JOINING or text[end - 1] == "\u200d"):
        end += 1
    return end


def _merge_short(pieces: Iterable[_Piece], size: int) -> list[_Piece]:
    merged: list[_Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if last and last.cost > 0 and last.words < size / 10 and last.words + piece.words <= size:
            merged[-1] = _Piece(last.start, piece.end, last.words + piece.words, piece.cost)
        else:
            merged.append(piece)
    return merged


def _group(text: str, start: int, ends: Iterable[int], least: float) -> Iterator[Span]:
    words, last = 0.0, start
    for end in ends:
        words += _count(text[last:end])
        last = end
        if words >= least:
            yield _strip_span(text, start, end)
            start, words = end, 0.0
    if text[start:last].strip():
        yield _strip_span(text, start, last)


def _strip_span(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(end - len(piece.lstrip()), start + len(piece.rstrip()))


# ---------------------------------------------------------------- where to cut


def _best_cuts(pieces: list[_Piece], size: int) -> list[int]:
    """Positions between pieces, from 0 to the last.

    A passage costs the square of its distance from `size` in words, plus the cut after it. Passages over 1.5 times
    `size` are not tried, so time is linear.
    """
    totals = [0.0, *accumulate(piece.words for piece in pieces)]
    costs, before = [0.0], [0]
    for end in range(1, len(pieces) + 1):
        cost, start = min(_choices(totals, costs, end, size))
        costs.append(cost + (pieces[end - 1].cost if end < len(pieces) else 0.0))
        before.append(start)
    cuts = [len(pieces)]
    while cuts[-1]:
        cuts.append(before[cuts[-1]])
    return cuts[::-1]


def _choices(totals: list[float], costs: list[float], end: int, size: int) -> Iterator[tuple[float, int]]:
    for start in range(end - 1, -1, -1):
        words = totals[end] - totals[start]
        if words > _LONGEST * size and start < end - 1:
            return
        yield costs[start] + (words - size) ** 2, start
