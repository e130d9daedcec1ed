"""Words with boxes, lines of words, and ruling lines of a PDF page.

Coordinates are in points from the page's lower left corner before cropping and rotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from ctypes import byref, c_float
from itertools import accumulate, pairwise
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
_MOST_OBJECTS, _MOST_RULES = 20_000, 400  # of a page: more are a drawing


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


def printed_lines(textpage: pypdfium2.PdfTextPage) -> Iterator[tuple[str, int]]:
    """The lines with their ends, and the UTF-16 unit at which each begins."""
    text = textpage.get_text_range()
    ends = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]
    lines = [text[start:end] for start, end in pairwise(ends)]
    return zip(lines, accumulate(map(units_in, lines), initial=0), strict=False)


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
