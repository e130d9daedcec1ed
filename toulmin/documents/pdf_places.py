"""Where the words of a PDF's text are printed: boxes on its pages, found again in the file when they are wanted.

Rules of this file
* Nothing is kept in an index. A few pages are read for a passage: the one on which it begins, and those after it that
  its words run on over.
* Rather no box than one over other words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from toulmin.data import Box, Passage, Quote
from toulmin.documents.alignment import Letters, Shown, Wanted, find, part_of
from toulmin.documents.pdf import open_pdf
from toulmin.documents.pdf_print import DIVIDED, LIGATURES, LINE_END, units_in
from toulmin.text.language import Span

# What `pdf.py` changes where lines meet, or leaves out.
_FOLDED = dict.fromkeys((*map(chr, (*range(32), *range(127, 160))), *f"-\u2010\uffff\ufffd{DIVIDED}"), "")
_FOLDED |= {chr(sign): letters or "" for sign, letters in LIGATURES.items()}
_MOST_PAGES = 12  # of a passage
_BEYOND = 2_000  # letters of later pages, beyond as many as the passage has, in which its rest is looked for
_PAGE = 1 << 24  # more than a page has UTF-16 units: a letter's place is its page times this, and its unit there
# In sizes of a letter: a wider gap begins another box (of another column), as does a box that grows thicker, and a
# letter so much larger or smaller.
_GAP, _THICK, _OTHER_SIZE = 1.6, 1.7, 2.2
# How far a box is drawn in, across and along, in its thickness, so that no letter of another line reaches into it.
_INSETS = sorted(((x, y) for x in (0.0, 0.05, 0.12, 0.2) for y in (0.0, 0.05, 0.12, 0.2, 0.3)), key=sum)


class Cited(NamedTuple):
    """Words of a passage of a PDF; all of it without a quote."""

    passage: Passage
    quote: Quote | None = None


class _Sides(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    def around(self, other: _Sides) -> _Sides:
        return _Sides(*map(min, self[:2], other[:2]), *map(max, self[2:], other[2:]))

    @property
    def thickness(self) -> float:
        return min(self.right - self.left, self.top - self.bottom)

    def gap(self, other: _Sides) -> float:
        """The wider of the gaps across and along."""
        across = max(self.left - other.right, other.left - self.right)
        return max(across, self.bottom - other.top, other.bottom - self.top)

    def inside(self, x: float, y: float) -> _Sides:
        dx, dy = (share * self.thickness for share in (x, y))
        return _Sides(self.left + dx, self.bottom + dy, self.right - dx, self.top - dy)


class _Letter(NamedTuple):
    """A letter, or those of a line, with its ink, and its size in points: that of the largest letter of its font."""

    text: str
    ink: _Sides
    size: float


class _Page(NamedTuple):
    textpage: pypdfium2.PdfTextPage
    lines: Sequence[Letters]


def boxes_of(path: Path, cited: Iterable[Cited]) -> list[tuple[Box, ...]]:
    """The boxes of each, one for every printed line; none where the words are not found.

    Raises `SourceError` for a file that cannot be opened.
    """
    with open_pdf(path) as pdf:
        pages: dict[int, _Page] = {}

        def page(n: int) -> _Page:
            if n not in pages:
                pages[n] = _read(pdf[n].get_textpage(), n)
            return pages[n]

        try:
            return [tuple(_boxes(each, page, len(pdf))) for each in cited]
        finally:
            for read in pages.values():
                read.textpage.close()


def letters_of(text: str, first: int = 0) -> Letters:
    """The letters that a loader leaves as they are; places count UTF-16 units from `first`."""
    letters, places = [], []
    for char in text:
        written = "" if char.isspace() or "\ud800" <= char <= "\udfff" else _FOLDED.get(char, char)
        letters.append(written)
        places += [first] * len(written)
        first += 1 + (char > "\uffff")
    return Letters("".join(letters), places)


# ---------------------------------------------------------------- finding the letters


def _read(textpage: pypdfium2.PdfTextPage, number: int) -> _Page:
    text = textpage.get_text_range()
    ends = [0, *(match.end() for match in LINE_END.finditer(text)), len(text)]
    lines = [text[start:end] for start, end in pairwise(ends)]
    units = accumulate(map(units_in, lines), initial=number * _PAGE)
    return _Page(textpage, [letters_of(line, unit) for line, unit in zip(lines, units, strict=False)])


def _boxes(cited: Cited, page: Callable[[int], _Page], pages: int) -> Iterator[Box]:
    shown, spans = _find(cited, page, pages)
    for span in spans:
        pairs = zip(shown.letters.places[slice(*span)], shown.letters.text[slice(*span)], strict=True)
        for number, printed in groupby(pairs, lambda pair: pair[0] // _PAGE):
            textpage = page(number).textpage
            letters = [letter for place, text in printed if (letter := _letter(textpage, place % _PAGE, text))]
            for line in _lines(letters):
                yield _box(textpage, number, line)


def _find(cited: Cited, page: Callable[[int], _Page], pages: int) -> tuple[Shown, list[Span]]:
    """Where the words are: in the passage, which is seldom there twice, else by themselves."""
    text, (start, end) = cited.passage.text, _offsets(cited)
    before, words, after = (letters_of(part).text for part in (text[:start], text[start:end], text[end:]))
    first = (cited.passage.source.page or 1) - 1
    whole, shown, size = Wanted(before + words + after), _shown([]), 0
    for last in range(first, min(first + _MOST_PAGES, pages)):
        shown = _shown([page(n) for n in range(first, last + 1)])
        size = len(shown.letters.text) if last == first else size
        if spans := find(whole, shown):
            return shown, part_of(spans, len(before), len(before) + len(words))
        if last > first and len(shown.letters.text) > size + len(whole.letters) + _BEYOND:
            break
    return shown, find(Wanted(words, before, after), shown)


def _offsets(cited: Cited) -> Span:
    return Span(cited.quote.start, cited.quote.end) if cited.quote else Span(0, len(cited.passage.text))


def _shown(pages: Sequence[_Page]) -> Shown:
    lines = [line for page in pages for line in page.lines if line.text]
    counts = accumulate((sum(1 for line in page.lines if line.text) for page in pages), initial=0)
    letters = Letters("".join(line.text for line in lines), [place for line in lines for place in line.places])
    return Shown(letters, list(accumulate((len(line.text) for line in lines), initial=0))[:-1], list(counts)[:-1])


# ---------------------------------------------------------------- boxes round the letters


def _letter(textpage: pypdfium2.PdfTextPage, unit: int, text: str) -> _Letter | None:
    index = pdfium.FPDFText_GetCharIndexFromTextIndex(textpage, unit)
    if index < 0:
        return None
    loose = _Sides(*textpage.get_charbox(index, loose=True))
    ink = _Sides(*textpage.get_charbox(index))
    size = max(loose.right - loose.left, loose.top - loose.bottom)
    return _Letter(text, ink if ink.thickness > 0 else loose, size)


def _lines(letters: Iterable[_Letter]) -> Iterator[_Letter]:
    """The letters line by line: parted where the next is far away, of another size, or beside the line."""
    line = last = None
    for letter in letters:
        if line is None or last is None or not _goes_on(line, last, letter):
            if line is not None:
                yield line
            line = letter
        else:
            line = _Letter(line.text + letter.text, line.ink.around(letter.ink), max(line.size, letter.size))
        last = letter
    if line is not None:
        yield line


def _goes_on(line: _Letter, last: _Letter, letter: _Letter) -> bool:
    size = max(last.size, letter.size)
    if size > _OTHER_SIZE * min(last.size, letter.size) or letter.ink.gap(last.ink) > _GAP * size:
        return False
    return line.ink.around(letter.ink).thickness <= _THICK * max(line.size, letter.size)


def _box(textpage: pypdfium2.PdfTextPage, page: int, line: _Letter) -> Box:
    """The box round the letters of a line, drawn in where letters beside them would be read in it too."""
    boxes = (_rounded(line.ink.inside(*inset)) for inset in _INSETS)
    right = (box for box in boxes if letters_of(textpage.get_text_bounded(*box)).text == line.text)
    return Box(page + 1, *next(right, _rounded(line.ink)))


def _rounded(sides: _Sides) -> _Sides:
    return _Sides(*(round(side, 2) for side in sides))
