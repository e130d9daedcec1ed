"""Where the words of a PDF's text are printed: boxes on its pages; and the pages as displayed, cropped and turned.

* No index keeps them. For a passage a few pages are read: the one on which it begins, and those that it continues on.
* No box is better than a box over other words.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, replace
from functools import partial
from io import BytesIO
from itertools import accumulate, chain, starmap
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from toulmin.data import Box, Passage, Quote, Source
from toulmin.documents.ocr import ReadLine, lines_kept
from toulmin.documents.pdf import on_one_line, open_pdf
from toulmin.documents.pdf_print import DIVIDED, LIGATURES, printed_lines
from toulmin.documents.pdf_tables import blocks_in, quote_boxes
from toulmin.documents.plain import cannot_read
from toulmin.originals.alignment import LetterMap, Letters, Needle, find, part_of
from toulmin.originals.readable import Mark
from toulmin.text.language import Span

# What `pdf.py` changes where lines meet, or leaves out.
_FOLDED = dict.fromkeys((*map(chr, (*range(32), *range(127, 160))), *f"-^[]\u2010\uffff\ufffd{DIVIDED}"), "")
_FOLDED |= {chr(sign): letters or "" for sign, letters in LIGATURES.items()}
_MOST_PAGES = 12  # of a passage
_BEYOND = 2_000  # letters of later pages, beyond as many as the passage has, in which its rest is looked for
_NARROW, _WIDE = frozenset(" .,:;'’!|()[]ijltfrI-"), frozenset("mwMWGOQ@—…%")
_LINE = 1 << 14  # more than a line of a scan has letters
_PAGE = 1 << 24  # more than a page has UTF-16 units: a letter's place is its page times this, and its unit there
# In sizes of a letter: a wider gap begins another box (of another column), as does a box that grows thicker, and a
# letter so much larger or smaller.
_GAP, _THICK, _OTHER_SIZE = 1.6, 1.7, 2.2
# How far a box is drawn in, across and along, in its thickness, so that no letter of another line reaches into it.
_INSETS = sorted(((x, y) for x in (0.0, 0.05, 0.12, 0.2) for y in (0.0, 0.05, 0.12, 0.2, 0.3)), key=sum)
_FINE = 1_000_000  # places are measured in such parts of a page's width and height
_PADDING = 0.15  # of a box's thickness; a mark is so much larger than the letters' ink
# WebP of this quality has half the bytes of PNG and is made in the same time (RESULTS.md).
_QUALITY, _EFFORT = 80, 0
_MOST_PIXELS = 16_000_000


class PdfQuote(NamedTuple):
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
    """One or several letters, their ink, and the size of the font's largest letter, 0 if unknown."""

    text: str
    ink: _Sides
    size: float

    def joined(self, other: _Letter) -> _Letter:
        return _Letter(self.text + other.text, self.ink.around(other.ink), max(self.size, other.size))


class _Page(NamedTuple):
    """The letters of a page's lines; of a scanned page those of its `scan`."""

    textpage: pypdfium2.PdfTextPage
    lines: Sequence[Letters]
    scan: Sequence[ReadLine] = ()


def boxes_of(
    path: Path, cited: Iterable[PdfQuote], scans: Callable[[int], Sequence[ReadLine]] = lambda page: ()
) -> list[tuple[Box, ...]]:
    """The boxes of each, one for every printed line or table cell; none if the words are not found.

    `scans` supplies the OCR lines of a page without text, from 1. Raises `SourceError` for an unreadable file.
    """
    with open_pdf(path) as pdf:
        pages: dict[int, _Page] = {}

        def page(n: int) -> _Page:
            if n not in pages:
                textpage = pdf[n].get_textpage()
                lines = [letters_of(line, n * _PAGE + unit) for line, unit in printed_lines(textpage)]
                read = _Page(textpage, lines)
                pages[n] = read if any(line.text for line in read.lines) else _scanned(read, scans(n + 1), n)
            return pages[n]

        try:
            return [tuple(_boxes(each, page, pdf)) for each in cited]
        finally:
            for read in pages.values():
                read.textpage.close()


def print_places(path: Path, _most: int, digest: str, folder: str, rows: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """`boxes_of` for a child process, with the printed label of the first page, "" if it is the number.

    A row is a passage's text and page, and the ends of the cited words. `folder` keeps the OCR lines.
    """
    cited = []
    for text, page, (start, end), _ in rows:
        passage = Passage.of(text, source=Source(0, len(text), page=page))
        cited.append(PdfQuote(passage, passage.quote(start, end) if end else None))
    boxes = boxes_of(path, cited, partial(lines_kept, Path(folder), digest))
    with open_pdf(path) as pdf:
        labels = [_page_label(pdf, each[0].page) if each else "" for each in boxes]
    return {"prints": [[list(map(astuple, each)), label] for each, label in zip(boxes, labels, strict=True)]}


def _page_label(pdf: pypdfium2.PdfDocument, page: int) -> str:
    label = on_one_line(partial(pdf.get_page_label, page - 1))
    return "" if label == str(page) else label


def letters_of(text: str, first: int = 0) -> Letters:
    """The letters that a loader leaves unchanged; places count UTF-16 units from `first`."""
    letters, places = [], []
    for char in text:
        written = "" if char.isspace() or "\ud800" <= char <= "\udfff" else _FOLDED.get(char, char)
        letters.append(written)
        places += [first] * len(written)
        first += 1 + (char > "\uffff")
    return Letters("".join(letters), places)


# ---------------------------------------------------------------- finding the letters


def _scanned(page: _Page, scan: Sequence[ReadLine], number: int) -> _Page:
    places = range(number * _PAGE, (number + 1) * _PAGE, _LINE)
    lines = [letters_of(line.text[:_LINE], place) for line, place in zip(scan, places, strict=False)]
    return _Page(page.textpage, lines, scan)


def _boxes(cited: PdfQuote, page: Callable[[int], _Page], pdf: pypdfium2.PdfDocument) -> Iterator[Box]:
    """Of the words as they are, else block by block: table rows have signs and heads that are not printed there."""
    if boxes := list(_printed(cited, page, len(pdf))):
        yield from boxes
        return
    text, first = cited.passage.text, cited.passage.source.page or 1
    bare = replace(cited.passage, text=text.replace(" | ", "   "))
    for _, _, (start, end) in blocks_in(text, *_offsets(cited)):
        boxes = list(_printed(PdfQuote(bare, bare.quote(start, end)), page, len(pdf)))
        yield from boxes or quote_boxes(pdf, first, text, start, end)


def _printed(cited: PdfQuote, page: Callable[[int], _Page], pages: int) -> Iterator[Box]:
    shown, spans = _find(cited, page, pages)
    for line in chain.from_iterable(map(shown.by_line, spans)):
        number = shown.letters.places[line.start] // _PAGE
        textpage, _, scan = page(number)
        if scan:
            yield _scanned_box(scan, *(shown.letters.places[n] % _PAGE for n in (line.start, line.end - 1)))
            continue
        pairs = zip(shown.letters.places[slice(*line)], shown.letters.text[slice(*line)], strict=True)
        letters = [letter for place, text in pairs if (letter := _letter(textpage, place % _PAGE, text))]
        yield from (Box(number + 1, *_box(textpage, part)) for part in _parts(letters))


def _find(cited: PdfQuote, page: Callable[[int], _Page], pages: int) -> tuple[LetterMap, list[Span]]:
    """Searches the whole passage, which is seldom there twice, then its words."""
    text, (start, end) = cited.passage.text, _offsets(cited)
    before, words, after = (letters_of(part).text for part in (text[:start], text[start:end], text[end:]))
    first = (cited.passage.source.page or 1) - 1
    whole, shown, size = Needle(before + words + after), _shown([]), 0
    for last in range(first, min(first + _MOST_PAGES, pages)):
        shown = _shown([page(n) for n in range(first, last + 1)])
        size = len(shown.letters.text) if last == first else size
        if spans := find(whole, shown):
            return shown, part_of(spans, len(before), len(before) + len(words))
        if last > first and len(shown.letters.text) > size + len(whole.letters) + _BEYOND:
            break
    return shown, find(Needle(words, before, after), shown)


def _offsets(cited: PdfQuote) -> Span:
    return Span(cited.quote.start, cited.quote.end) if cited.quote else Span(0, len(cited.passage.text))


def _shown(pages: Sequence[_Page]) -> LetterMap:
    lines = [line for page in pages for line in page.lines if line.text]
    counts = accumulate((sum(1 for line in page.lines if line.text) for page in pages), initial=0)
    letters = Letters("".join(line.text for line in lines), [place for line in lines for place in line.places])
    return LetterMap(letters, list(accumulate((len(line.text) for line in lines), initial=0))[:-1], list(counts)[:-1])


# ---------------------------------------------------------------- boxes round the letters


def _scanned_box(scan: Sequence[ReadLine], first: int, last: int) -> Box:
    """Estimates the places of letters in a line by their usual widths."""
    line = scan[first // _LINE]
    page, left, bottom, right, top = astuple(line.box)
    if right - left < top - bottom:
        return line.box
    sums = list(accumulate(map(_usual_width, line.text), initial=0.0))
    start, end = (left + (right - left) * sums[n] / sums[-1] for n in (first % _LINE, last % _LINE + 1))
    return Box(page, round(start, 2), bottom, round(end, 2), top)


def _usual_width(letter: str) -> float:
    """In widths of most small letters of common typefaces."""
    if letter in _NARROW:
        return 0.5
    return 1.5 if letter in _WIDE else 1.25 if letter.isupper() else 1.0


def _letter(textpage: pypdfium2.PdfTextPage, unit: int, text: str) -> _Letter | None:
    index = pdfium.FPDFText_GetCharIndexFromTextIndex(textpage, unit)
    if index < 0:
        return None
    loose = _Sides(*textpage.get_charbox(index, loose=True))
    ink = _Sides(*textpage.get_charbox(index))
    size = 0.0 if loose == ink else max(loose.right - loose.left, loose.top - loose.bottom)
    return _Letter(text, ink if ink.thickness > 0 else loose, size)


def _parts(letters: Sequence[_Letter]) -> list[_Letter]:
    """The letters of a printed line, joined unless they are apart or of other sizes."""
    sizes = [letter.size for letter in letters if letter.size]
    inks = [2 * max(letter.ink.right - letter.ink.left, letter.ink.top - letter.ink.bottom) for letter in letters]
    usual = median(sizes or inks or [0.0])
    parts: list[_Letter] = []
    for letter in letters:
        if parts and _goes_on(parts[-1], letter, usual, _GAP * usual):
            parts[-1] = parts[-1].joined(letter)
        else:
            parts.append(letter)
    while len(joined := _join_overlaps(parts, usual)) < len(parts):
        parts = joined
    return parts


def _join_overlaps(parts: Iterable[_Letter], usual: float) -> list[_Letter]:
    """Joins overlapping parts: right-to-left writing goes back and forth in a line."""
    kept: list[_Letter] = []
    for part in parts:
        near = next((n for n, other in enumerate(kept) if _goes_on(other, part, usual, 0.0)), None)
        if near is None:
            kept.append(part)
        else:
            kept[near] = kept[near].joined(part)
    return kept


def _goes_on(part: _Letter, letter: _Letter, usual: float, most: float) -> bool:
    """Whether the letter has the part's size, is near enough, and makes it no thicker than a line."""
    smaller, larger = sorted((part.size, letter.size))
    if (smaller and larger > _OTHER_SIZE * smaller) or letter.ink.gap(part.ink) > most:
        return False
    return part.ink.around(letter.ink).thickness <= _THICK * max(usual, larger)


def _box(textpage: pypdfium2.PdfTextPage, part: _Letter) -> _Sides:
    """The box around the letters, smaller if it would contain letters beside them."""
    words = sorted(part.text)  # of some writings PDFium mixes the letters of a box
    boxes = (_rounded(part.ink.inside(*inset)) for inset in _INSETS)
    right = (box for box in boxes if sorted(letters_of(textpage.get_text_bounded(*box)).text) == words)
    return next(right, _rounded(part.ink))


def _rounded(sides: _Sides) -> _Sides:
    return _Sides(*(round(side, 2) for side in sides))


# ---------------------------------------------------------------- pages as displayed


def lay_out(path: Path, _most: int, boxes: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """For a child process: width and height of every page in points, and the marks of rows of boxes on displayed pages.

    Loads only pages with boxes. Raises `SourceError`.
    """
    with open_pdf(path) as pdf:
        marks = [_mark(pdf[box.page - 1], box) for box in starmap(Box, boxes) if box.page <= len(pdf)]
        return {"sizes": [pdf.get_page_size(n) for n in range(len(pdf))], "marks": list(map(asdict, marks))}


def page_picture(path: Path, page: int, width: int) -> bytes:
    """A displayed page as WebP of that width in pixels (less for a very long page).

    Raises `SourceError`, also for a missing page.
    """
    with open_pdf(path) as pdf:
        pdf.init_forms()  # so that what is filled in is drawn
        if not 1 <= page <= len(pdf):
            raise cannot_read(path, f"has {len(pdf)} pages, and no page {page}", "ask for one of them")
        across, along = pdf.get_page_size(page - 1)
        scale = min((width - 0.01) / max(across, 1), (_MOST_PIXELS / max(across * along, 1)) ** 0.5)  # rounded up
        picture = pdf[page - 1].render(scale=scale).to_pil()
    out = BytesIO()
    picture.save(out, "WEBP", quality=_QUALITY, method=_EFFORT)
    return out.getvalue()


def draw(path: Path, _most: int, page: int, width: int) -> dict[str, str]:
    """`page_picture` for a child process."""
    return {"picture": b64encode(page_picture(path, page, width)).decode("ascii")}


def _mark(page: pypdfium2.PdfPage, box: Box) -> Mark:
    """The box on the displayed page, a little larger than the letters."""
    pad = _PADDING * min(box.right - box.left, box.top - box.bottom)
    corners = [(x, y) for x in (box.left - pad, box.right + pad) for y in (box.bottom - pad, box.top + pad)]
    places = pypdfium2.PdfPosConv(page, (0, 0, _FINE, _FINE, 0))
    points = ([min(1.0, max(0.0, n / _FINE)) for n in places.to_bitmap(*corner)] for corner in corners)
    xs, ys = zip(*points, strict=True)
    return Mark(box.page, min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
