"""PDF: joins the printed lines into words, paragraphs and pages.

Restores words divided at line ends, paragraphs (by spacing, size and indentation) and sentences that cross pages. Drops
running heads and page numbers; expands ligatures.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from threading import Lock

import pypdfium2
import pypdfium2.raw as pdfium

from toulmin.data import READ_BY_OCR, Box, Document, Heading
from toulmin.documents.metadata import dois_in, metadata_of
from toulmin.documents.ocr import Recogniser, has_image
from toulmin.documents.pdf_print import DIVIDED, char_box, legible, printed_lines, set_raised_apart, units_in
from toulmin.documents.pdf_tables import PdfTable, page_tables
from toulmin.documents.plain import (
    as_title,
    cannot_read,
    check_size,
    continue_line,
    counted,
    is_known,
    repair_text,
    title_from,
)

_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]+-[^\W\d_]+")
_ENDS_SENTENCE = re.compile(r"[.!?:…。！？।؟][\"'”’»)\]」』】]*$")
_LIST_ITEM = re.compile(r"[•‣▪◦·*–-]\s|\(?\d{1,3}[.)]\s")
_FIELDS = ("Author", "CreationDate", "ModDate", "Keywords", "doi")
_NO_TITLE = re.compile(r"(?i)^(untitled.*|microsoft word - .*|.*\.(docx?|tex|dvi|indd|pptx?|rtf|pdf))$")
# A printed title: among the first lines, so many times larger than most, of at most so many characters, with a name.
_TITLE_LINES, _LARGE, _LONGEST_PRINTED, _NAMES = 12, 1.35, 200, re.compile(r"[^\W\d_]{3}.*[^\W\d_]{3}|[^\W\d_]{4}")
_ROMAN = -1_000_000  # the mark of every page number in Roman digits
_PAGE_NUMBER = re.compile(
    r"(?i)[-–—|\s]*(?:page|p\.|seite|página|pagina)?\s*(\d{1,5})(?:\s*(?:/|of|von|de|di|sur)\s*\d+)?[-–—|\s]*"
)
_ROMAN_NUMBER = re.compile(r"[ivxlc]+")
# A running head with its page number; the start of a caption and of a footnote; a line of a table of contents.
_HEAD = re.compile(r"(?:(\d{1,4})[\s|]+\D.*|.*\D[\s|]+(\d{1,4}))")
_CAPTION = re.compile(r"(?:Figure|Fig\.|Table|Listing|Algorithm|Abbildung|Abb\.|Tabelle)\s+[\dA-Z][\d.]*\s?[.:]")
_NOTE = re.compile(r"(?:\d{1,2}|[*†‡§¶])(?=\s?[A-ZÀ-Þ][^\W\d_])")
_CONTENTS = re.compile(r"(?:\.\s?){4}\s*\w+$")
_INCORRECT_PASSWORD = 4
_NO_OCR = "to have it read, pip install 'toulmin[ocr]', or install the program tesseract, and index again"
_NO_WORDS = "no words were recognised on it either: scan it again, sharper"
_ONE_AT_A_TIME = Lock()  # PDFium is not thread-safe

# A running head is on at least this share of the pages it spans, and on three: left and right pages may differ.
_RUNS = 0.4
_LONGEST_HEAD = 100  # characters
_UNEVEN = 0.4  # lines of one font size differ by less than this share of the usual height
_SMALL = 0.93  # a footnote's height, at most, as a share of the page's usual line
_ICON = 0.01  # of a page's area: smaller images decorate

# Signs of a new paragraph. In line heights: another size, an indent, a space that is wide on any page. In median line
# distances of the page: a space. In median line widths: a line that ends early.
_OTHER_SIZE, _INDENT, _WIDE_SPACE, _SPACE, _SHORT = 0.15, 0.8, 2.5, 1.3, 0.75


@dataclass(frozen=True, slots=True)
class _Line:
    """A line, or a row of a table with the height of the table's first line, in points from the page's lower left
    corner.
    """

    text: str
    left: float
    bottom: float
    right: float
    top: float
    is_row: bool = False

    @property
    def height(self) -> float:
        return max(self.top - self.bottom, 0.1)


def pdf_document(path: Path, limit: int, recogniser: Recogniser | None = None) -> Document:
    """A PDF's text with the offset of each page; the title comes from its properties, its first page or its name.

    `recogniser` reads scanned pages; a heading marks each of them. Raises `SourceError` for a PDF that is encrypted,
    damaged, or has no text.
    """
    check_size(path, path.stat().st_size, limit)
    lacks = Counter[str]()
    with open_pdf(path) as pdf:
        title = on_one_line(lambda: pdf.get_metadata_value("Title"))
        pdf.init_forms()  # if there are any
        fields = [(name, on_one_line(partial(pdf.get_metadata_value, name))) for name in _FIELDS]
        pages = [_lines(page, number, recogniser, lacks) for number, page in enumerate(pdf, start=1)]
        dois = dois_in(" ".join(line.text for line in pages[0])) if pages else []
        text, starts = _join_pages(_without_running_heads(pages))
        outline = list(_outline(pdf, text, starts))
    if not text.strip():
        raise cannot_read(path, "holds no text: it seems to be scanned", _NO_OCR if recogniser is None else _NO_WORDS)
    if not title or title == path.stem or _NO_TITLE.match(title):
        title = _printed_title(pages) or title_from(path)
    headings = tuple(sorted((*outline, *_notices(recogniser, starts))))
    fields += [("doi", dois[0])] if len(dois) == 1 else []
    metadata, place = metadata_of(fields), repair_text(str(path))
    remarks = counted(len(recogniser.confidences) if recogniser else 0, "page", "read by OCR, a guess")
    remarks += counted(lacks["page"], "page", "without text, perhaps scanned: not read")
    remarks += counted(lacks["image"], "image", "without text")
    remarks += counted(lacks["field"], "form field", "without a label")
    return Document(text, title, place, pages=starts, headings=headings, metadata=metadata, remarks=tuple(remarks))


def _printed_title(pages: Sequence[Sequence[_Line]]) -> str:
    """The largest words at the top of the first page, if most others are much smaller."""
    usual = median([line.height for page in pages for line in page] or [0.0])
    runs = list[list[_Line]]()
    for line in pages[0][:_TITLE_LINES] if pages else ():
        if runs and abs(runs[-1][-1].height - line.height) <= _OTHER_SIZE * line.height:
            runs[-1].append(line)
        else:
            runs.append([line])
    titles = [(run[0].height, " ".join(line.text for line in run)) for run in runs if run[0].height >= _LARGE * usual]
    named = [title for title in titles if _NAMES.search(title[1]) and len(title[1]) <= _LONGEST_PRINTED]
    return as_title(max(named, key=lambda title: title[0], default=(0.0, ""))[1])


@contextmanager
def open_pdf(path: Path) -> Iterator[pypdfium2.PdfDocument]:
    """The file in PDFium, which one thread can use at a time.

    Raises `SourceError` for an encrypted or damaged PDF, also from the `with` block.
    """
    try:
        with _ONE_AT_A_TIME, pypdfium2.PdfDocument(path) as pdf:
            yield pdf
    except pypdfium2.PdfiumError as error:
        if error.err_code == _INCORRECT_PASSWORD:
            raise cannot_read(path, "is encrypted", "save a copy without a password") from error
        what = f"is a damaged PDF ({str(error).rstrip('.')})"
        raise cannot_read(path, what, "save or print it to PDF again") from error


# ---------------------------------------------------------------- headings


def _notices(recogniser: Recogniser | None, starts: Sequence[int]) -> Iterator[Heading]:
    """A heading over each page that OCR read, and an empty one that ends its section."""
    pages = recogniser.confidences if recogniser is not None else {}
    for number, confidence in pages.items():
        yield Heading(starts[number - 1], 1, f"{READ_BY_OCR} {confidence:.2f}")
        if number < len(starts) and number + 1 not in pages:
            yield Heading(starts[number], 1, "")


def on_one_line(words: Callable[[], str]) -> str:
    try:
        return as_title(words())
    except UnicodeDecodeError:  # damaged UTF-16 in a title is no reason to refuse the pages
        return ""


def _outline(pdf: pypdfium2.PdfDocument, text: str, starts: Sequence[int]) -> Iterator[Heading]:
    for entry in pdf.get_toc():
        to, words = entry.get_dest(), on_one_line(entry.get_title)
        page = to.get_index() if to is not None else None
        if words and page is not None and page < len(starts):
            end = starts[page + 1] if page + 1 < len(starts) else len(text)
            printed = r"\s+".join(map(re.escape, words.split()))
            begins = re.compile(rf"(?m)^[\d.A-Z]{{0,8}}\s*{printed}").search(text, starts[page], end)
            yield Heading(begins.start() if begins else starts[page], entry.level + 1, words)


# ---------------------------------------------------------------- lines


def _lines(page: pypdfium2.PdfPage, number: int, recogniser: Recogniser | None, lacks: Counter[str]) -> list[_Line]:
    textpage = page.get_textpage()
    lines = []
    for text, unit in printed_lines(textpage):
        if words := text.strip():
            first = unit + units_in(text[: text.index(words)])
            lines.append(_line_at(textpage, words, first, first + units_in(words) - 1))
    lines = [line for line in lines if line.text]
    for table in page_tables(page, textpage, number):
        lines = _with_rows(lines, table)
    if not lines and has_image(page):
        lacks["page"] += recogniser is None
        lines = _even_lines([(line.text, line.box) for line in recogniser.read(page, number)] if recogniser else [])
    elif lines:
        lacks["image"] += _pictures(page)
    pattern = lines[-1] if lines else _Line("", 0, 0, 1, 1)
    filled = dict.fromkeys(filter(None, _filled_in(page, textpage, lacks)))
    lines += [replace(pattern, text=words, is_row=True) for words in filled]
    textpage.close()
    page.close()
    return lines


def _pictures(page: pypdfium2.PdfPage) -> int:
    """How many images fill more of the page than an icon does."""
    bounds = (image.get_bounds() for image in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE]))
    least = _ICON * page.get_width() * page.get_height()
    return sum((right - left) * (top - bottom) >= least for left, bottom, right, top in bounds)


def _filled_in(page: pypdfium2.PdfPage, textpage: pypdfium2.PdfTextPage, lacks: Counter[str]) -> Iterator[str]:
    """The values of a form after their labels, and the notes of readers."""
    for n in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, n)
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind == pdfium.FPDF_ANNOT_WIDGET and page.formenv:
            field = (page.formenv, annotation)
            value = _string(pdfium.FPDFAnnot_GetFormFieldValue, *field)
            name = _string(pdfium.FPDFAnnot_GetFormFieldAlternateName, *field)
            if value not in ("", "Off"):
                label = name or _label(annotation, textpage)
                lacks["field"] += not label
                yield f"{label or _string(pdfium.FPDFAnnot_GetFormFieldName, *field)}: {value}"
        elif kind not in (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP):
            words = _string(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
            yield f"Note: {words}" if words else ""
        pdfium.FPDFPage_CloseAnnot(annotation)


def _label(annotation: object, textpage: pypdfium2.PdfTextPage) -> str:
    """The printed words to the left of a field."""
    box = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(annotation, box)
    words = textpage.get_text_bounded(0, box.bottom, box.left, box.top)
    return legible(re.split(r"[:_]\s+|\n", words.strip(" :_.\r\n"))[-1])


def _string(read: Callable[..., int], *of: object) -> str:
    buffer = (pdfium.FPDF_WCHAR * (read(*of, None, 0) // 2))()
    read(*of, buffer, 2 * len(buffer))
    return legible(" ".join(bytes(buffer).decode("utf-16-le", "replace").strip("\0").split()))


def _even_lines(read: Sequence[tuple[str, Box]]) -> list[_Line]:
    """Gives nearly usual lines of a picture the usual height, as a box is only as high as its letters."""
    usual = median([box.top - box.bottom for _, box in read] or [0.0])
    lines = []
    for text, box in read:
        height = usual if abs(box.top - box.bottom - usual) < _UNEVEN * usual else box.top - box.bottom
        bottom = (box.bottom + box.top - height) / 2
        lines.append(_Line(text, box.left, bottom, box.right, bottom + height))
    return lines


def _with_rows(lines: list[_Line], table: PdfTable) -> list[_Line]:
    """Replaces the lines that the table covers by its rows, unless one of them reaches out of it."""
    beside = [n for n, line in enumerate(lines) if table.bottom < (line.bottom + line.top) / 2 < table.top]
    within = [n for n in beside if lines[n].right > table.left and lines[n].left < table.right]
    if not within or any(lines[n].left < table.left or lines[n].right > table.right for n in within):
        return lines
    first = lines[within[0]]
    rows = [_Line(row.text, table.left, first.bottom, table.right, first.top, True) for row in table.rows]
    rest = [line for n, line in enumerate(lines) if n not in within]
    return rest[: within[0]] + rows + rest[within[0] :]


def _line_at(textpage: pypdfium2.PdfTextPage, words: str, first: int, last: int) -> _Line:
    start, end = char_box(textpage, first), char_box(textpage, last)
    if words[0].isalpha():  # perhaps a small capital: some sixteen letters tell
        letters = [char_box(textpage, unit) for unit in range(first, last, 1 + (last - first) // 16)]
        start.top = max(start.top, start.bottom + median([letter.top - letter.bottom for letter in letters] or [0.0]))
    text = legible(set_raised_apart(textpage, words, first))
    return _Line(" ".join(text.split()), start.left, start.bottom, end.right, start.top)


def _without_running_heads(pages: list[list[_Line]]) -> list[list[_Line]]:
    """Repeated words at page edges stay on their first page only; page numbers, and heads beside them, on none."""
    seen: dict[str | int, list[int]] = {}
    for n, page in enumerate(pages):
        for mark in {mark for i in _edges(page) for mark in _marks(page[i], n)}:
            seen.setdefault(mark, []).append(n)
    running = {mark for mark, on in seen.items() if len(on) >= 3 and len(on) >= _RUNS * (on[-1] - on[0] + 1)}
    earlier: set[str | int] = set()
    kept = []
    for n, page in enumerate(pages):
        dropped = set()
        for i in _edges(page):
            marks = _marks(page[i], n)
            is_outermost = len(marks) == 1 or i in (0, len(page) - 1)
            if any(mark in running and (is_outermost if isinstance(mark, int) else mark in earlier) for mark in marks):
                dropped.add(i)
        kept.append([line for i, line in enumerate(page) if i not in dropped])
        earlier.update(line.text for line in page)
    return kept


def _edges(page: list[_Line]) -> set[int]:
    return {i for i in range(len(page)) if (i < 2 or i >= len(page) - 2) and not page[i].is_row}


def _marks(line: _Line, page: int) -> list[str | int]:
    """What running lines share: a head's words, the printed page number minus the page's index, or both."""
    if number := _PAGE_NUMBER.fullmatch(line.text):
        return [int(number[1]) - page]
    if _ROMAN_NUMBER.fullmatch(line.text):
        return [_ROMAN]
    head = _HEAD.fullmatch(line.text) if len(line.text) <= _LONGEST_HEAD else None
    return [line.text, int(head[1] or head[2]) - page] if head else [line.text]


# ---------------------------------------------------------------- text


@dataclass(frozen=True, slots=True)
class _Usual:
    step: float
    width: float


def _usual(page: list[_Line]) -> _Usual:
    page = [line for line in page if not line.is_row]
    steps = [a.bottom - b.bottom for a, b in pairwise(page) if a.bottom - b.bottom > _INDENT * b.height]
    return _Usual(median(steps or [0.0]), median([line.right - line.left for line in page] or [0.0]))


def _join_pages(pages: list[list[_Line]]) -> tuple[str, tuple[int, ...]]:
    words = (word for page in pages for line in page for word in _COMPOUND.findall(line.text))
    is_compound = partial(_is_compound, frozenset(map(str.casefold, words)))
    usual = [_usual(page) for page in pages]
    pages = [_with_notes_before(page, of_page) for page, of_page in zip(pages, usual, strict=True)]
    lines = [(number, line) for number, page in enumerate(pages) for line in page]
    parts, starts, size = [], [0] * len(pages), 0
    for (number, line), (following, after) in pairwise(lines):
        is_turned = number != following
        is_new = _starts_paragraph(line, after, usual[number], is_turned)
        text = line.text.replace(DIVIDED, "-")
        parts.append(f"{text}\n\n" if is_new else continue_line(text, after.text, is_compound))
        size += len(parts[-1])
        if is_turned:
            starts[number + 1 : following + 1] = [size] * (following - number)
    parts += [line.text.replace(DIVIDED, "-") for _, line in lines[-1:]]
    text = "".join(parts)
    last = lines[-1][0] if lines else -1
    return text, (*starts[: last + 1], *[len(text)] * (len(pages) - last - 1))


def _with_notes_before(page: list[_Line], usual: _Usual) -> list[_Line]:
    height = median([line.height for line in page] or [0.0])
    first = len(page)
    while first and page[first - 1].height <= _SMALL * height:
        first -= 1
    while first < len(page) and not _NOTE.match(page[first].text):
        first += 1
    notes = [replace(line, text=_NOTE.sub(r"\g<0> ", line.text, count=1).replace("  ", " ")) for line in page[first:]]
    body = page[:first]
    last = len(body) - 1
    if not notes or last < 1 or _ENDS_SENTENCE.search(body[-1].text):
        return body + notes
    while last and not _starts_paragraph(body[last - 1], body[last], usual, False):
        last -= 1
    return body[:last] + notes + body[last:] if last else page[:first] + notes


def _starts_paragraph(before: _Line, after: _Line, usual: _Usual, is_turned: bool) -> bool:
    if before.is_row or after.is_row or _CAPTION.match(after.text) or _CONTENTS.search(before.text):
        return True
    if _LIST_ITEM.match(after.text) or abs(before.height - after.height) > _OTHER_SIZE * before.height:
        return True
    has_ended = _ENDS_SENTENCE.search(before.text) is not None
    step = before.bottom - after.bottom
    if is_turned or step < -_INDENT * before.height:
        return has_ended
    if step > min(_SPACE * usual.step, _WIDE_SPACE * before.height):
        return True
    is_short = before.right - before.left < _SHORT * usual.width
    return has_ended and (is_short or after.left - before.left > _INDENT * before.height)


def _is_compound(compounds: frozenset[str], first: str, second: str) -> bool:
    if second[0].isupper() or f"{first}-{second}".casefold() in compounds:
        return True
    return is_known(first) and is_known(second) and not is_known(first + second)
