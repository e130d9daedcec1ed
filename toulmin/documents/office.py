"""Slides (pptx), sheets (xlsx, xls, xlsb, ods), OpenDocument texts (odt), electronic books (epub), rich text (rtf)."""

from __future__ import annotations

import posixpath
import re
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from striprtf.striprtf import rtf_to_text

from toulmin.data import Document
from toulmin.documents.archive import name_of, open_archive, parts_in_order, properties, related_parts, xml_part
from toulmin.documents.html import page_document
from toulmin.documents.metadata import Fields
from toulmin.documents.plain import (
    cannot_read,
    check_size,
    counted,
    make_document,
    marked,
    marked_text,
    repair_text,
    set_apart,
    unmarked,
)
from toulmin.documents.tables import LONGEST_REPEATED, MOST_SPANNED, Cell, grid_rows, spread, table_rows, table_text
from toulmin.errors import SourceError

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

# Local names of elements, those of OpenDocument before those of slides.
_PARAGRAPHS, _TABLES, _ROWS, _CELLS = {"p", "h"}, {"table", "tbl"}, {"table-row", "tr"}, {"table-cell", "tc"}
_UNSEEN = {"tracked-changes", "annotation", "note", "forms", "fld", "Fallback"}
_RAISED, _HIGH = "raised", re.compile("super|[1-9]")  # the name given to raised runs and spans, and how high these are
_SIGNS = {"line-break": "\n", "br": "\n", "tab": "\t", "s": " "}
_FURNITURE = {"sldNum", "ftr", "dt", "hdr"}


def odt_document(path: Path, limit: int) -> Document:
    """An OpenDocument text, notes after paragraphs; the title comes from its properties, else its first heading."""
    with open_archive(path, limit, "OpenDocument text") as archive:
        content = _with_raised(xml_part(archive, "content.xml"))
        blocks = list(chain.from_iterable(map(_blocks, content.iterfind("{*}body"))))
        heading, fields = next(map(_words, content.iterfind("{*}body//{*}h")), ""), properties(archive, "meta.xml")
    return _document(path, blocks, fields, heading)


def slides_document(path: Path, limit: int) -> Document:
    """A presentation's slides in order, one a page, each with the data of its charts and its notes."""
    with open_archive(path, limit, "presentation") as archive:
        parts = [part for _, part in parts_in_order(archive, "ppt/presentation.xml", "sldId")]
        slides = [_with_raised(xml_part(archive, part)) for part in parts]
        words, beside = [list(_blocks(slide)) for slide in slides], [list(_beside(archive, part)) for part in parts]
        fields = properties(archive, "docProps/core.xml")
    pages = ("\n\n".join(filter(None, [*shown, *others])) for shown, others in zip(words, beside, strict=True))
    document = _document(path, pages, fields, next(chain.from_iterable(words), ""), has_pages=True)
    pictures = sum(1 for slide in slides for _ in slide.iterfind(".//{*}pic"))
    return replace(document, remarks=tuple(counted(pictures, "image", "without text")))


def sheets_document(path: Path, limit: int) -> Document:
    """A workbook's sheets in order, each after its name: a block a row, as in a csv. A formula gives its last value."""
    book = workbook_of(path, limit)
    tables = [(name, table_text(rows)) for name, rows in book.sheets]
    blocks = [text for name, rows in tables if rows for text in (name, rows)]
    return replace(_document(path, blocks, book.fields), remarks=book.remarks)


def book_document(path: Path, limit: int) -> Document:
    """An electronic book's chapters in reading order; the title comes from its properties."""
    with open_archive(path, limit, "electronic book") as archive:
        rootfile = xml_part(archive, "META-INF/container.xml").find(".//{*}rootfile")
        whole = rootfile.get("full-path", "") if rootfile is not None else ""
        package, folder = xml_part(archive, whole), posixpath.dirname(whole)
        files = {item.get("id"): unquote(item.get("href", "")) for item in package.iterfind(".//{*}item")}
        chapters = dict.fromkeys(files[entry.get("idref")] for entry in package.iterfind(".//{*}itemref"))
        blocks = [_chapter(archive.read(posixpath.normpath(posixpath.join(folder, name))), path) for name in chapters]
        fields = properties(archive, whole)
    return _document(path, blocks, fields)


def _document(path: Path, blocks: Iterable[str], fields: Fields, first: str = "", has_pages: bool = False) -> Document:
    """With pages, each block is one. The title is that of the fields, else the first heading."""
    text, starts = "", []
    for block in blocks:
        starts.append(len(text))
        words = repair_text(block).strip()
        text += f"{words}\n\n" if unmarked(words) else ""
    text = text.rstrip()
    pages = [min(start, len(text)) for start in starts] if has_pages else []
    return make_document(text, dict(reversed(fields)).get("title") or first, path, pages, fields)


def _optional_part(archive: zipfile.ZipFile, name: str) -> Element:
    return xml_part(archive, name) if name in archive.namelist() else Element("none")


def _chapter(data: bytes, path: Path) -> str:
    try:
        page = page_document(data, path)
    except SourceError:  # a page of pictures alone
        return ""
    return marked_text(page)


# ---------------------------------------------------------------- texts and slides


def _blocks(container: Element) -> Iterator[str]:
    for element in container:
        name = name_of(element)
        if name in _PARAGRAPHS:
            yield marked(_level(element), _words(element)) if name == "h" else _words(element)
            yield from (" ".join(_blocks(note)) for note in element.iterfind(".//{*}note-body"))
        elif name in _TABLES:
            rows = (row for row in element.iter() if name_of(row) in _ROWS)
            yield "\n\n".join(grid_rows([_cell(cell) for cell in row if _is_cell(cell)] for row in rows))
        elif name not in _UNSEEN and not _is_furniture(element):
            yield from filter(str.strip, _blocks(element))


def _is_cell(element: Element) -> bool:
    return name_of(element) in _CELLS and "1" not in (element.get("hMerge"), element.get("vMerge"))


def _cell(cell: Element) -> Cell:
    names = (("number-columns-spanned", "gridSpan"), ("number-rows-spanned", "rowSpan"))
    spans = (_attribute(cell, text) or _attribute(cell, slide) for text, slide in names)
    return Cell(" ".join(_blocks(cell)), *(int(span) if span[:4].isdecimal() else 1 for span in spans))


def _beside(archive: zipfile.ZipFile, part: str) -> Iterator[str]:
    """The titles and values of a slide's charts, and its notes."""
    charts, notes = related_parts(archive, part, "chart", "notesSlide")
    for chart in charts:
        yield "".join(text.text or "" for text in chart.iterfind("{*}chart/{*}title//{*}t"))
        series = chart.findall(".//{*}ser")
        names = ["", *(each.findtext("{*}tx//{*}v", "") for each in series)]
        columns = [_points(each, "val", "yVal") for each in series]
        labels = dict.fromkeys(chain(*columns), "") | next((_points(each, "cat", "xVal") for each in series), {})
        rows = ([labels[n], *(column.get(n, "") for column in columns)] for n in sorted(labels, key=int))
        yield from table_rows([names, *rows], 1)
    words = "\n".join(filter(str.strip, chain.from_iterable(map(_blocks, notes))))
    yield f"Notes: {words}" if words else ""


def _points(series: Element, *names: str) -> dict[str, str]:
    data = next((each for name in names for each in series.iterfind(f"{{*}}{name}")), Element("none"))
    code = data.findtext(".//{*}formatCode", "")
    show = _format(code) if code else str
    return {point.get("idx", ""): show(point.findtext("{*}v", "")) for point in data.iterfind(".//{*}pt")}


def _level(heading: Element) -> int:
    level = _attribute(heading, "outline-level")
    return int(level) if level.isdecimal() else 1


def _attribute(element: Element, name: str) -> str:
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), "")


def _is_furniture(shape: Element) -> bool:
    placeholder = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
    return placeholder is not None and placeholder.get("type") in _FURNITURE


def _words(element: Element) -> str:
    parts = [" ".join(f"-{element.text or ''}-".split())[1:-1]]
    for child in element:
        name = name_of(child)
        words = _SIGNS.get(name, "") if name in _SIGNS or name in _UNSEEN else _words(child)
        if name == _RAISED:
            words = set_apart(words, next(filter(None, reversed(parts)), "")[-1:])
        parts += [words, " ".join(f"-{child.tail or ''}-".split())[1:-1]]
    return "".join(parts)


def _with_raised(part: Element) -> Element:
    styles = {_attribute(style, "name") for style in part.iterfind(".//{*}style") if _is_high(style)}
    spans = (span for span in part.iterfind(".//{*}span") if _attribute(span, "style-name") in styles)
    for element in (*spans, *filter(_is_high, part.iterfind(".//{*}r"))):
        element.tag = _RAISED
    return part


def _is_high(element: Element) -> bool:
    return any(_HIGH.match(_attribute(each, name)) for each in element for name in ("text-position", "baseline"))


# ---------------------------------------------------------------- sheets


class Workbook(NamedTuple):
    fields: Fields
    sheets: list[tuple[str, list[list[str]]]]  # names and rows
    remarks: tuple[str, ...]


_Show = Callable[[str], str]  # a number as it is displayed


def workbook_of(path: Path, limit: int) -> Workbook:
    if path.suffix.lower() in (".xls", ".xlsb"):
        return _binary_workbook(path, limit)
    with open_archive(path, limit, "workbook") as archive:
        if path.suffix.lower() == ".ods":
            tables = xml_part(archive, "content.xml").iterfind("{*}body/{*}spreadsheet/{*}table")
            sheets = [(_attribute(table, "name"), _open_rows(table)) for table in tables]
            return Workbook(properties(archive, "meta.xml"), sheets, ())
        formats = _formats(archive)
        strings = [_string(entry) for entry in _optional_part(archive, "xl/sharedStrings.xml")]
        sheets, unknown = [], 0
        for name, part in parts_in_order(archive, "xl/workbook.xml", "sheet"):
            sheet = xml_part(archive, part)
            rows, formulas = _sheet_rows(sheet, strings, formats)
            unknown += formulas
            merged = (each.get("ref", "").split(":") for each in sheet.iterfind("{*}mergeCells/{*}mergeCell"))
            areas = ((_row(start), _column(start) - 1, _row(end), _column(end) - 1) for start, end in merged)
            sheets.append((name, _with_merged(rows, areas)))
        fields = properties(archive, "docProps/core.xml")
    return Workbook(fields, sheets, tuple(counted(unknown, "formula", "without values")))


def _string(entry: Element) -> str:
    runs = (entry, *(run for run in entry if name_of(run) == "r"))
    return "".join(text.text or "" for run in runs for text in run if name_of(text) == "t")


def _sheet_rows(sheet: Element, strings: list[str], formats: Mapping[str, _Show]) -> tuple[dict[int, list[str]], int]:
    """The rows by their numbers, and the number of formulas without values."""
    rows: dict[int, list[str]] = {}
    number = unknown = 0
    for row in sheet.iterfind(".//{*}row"):
        number = max(number + 1, int(row.get("r", "0")))
        cells = rows[number] = []
        for cell in (cell for cell in row if name_of(cell) == "c"):
            column = _column(cell.get("r", ""))
            cells += [""] * min(column - 1 - len(cells), 20_000)
            cells.append(_value(cell, strings, formats))
            unknown += not cells[-1] and cell.get("t") != "str" and cell.find("{*}f") is not None
    return rows, unknown


def _column(reference: str) -> int:
    """The cell's column from 1, by its letters (AB12); 0 without letters."""
    number = 0
    for letter in re.match("[A-Z]*", reference)[0]:  # type: ignore[index]
        number = 26 * number + ord(letter) - 64
    return number


def _value(cell: Element, strings: list[str], formats: Mapping[str, _Show]) -> str:
    kind, value = cell.get("t", "n"), next((part.text or "" for part in cell if name_of(part) == "v"), "")
    if kind == "s":
        return strings[int(value)]
    if kind == "inlineStr":
        return "".join(_string(entry) for entry in cell.findall("{*}is"))
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    return formats.get(cell.get("s", "0"), _general)(value) if kind == "n" and value else value


def _row(reference: str) -> int:
    return int(reference.lstrip(ascii_uppercase))


def _with_merged(rows: dict[int, list[str]], areas: Iterable[tuple[int, int, int, int]]) -> list[list[str]]:
    """The rows, with a merged value in every row and column that it spans: from the top left to the bottom right. One
    that is alone in its row, as a title is, stays in one cell; a row without a value of its own stays empty.
    """
    filled = [number for number, row in rows.items() if any(row)]
    for top, left, bottom, right in areas:
        value = rows.get(top, [])[left : left + 1] if left >= 0 else []
        if not any(value) or len(value[0]) > LONGEST_REPEATED:
            continue
        is_alone, columns = sum(map(bool, rows[top])) == 1, min(right + 1 - left, MOST_SPANNED)
        for number in filled[bisect_left(filled, top + is_alone) : bisect_right(filled, bottom)]:
            rows[number] += [""] * (left + columns - len(rows[number]))
            rows[number][left : left + columns] = value * columns
    return list(rows.values())


def _open_rows(table: Element) -> list[list[str]]:
    """The rows of an OpenDocument sheet, whose cells hold what they display."""
    rows = []
    for row in table.iterfind(".//{*}table-row"):
        cells = [_open_cell(cell) for cell in row if name_of(cell) == "table-cell"]
        is_filled = any(cell.text for cell in cells)
        rows += [cells] * (min(int(_attribute(row, "number-rows-repeated") or 1), MOST_SPANNED) if is_filled else 1)
    return spread(rows)


def _open_cell(cell: Element) -> Cell:
    day, text = _attribute(cell, "date-value"), " ".join(map(_words, cell.iterfind("{*}p")))
    names = (("number-columns-repeated", "number-columns-spanned"), ("number-rows-spanned",))
    spans = (next(filter(None, (_attribute(cell, name) for name in each)), "1") for each in names)
    return Cell(day.replace("T", " ") or text, *map(int, spans))


def _binary_workbook(path: Path, limit: int) -> Workbook:
    from python_calamine import CalamineError, load_workbook  # for these kinds alone

    check_size(path, path.stat().st_size, limit)
    try:
        with load_workbook(path) as book:
            sheets = [(name, _binary_rows(book.get_sheet_by_name(name))) for name in book.sheet_names]
    except CalamineError as error:
        raise cannot_read(path, f"is damaged or encrypted ({error})", "save it as .xlsx without a password") from error
    return Workbook([], sheets, ("percentages and currencies read as plain numbers",))


def _binary_rows(sheet: CalamineSheet) -> list[list[str]]:
    first, left = sheet.start or (0, 0)
    rows = dict(enumerate((list(map(_plain, row)) for row in sheet.to_python()), first))
    areas = sheet.merged_cell_ranges or ()
    return _with_merged(rows, ((top, start - left, bottom, end - left) for (top, start), (bottom, end) in areas))


def _plain(value: object) -> str:
    if isinstance(value, timedelta):
        return _elapsed("[h]:mm:ss" if value.seconds % 60 else "[h]:mm", str(value / timedelta(days=1)))
    if isinstance(value, bool):
        return str(value).upper()
    return _general(repr(value).removesuffix(".0")) if isinstance(value, float) else str(value)


# ---------------------------------------------------------------- numbers as they are displayed

# The formats that files name by a number alone.
_CODES = (
    '0|0.00|#,##0|#,##0.00|"$"#,##0_);("$"#,##0)|"$"#,##0_);("$"#,##0)|"$"#,##0.00_);("$"#,##0.00)'
    '|"$"#,##0.00_);("$"#,##0.00)|0%|0.00%|#,##0_);(#,##0)|#,##0_);(#,##0)|#,##0.00_);(#,##0.00)|#,##0.00_);(#,##0.00)'
    '|#,##0_);(#,##0);"-"|"$"#,##0_);("$"#,##0);"-"|#,##0.00_);(#,##0.00);"-"|"$"#,##0.00_);("$"#,##0.00);"-"'
)
_BUILT_IN = dict(zip(map(str, (*range(1, 11), *range(37, 45))), _CODES.split("|"), strict=True))
# Excel's built-in date formats, and the letters of other date formats; quoted and bracketed text is no format.
_DATES = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_DATE_FORMAT = re.compile(r"[dmyhs]", re.IGNORECASE)
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_ELAPSED_SIGN = re.compile(r'"(?P<words>[^"]*)"|\\(?P<sign>.)|\.0+|\[?(?P<unit>h+|m+|s+)\]?', re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"|\[[^\[\]]*\]|\\.|General')
_SECTION = re.compile(r'((?:"[^"]*"|\\.|\[[^\]]*\]|[^;])*);')
# Words, a currency, what is not displayed, digits, and other signs. Powers, fractions and conditions are not written.
_SIGN = re.compile(
    r'"(?P<words>[^"]*)"|\\(?P<sign>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]|[_*].|\[[^\]]*\]'
    r"|(?P<digits>[0#?][0#?,]*(?:\.[0#?]*)?|\.[0#?]+)|(?P<value>General|@)|(?P<other>.)"
)
_UNWRITTEN = re.compile(r"[0#?]\s*/|[eE][+-]|\[[<>=]")


def _formats(archive: zipfile.ZipFile) -> dict[str, _Show]:
    """How each style of cells shows a number."""
    styles = _optional_part(archive, "xl/styles.xml")
    codes = _BUILT_IN | {e.get("numFmtId", ""): e.get("formatCode", "") for e in styles.iterfind(".//{*}numFmt")}
    kinds = [entry.get("numFmtId", "0") for entry in styles.findall("{*}cellXfs/{*}xf")]
    return {str(n): _format(codes.get(kind, ""), int(kind) in _DATES) for n, kind in enumerate(kinds)}


def _format(code: str, is_date: bool = False) -> _Show:
    if _ELAPSED.search(code):
        return partial(_elapsed, code.partition(";")[0])
    if is_date or _DATE_FORMAT.search(_QUOTED.sub("", code)):
        return _date
    return partial(_formatted, code[:255]) if code and not _UNWRITTEN.search(code) else _general


def _general(value: str) -> str:
    short = f"{float(value):.12g}" if len(value) > 12 and "." in value else value
    return value if "e" in short else short


def _date(value: str) -> str:
    """Excel counts days from the end of 1899; below 1 it is a time of day."""
    days = float(value)
    moment = datetime(1899, 12, 30) + timedelta(seconds=round(days * 86_400))
    if 0 <= days < 1:
        return moment.strftime("%H:%M:%S")
    return moment.strftime("%Y-%m-%d" if days == int(days) else "%Y-%m-%d %H:%M:%S")


def _elapsed(code: str, value: str) -> str:
    """Days as hours, minutes and seconds: those in brackets count all."""
    seconds = round(abs(float(value)) * 86_400)

    def shown(part: re.Match[str]) -> str:
        if not part["unit"]:
            return part["words"] or part["sign"] or ""
        count = seconds // {"h": 3600, "m": 60, "s": 1}[part["unit"][0].lower()]
        return str(count) if part[0][0] == "[" else f"{count % 60:0{len(part[0])}}"

    return "-" * (float(value) < 0) + _ELAPSED_SIGN.sub(shown, code)


def _formatted(code: str, value: str) -> str:
    number = float(value)
    signs = _signs_of(code, 1 if number < 0 else 2 if number == 0 else 0)
    if not signs or not abs(number) < 1e15:  # Excel keeps 15 digits
        return _general(value)
    scaled = abs(number) * 100 ** sum(sign["other"] == "%" for sign in signs) * (1 + 4e-16)  # rounds halves up
    parts = [_general(value) if sign["value"] else _shown(sign, scaled) for sign in signs]
    minus = "-" if number < 0 and ";" not in code else ""
    return " ".join(f"{minus}{''.join(parts)}".split())


@lru_cache(maxsize=1000)
def _signs_of(code: str, at: int) -> list[re.Match[str]]:
    """Those of the format of positive numbers (0), of negative ones (1) or of zero; none if they cannot be written."""
    sections = _SECTION.findall(f"{code};")
    signs = list(_SIGN.finditer(sections[at] if at < len(sections) else sections[0]))
    return signs if sum(sign["digits"] is not None for sign in signs) < 2 else []


def _shown(sign: re.Match[str], number: float) -> str:
    if not sign["digits"]:
        return sign["words"] or sign["sign"] or sign["currency"] or sign["other"] or ""
    whole, _, decimals = sign["digits"].partition(".")
    digits = whole.rstrip(",")
    number /= 1000 ** (len(whole) - len(digits))
    left, _, right = f"{number:{',' * (',' in digits)}.{min(len(decimals), 15)}f}".partition(".")
    right = right[: decimals.count("0")] + right[decimals.count("0") :].rstrip("0")
    left = left.zfill(digits.count("0")) if digits.strip("#?,") or left != "0" else ""
    return f"{left}.{right}" if right else left


# ---------------------------------------------------------------- rich text

_RTF_RAISED = re.compile(r"([\w.,;:!?)])((?:[{}]|\\[a-z]+-?\d* ?){0,20}?\\super(?:\\[a-z]+-?\d*)* ?)(\d{1,4})")


def rich_document(path: Path, limit: int) -> Document:
    """An RTF file's text, blank lines between paragraphs; the title comes from the file's name."""
    check_size(path, path.stat().st_size, limit)
    data = path.read_bytes()
    if not data.startswith(b"{\\rtf"):
        raise cannot_read(path, "is no RTF: it should begin with {\\rtf", "save it again as RTF")
    # The library raises many kinds of error for damaged files.
    try:
        source = _RTF_RAISED.sub(lambda m: f"{m[1]}{m[2]}{set_apart(m[3], m[1])}", data.decode("latin-1"))
        lines = repair_text(rtf_to_text(source, errors="replace")).split("\n")
    except Exception as error:
        raise cannot_read(path, f"is damaged RTF ({error})", "save it again as RTF") from error
    text = "\n\n".join(line for line in (line.strip(" |\t").replace("|", " | ") for line in lines) if line)
    notes = counted(source.count("\\footnote"), "footnote", "left out")
    return replace(make_document(text, "", path), remarks=tuple(notes))
