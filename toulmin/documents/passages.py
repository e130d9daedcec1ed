"""A document's text, cut into passages that can be cited.

* A passage is a stretch of the stored text: `document.text[start:end] == passage.text`. Passages follow one another
  without overlap and together hold every word.
* A sentence stays whole unless it alone is longer than half as much again as a passage should be.
* Where to cut is one optimisation over the whole document, not a decision at each step: passages as near to the
  wanted size as they can be, cut between paragraphs rather than within one. So no small rest stays at an end.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from toulmin.data import Document, Passage, Source
from toulmin.text.language import UNSPACED, Span, sentences

# In parts of the wanted size: the longest passage of several sentences, and the longest record that stays whole.
_LONGEST = 1.5
_LONGEST_RECORD = 3.0

# What a cut costs, as if each of the two passages beside it were off by this part of the wanted size.
_IN_PARAGRAPH = 0.3
_AFTER_HEADING = 0.5
_IN_SENTENCE = 0.5
_IN_CLAUSE = 0.6

# A run without spaces counts as a word for each of so many characters, so that no passage grows without bound.
_LONGEST_WORD = 60
_MOST_MARKS = 30

_CLAUSE_END = re.compile(r"[,;:—–][\"'”’»)\]]*\s+|[、，；：]|\n\s*")
_TOKEN = re.compile(rf"{UNSPACED.pattern}|(?:(?!{UNSPACED.pattern})\S)+")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
_SENTENCE_END = re.compile(r"[.!?…。！？।॥。؟۔][\"'”’»)\]」』】]*$")

Count = Callable[[str], float]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of text that is not cut further; `penalty` is what a cut after it costs."""

    start: int
    end: int
    words: float
    penalty: float


def cut(document: Document, size: int = 100) -> list[Passage]:
    """The passages of a document in order, of about `size` words each; none for a text without words.

    A record of a record file stays one passage up to three times `size`. In scripts that do not space their words
    two characters count as a word. Raises ValueError for a size below 1.
    """
    if size < 1:
        raise ValueError(f"a passage needs at least 1 word, not {size}")
    text = document.text
    lead, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if lead >= end:
        return []
    count = _count_spaced if text.isascii() or not UNSPACED.search(text) else _count_mixed
    whole = size if document.record is None else size * _LONGEST_RECORD
    if _fits(text, whole, count):
        return [_passage(document, lead, end)]
    pieces = list(_merged(_pieces(text, size, count), size))
    return [_passage(document, pieces[a].start, pieces[b - 1].end) for a, b in pairwise(_best_cuts(pieces, size))]


def _passage(document: Document, start: int, end: int) -> Passage:
    page = max(1, bisect_right(document.pages, start)) if document.pages else None
    source = Source(start, end, document.path, document.url, document.record, page)
    return Passage.of(document.text[start:end], document.title, source)


# ---------------------------------------------------------------- counting


def _count_spaced(text: str) -> float:
    words = text.split()
    if len(text) <= _LONGEST_WORD * len(words):
        return len(words)
    return sum(1 + len(word) // _LONGEST_WORD for word in words)


def _count_mixed(text: str) -> float:
    unspaced = sum(len(run) for run in UNSPACED.findall(text))
    return unspaced / 2 + _count_spaced(UNSPACED.sub(" ", text))


def _fits(text: str, longest: float, count: Count) -> bool:
    """Whether the text is within `longest` words; long texts are not counted to the end."""
    return len(text) <= longest * _LONGEST_WORD and count(text) <= longest


# ---------------------------------------------------------------- pieces


def _pieces(text: str, size: int, count: Count) -> Iterator[_Piece]:
    """Whole sentences, and the parts of sentences that are too long, each with what follows it in mind."""
    spans = sentences(text)
    followers = [span.start for span in spans[1:]] + [len(text)]
    for span, follower in zip(spans, followers, strict=True):
        penalty = _penalty_after(text, span, follower) * size
        words = count(text[span.start : span.end])
        if words <= _LONGEST * size:
            yield _Piece(*span, words, penalty)
        else:
            parts = list(_clauses(text, span, size, count))
            yield from parts[:-1]
            yield replace(parts[-1], penalty=penalty)


def _penalty_after(text: str, span: Span, follower: int) -> float:
    """Nothing at a paragraph's end, unless it ends like a heading: that belongs to what it introduces."""
    if not _PARAGRAPH_END.search(text, span.end, follower):
        return _IN_PARAGRAPH
    return 0.0 if _SENTENCE_END.search(text, max(span.start, span.end - 8), span.end) else _AFTER_HEADING


def _clauses(text: str, span: Span, size: int, count: Count) -> Iterator[_Piece]:
    """A long sentence at its clause punctuation and line ends, in parts of at least a tenth of a passage."""
    ends = [match.end() for match in _CLAUSE_END.finditer(text, span.start, span.end)]
    for part in _grouped(text, span.start, [*ends, span.end], size / 10, count):
        words = count(text[part.start : part.end])
        if words <= size:
            yield _Piece(*part, words, _IN_SENTENCE * size)
        else:
            yield from _runs(text, part, size, count)


def _runs(text: str, span: Span, size: int, count: Count) -> Iterator[_Piece]:
    """A clause without inner punctuation, between its words, in parts of about a fifth of a passage."""
    ends = _token_ends(text, span)
    for part in _grouped(text, span.start, ends, size / 5, count):
        yield _Piece(*part, count(text[part.start : part.end]), _IN_CLAUSE * size)


def _token_ends(text: str, span: Span) -> list[int]:
    """Where a clause may be cut if it must be: between words, and within what has no spaces for too long."""
    found: list[int] = []
    for match in _TOKEN.finditer(text, span.start, span.end):
        step = 8 if UNSPACED.match(match[0]) else _LONGEST_WORD
        found += [_whole_letter(text, end, match.end()) for end in range(match.start() + step, match.end(), step)]
        found.append(match.end())
    return found


def _whole_letter(text: str, end: int, limit: int) -> int:
    """The first place from `end` on that does not part a letter from its marks or an emoji from its joiners.

    It looks only so far as real writing goes: texts with marks heaped without end are around.
    """
    limit = min(limit, end + _MOST_MARKS)
    while end < limit and (_joins(text[end]) or text[end - 1] == "\u200d"):
        end += 1
    return end


def _joins(char: str) -> bool:
    return unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf", "Sk")


def _merged(pieces: Iterable[_Piece], size: int) -> Iterator[_Piece]:
    """The pieces, with very short ones joined to what follows in their paragraph: fewer choices, the same passages."""
    held: _Piece | None = None
    for piece in pieces:
        if held is None:
            held = piece
        elif held.penalty and held.words < size / 10 and held.words + piece.words <= size:
            held = _Piece(held.start, piece.end, held.words + piece.words, piece.penalty)
        else:
            yield held
            held = piece
    if held is not None:
        yield held


def _grouped(text: str, start: int, ends: Iterable[int], least: float, count: Count) -> Iterator[Span]:
    """Neighbouring stretches put together until each holds `least` words, without the white space between them."""
    words, last = 0.0, start
    for end in ends:
        words += count(text[last:end])
        last = end
        if words >= least:
            yield _trimmed(text, start, end)
            start, words = end, 0.0
    if text[start:last].strip():
        yield _trimmed(text, start, last)


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(end - len(piece.lstrip()), start + len(piece.rstrip()))


# ---------------------------------------------------------------- where to cut


def _best_cuts(pieces: list[_Piece], size: int) -> list[int]:
    """The cheapest way to cut, as positions between pieces, from 0 to the last.

    The cost of a passage is the square of its distance from `size` in words, plus the square of the penalty of the
    cut after it. Time grows with the text's length only: a passage longer than half as much again is not tried.
    """
    totals = [0.0, *accumulate(piece.words for piece in pieces)]
    costs, before = [0.0], [0]
    for end in range(1, len(pieces) + 1):
        cost, start = min(_choices(totals, costs, end, size))
        costs.append(cost + (pieces[end - 1].penalty ** 2 if end < len(pieces) else 0.0))
        before.append(start)
    cuts = [len(pieces)]
    while cuts[-1]:
        cuts.append(before[cuts[-1]])
    return cuts[::-1]


def _choices(totals: list[float], costs: list[float], end: int, size: int) -> Iterator[tuple[float, int]]:
    """The cost up to `end` for each start of the passage that ends there."""
    for start in range(end - 1, -1, -1):
        words = totals[end] - totals[start]
        if words > _LONGEST * size and start < end - 1:
            return
        yield costs[start] + (words - size) ** 2, start
