"""Finds a document's words where they are displayed, by their letters.

A loader joins, reorders and drops lines, so letters are compared without what a loader changes, and displayed lines may
have others between them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, pairwise, takewhile
from typing import NamedTuple

from toulmin.text.language import UNSPACED, Span

_CONTEXT = 400  # letters before and after that distinguish repeated words
_MOST_REPEATED = 2_000  # places of repeated words that are compared
_MOST_JUMPS = 6  # over lines that the text lacks at that place
_FARTHEST = 150  # lines of such a jump
_MOST_STEPS = 1_500  # from line to line, of a search with such jumps
_SHORT = 12  # letters: shorter words must begin and end at word boundaries


@dataclass(frozen=True, slots=True)
class Letters:
    """The letters of a text, and their places in it."""

    text: str
    places: Sequence[int]

    def starts_word(self, n: int) -> bool:
        """Whether letter `n` begins a word."""
        if not 0 < n < len(self.text) or self.places[n] - self.places[n - 1] > 1:
            return True
        before, letter = self.text[n - 1], self.text[n]
        return not (before.isalnum() and letter.isalnum()) or UNSPACED.match(letter) is not None


@dataclass(frozen=True, slots=True)
class Needle:
    letters: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class LetterMap:
    """Displayed letters; `lines` are the starts of lines, `pages` the lines that begin pages."""

    letters: Letters
    lines: Sequence[int]
    pages: Sequence[int] = ()

    @cached_property
    def spans(self) -> Sequence[Span]:
        ends = [*self.lines, len(self.letters.text)]
        return [Span(*pair) for pair in pairwise(ends) if pair[0] < pair[1]]

    def by_line(self, span: Span) -> Iterator[Span]:
        for line in self.spans[bisect_right(self.spans, span.start, key=lambda each: each.end) :]:
            if line.start >= span.end:
                return
            yield Span(max(line.start, span.start), min(line.end, span.end))


def find(wanted: Needle, shown: LetterMap) -> list[Span]:
    """The spans of the wanted letters, in their order; none if unsure.

    Among repeated words, those in the most similar context.
    """
    if not wanted.letters:
        return []
    places = list(_occurrences(wanted.letters, shown.letters.text))
    if not places:
        return _in_pieces(wanted.letters, shown)
    ranks = [_rank(wanted, shown.letters, start) for start in places]
    best = max(ranks)
    if best[0] < 2 and len(wanted.letters) < _SHORT:
        return []
    start = places[ranks.index(best)]
    return [Span(start, start + len(wanted.letters))]


def part_of(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """The letters from `start` to `end` of those in the spans."""
    sizes = [0, *accumulate(span.end - span.start for span in spans)]
    pieces = []
    for span, size in zip(spans, sizes, strict=False):
        first, last = span.start + max(0, start - size), span.start + min(span.end - span.start, end - size)
        if first < last:
            pieces.append(Span(first, last))
    return pieces


def _occurrences(words: str, text: str) -> Iterator[int]:
    start = text.find(words)
    for _ in range(_MOST_REPEATED):
        if start < 0:
            return
        yield start
        start = text.find(words, start + 1)


def _rank(wanted: Needle, letters: Letters, start: int) -> tuple[int, int]:
    """How many ends of the words are ends of words there, and how many letters around them agree."""
    end = start + len(wanted.letters)
    before, after = letters.text[max(0, start - _CONTEXT) : start], letters.text[end : end + _CONTEXT]
    same = _common(before[::-1], wanted.before[::-1]) + _common(after, wanted.after)
    return letters.starts_word(start) + letters.starts_word(end), same


def _common(first: str, second: str) -> int:
    """The length of the common beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


class _Step(NamedTuple):
    """A line, its piece of the words, the letters up to there, and the jumps."""

    line: int
    piece: Span
    size: int
    jumps: int


def _in_pieces(words: str, shown: LetterMap) -> list[Span]:
    """Finds words that whole lines of other text interrupt, with the fewest jumps."""
    best: list[Span] = []
    fewest, letters = _MOST_JUMPS + 1, shown.letters
    steps = iter(range(_MOST_STEPS))
    for n, span in enumerate(shown.spans):
        for start in range(max(span.start, span.end - len(words)), span.end):
            if letters.text[start] != words[0] or not words.startswith(letters.text[start : span.end]):
                continue
            if start == span.start or letters.starts_word(start):
                pieces, jumps = _follow(words, shown, n, start, steps)
                if pieces and jumps < fewest:
                    best, fewest = pieces, jumps
    return best


def _follow(words: str, shown: LetterMap, n: int, start: int, steps: Iterator[int]) -> tuple[list[Span], int]:
    """The pieces from a place in line `n` on, and the jumps between them; none unless all words are found."""
    first = Span(start, shown.spans[n].end)
    way = [_Step(n, first, first.end - start, 0)]
    ahead = [_next_steps(words, shown, way[0])]
    for _ in steps:
        if way[-1].size == len(words):
            return [step.piece for step in way], way[-1].jumps
        step = next(ahead[-1], None)
        if step is not None:
            way.append(step)
            ahead.append(_next_steps(words, shown, step))
        elif len(way) == 1:
            break
        else:
            del way[-1], ahead[-1]
    return [], 0


def _next_steps(words: str, shown: LetterMap, step: _Step) -> Iterator[_Step]:
    """To later lines that continue the words, the nearest first, then to earlier ones on the page."""
    n, _, size, jumps = step
    page: int = shown.pages[bisect_right(shown.pages, n) - 1] if shown.pages else n
    for line in chain(range(n + 1, min(len(shown.spans), n + _FARTHEST)), range(page, n)):
        span, over = shown.spans[line], jumps + (line != n + 1)
        piece = Span(span.start, min(span.end, span.start + len(words) - size))
        if over <= _MOST_JUMPS and words.startswith(shown.letters.text[slice(*piece)], size):
            yield _Step(line, piece, size + piece.end - piece.start, over)
