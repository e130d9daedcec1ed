"""Words with boxes, lines of words, and ruling lines of a PDF page.

Coordinates are in points from the page's lower left corner before cropping and rotation.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from ctypes import byref, c_float
from itertools import accumulate, chain, pairwise
from statistics import median
from typing import NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from toulmin.documents.plain import repair_text, set_apart

# PDFs print some letters together.
LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\u00ad": None}
)
DIVIDED = "\ufffe"  # PDFium puts it for a hyphen and line break at a line's end
_LINE_END = re.compile(rf"\r?\n|(?<={DIVIDED})")
_WORD = re.compile(rf"[^\s{DIVIDED}]+{DIVIDED}?")
_DIGITS = re.compile(r"\S\d{1,4}(?!\d)")
_UNPRINTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\uffff]")
# Points: the thickness of a ruling line at most, its least length, how far two may be apart that are one.
_THICK, _SHORT, SAME = 3.0, 20.0, 3.5
_SMALL, _HIGH = 0.85, 0.1  # raised digits, in heights of the letter before: how high at most, how far up at least
_GAP, _LETTERS = re.compile(r"\S\s+(?=\S)"), re.compile(r"[^\W\d_]{2,}")
# Columns: lines of two of them at least, and as a share of those that cross the middle; the gap between them in heights
# of a line; words of a line, as rows of a table have fewer.
_COLUMN, _MOST_OF, _GUTTER, _WORDS = 4, 0.6, 0.7, 3
_MOST_OBJECTS, _MOST_RULES = 20_000, 400  # of a page: more are a drawing


class TextLine(NamedTuple):
    """A line, and the UTF-16 unit of the page's text at which it begins."""

    text: str
    unit: int


class Word(NamedTuple):
    text: str
    left: float
    bottom: float
    right: float
    top: float


class Rule(NamedTuple):
    y: float
    left: float
    right: float


class Upright(NamedTuple):
    x: float
    bottom: float
    top: float


Line = list[Word]  # from left to right


# ---------------------------------------------------------------- rules


def rules_of(page: pypdfium2.PdfPage) -> tuple[list[Rule], list[Upright]]:
    """Horizontal lines from the top down, their pieces joined, and vertical ones."""
    flat, upright = list[Rule](), list[Upright]()
    for left, bottom, right, top in _paths(page):
        if top - bottom <= _THICK and right - left > _THICK:
            flat.append(Rule((top + bottom) / 2, left, right))
        elif right - left <= _THICK:
            upright.append(Upright((left + right) / 2, bottom, top))
    if len(flat) + len(upright) > _MOST_RULES:
        return [], []
    joined: list[Rule] = []
    for rule in sorted(flat, key=lambda rule: (-round(rule.y / 2), rule.left)):
        last = joined[-1] if joined else None
        if last and abs(last.y - rule.y) <= SAME and last.left - SAME <= rule.left <= last.right + SAME / 2:
            joined[-1] = Rule(last.y, min(last.left, rule.left), max(last.right, rule.right))
        else:
            joined.append(rule)
    return sorted((rule for rule in joined if rule.right - rule.left >= _SHORT), key=lambda r: -r.y), upright


def _paths(page: pypdfium2.PdfPage) -> Iterator[tuple[float, float, float, float]]:
    count = pdfium.FPDFPage_CountObjects(page.raw)
    left, bottom, right, top = c_float(), c_float(), c_float(), c_float()
    for n in range(count if count <= _MOST_OBJECTS else 0):
        drawn = pdfium.FPDFPage_GetObject(page.raw, n)
        if pdfium.FPDFPageObj_GetType(drawn) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        pdfium.FPDFPageObj_GetBounds(drawn, left, bottom, right, top)
        x, y, right_x, top_y = left.value, bottom.value, right.value, top.value
        if min(right_x - x, top_y - y) <= _THICK:
            yield x, y, right_x, top_y
        elif _is_frame(drawn):
            yield from ((x, y, right_x, y), (x, top_y, right_x, top_y), (x, y, x, top_y), (right_x, y, right_x, top_y))


def _is_frame(drawn: object) -> bool:
    mode, is_stroked = pdfium.c_int(), pdfium.FPDF_BOOL()
    pdfium.FPDFPath_GetDrawMode(drawn, byref(mode), byref(is_stroked))
    return bool(is_stroked.value) and pdfium.FPDFPath_CountSegments(drawn) in (4, 5)


# ---------------------------------------------------------------- words


def printed_lines(textpage: pypdfium2.PdfTextPage) -> Iterator[TextLine]:
    """The lines as they are read, with their ends; of two columns first the left one."""
    text = textpage.get_text_range()
    ends = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]
    lines = [text[start:end] for start, end in pairwise(ends)]
    return _by_column(textpage, list(map(TextLine, lines, accumulate(map(units_in, lines), initial=0))))


def _by_column(textpage: pypdfium2.PdfTextPage, lines: Sequence[TextLine]) -> Iterator[TextLine]:
    # PDFium puts what is drawn at one height into one line, so that sentences of two columns would be spliced.
    sides = {line: _sides(textpage, line) for line in lines if line.text.strip()}
    middle = (
        (min(left for left, _ in sides.values()) + median(right for _, right in sides.values())) / 2 if sides else 0
    )
    crossing = {line for line, (left, right) in sides.items() if left < middle < right}
    halves = {line: half for line in crossing if (half := _halves(textpage, line, middle))}
    sizes = ([len(_LETTERS.findall(part.text)) for part in parts] for parts in zip(*halves.values(), strict=True))
    are_prose = all(median(each) >= _WORDS for each in sizes)
    if not are_prose or len(halves) < max(_COLUMN, _MOST_OF * len(crossing)):
        yield from lines
        return
    beside: tuple[list[TextLine], list[TextLine]] = ([], [])
    for line in lines:
        if half := halves.get(line):
            for column, part in zip(beside, half, strict=True):
                column.append(part)
        elif line in crossing:  # a title over both
            yield from chain(*beside, [line])
            beside = ([], [])
        else:
            beside[sides.get(line, (0.0, 0.0))[0] >= middle].append(line)
    yield from chain(*beside)


def _sides(textpage: pypdfium2.PdfTextPage, line: TextLine) -> tuple[float, float]:
    words = line.text.strip()
    first = line.unit + units_in(line.text[: line.text.index(words)])
    return char_box(textpage, first).left, char_box(textpage, first + units_in(words) - 1).right


def _halves(textpage: pypdfium2.PdfTextPage, line: TextLine, middle: float) -> tuple[TextLine, TextLine] | None:
    """What stands before and behind a gap in the middle that is wider than one between words."""

    def box(place: int) -> pdfium.FS_RECTF:
        return char_box(textpage, line.unit + units_in(line.text[:place]))

    starts = [match.end() for match in _GAP.finditer(line.text)]
    place = bisect_right(starts, middle, key=lambda start: box(start).left)
    for start in starts[max(0, place - 1) : place + 1]:
        after, before = box(start), box(len(line.text[:start].rstrip()) - 1)
        if after.left - before.right >= _GUTTER * (after.top - after.bottom):
            unit = line.unit + units_in(line.text[:start])
            return TextLine(line.text[:start], line.unit), TextLine(line.text[start:], unit)
    return None


def words_of(textpage: pypdfium2.PdfTextPage) -> Iterator[Word]:
    text, unit, done = textpage.get_text_range(), 0, 0
    for match in _WORD.finditer(text):
        first = unit + units_in(text[done : match.start()])
        unit, done = first + units_in(match[0]), match.end()
        start, end = char_box(textpage, first), char_box(textpage, unit - 1)
        words = set_raised_apart(textpage, match[0], first) if _is_raised(end, start) else match[0]
        letters = legible(words)
        if letters and start.left <= end.right:
            yield Word(letters, start.left, min(start.bottom, end.bottom), end.right, max(start.top, end.top))


def legible(text: str) -> str:
    return _UNPRINTED.sub("", repair_text(text).translate(LIGATURES))


def set_raised_apart(textpage: pypdfium2.PdfTextPage, text: str, unit: int) -> str:
    """The text, which begins at `unit`."""
    for digits in reversed(list(_DIGITS.finditer(text))):
        boxes = [char_box(textpage, unit + units_in(text[:n])) for n in (digits.start(), digits.end() - 1)]
        n = digits.end()
        while n > digits.start() + 1 and _is_raised(boxes[-1], boxes[0]):
            n -= 1
            boxes.append(char_box(textpage, unit + units_in(text[: n - 1])))
        text = f"{text[:n]}{set_apart(text[n : digits.end()], text[n - 1])}{text[digits.end() :]}"
    return text


def _is_raised(letter: pdfium.FS_RECTF, before: pdfium.FS_RECTF) -> bool:
    height = before.top - before.bottom
    return bool(letter.top - letter.bottom <= _SMALL * height and letter.bottom - before.bottom >= _HIGH * height)


def units_in(text: str) -> int:
    """The text's length in UTF-16 units, as PDFium counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def char_box(textpage: pypdfium2.PdfTextPage, unit: int) -> pdfium.FS_RECTF:
    """A letter's box, as high as its font."""
    box = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(textpage, pdfium.FPDFText_GetCharIndexFromTextIndex(textpage, unit), box)
    return box


def lines_of(words: Iterable[Word]) -> list[Line]:
    lines: list[Line] = []
    for word in sorted(words, key=lambda word: -(word.top + word.bottom)):
        last = lines[-1][0] if lines else None
        if last and min(last.top, word.top) - max(last.bottom, word.bottom) > 0.5 * min(
            last.top - last.bottom, word.top - word.bottom
        ):
            lines[-1].append(word)
        else:
            lines.append([word])
    return [sorted(line, key=lambda word: word.left) for line in lines]
