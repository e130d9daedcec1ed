"""Slides (pptx), sheets (xlsx, xls, xlsb, ods), OpenDocument texts (odt), electronic books (epub), rich text (rtf)."""

from __future__ import annotations

import posixpath
import re
import zipfile
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import chain
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from striprtf.striprtf import rtf_to_text

from toulmin.data import Document
from toulmin.documents.archive import (
    core_properties,
    name_of,
    open_archive,
    parts_in_order,
    properties,
    related_parts,
    xml_part,
)
from toulmin.documents.html import page_document
from toulmin.documents.metadata import Fields
from toulmin.documents.number_formats import Show, elapsed, format_of, formats_of, general
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
_YES, _COLLAPSED = ("1", "true"), ("collapse", "filter")


def odt_document(path: Path, limit: int) -> Document:
    """An OpenDocument text, notes after paragraphs; the title comes from its properties, else its first heading."""
    with open_archive(path, limit, "OpenDocument text") as archive:
        content = _with_raised(xml_part(archive, "content.xml"))
        blocks = list(chain.from_iterable(map(_blocks, content.iterfind("{*}body"))))
        heading, fields = next(map(_words, content.iterfind("{*}body//{*}h")), ""), properties(archive, "meta.xml")
    pictures = sum(1 for _ in content.iterfind("{*}body//{*}image"))
    return _document(path, blocks, fields, heading, pictures=pictures)


def slides_document(path: Path, limit: int) -> Document:
    """A presentation's slides in order, one a page, each with the data of its charts and its notes."""
    with open_archive(path, limit, "presentation") as archive:
        parts = [part for _, part in parts_in_order(archive, "ppt/presentation.xml", "sldId")]
        slides = [_with_raised(xml_part(archive, part)) for part in parts]
        words, beside = [list(_blocks(slide)) for slide in slides], [list(_beside(archive, part)) for part in parts]
        fields = core_properties(archive)
    pages = ("\n\n".join(filter(None, [*shown, *others])) for shown, others in zip(words, beside, strict=True))
    pictures = sum(1 for slide in slides for _ in slide.iterfind(".//{*}pic"))
    return _document(path, pages, fields, next(chain.from_iterable(words), ""), has_pages=True, pictures=pictures)


def sheets_document(path: Path, limit: int) -> Document:
    """A workbook's sheets in order, each under its name: a block a row, as in a csv. A formula gives its last value."""
    book = workbook_of(path, limit)
    tables = [(name, table_text(rows.values())) for name, rows in book.sheets]
    blocks = [text for name, rows in tables if rows for text in (marked(1, name), rows)]
    return replace(_document(path, blocks, book.fields), remarks=book.remarks)


def book_document(path: Path, limit: int) -> Document:
    """An electronic book's chapters in reading order; the title comes from its properties."""
    with open_archive(path, limit, "electronic book") as archive:
        rootfile = xml_part(archive, "META-INF/container.xml").find(".//{*}rootfile")
        whole = rootfile.get("full-path", "") if rootfile is not None else ""
        package, folder = xml_part(archive, whole), posixpath.dirname(whole)
        items = package.findall(".//{*}item")
        files = {item.get("id"): unquote(item.get("href", "")) for item in items}
        pictures = sum(item.get("media-type", "").startswith("image/") for item in items)
        chapters = dict.fromkeys(files[entry.get("idref")] for entry in package.iterfind(".//{*}itemref"))
        blocks = [_chapter(archive.read(posixpath.normpath(posixpath.join(folder, name))), path) for name in chapters]
        fields = properties(archive, whole)
    return _document(path, blocks, fields, pictures=pictures)


def _document(
    path: Path, blocks: Iterable[str], fields: Fields, first: str = "", has_pages: bool = False, pictures: int = 0
) -> Document:
    """With pages, each block is one. The title is that of the fields, else `first`."""
    text, starts = "", []
    for block in blocks:
        starts.append(len(text))
        words = repair_text(block).strip()
        text += f"{words}\n\n" if unmarked(words) else ""
    text = text.rstrip()
    pages = [min(start, len(text)) for start in starts] if has_pages else []
    document = make_document(text, dict(reversed(fields)).get("title") or first, path, pages, fields)
    return replace(document, remarks=tuple(counted(pictures, "image", "without text")))


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
    show = format_of(code) if code else str
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
    """What is not hidden of it."""

    fields: Fields
    sheets: list[tuple[str, dict[int, list[str]]]]  # names, and rows by their numbers
    remarks: tuple[str, ...]


def workbook_of(path: Path, limit: int) -> Workbook:
    if path.suffix.lower() in (".xls", ".xlsb"):
        return _binary_workbook(path, limit)
    gone, book = Counter[str](), "xl/workbook.xml"
    with open_archive(path, limit, "workbook") as archive:
        if path.suffix.lower() == ".ods":
            content = _with_raised(xml_part(archive, "content.xml"))
            styles = [(_attribute(style, "name"), style) for style in content.iterfind(".//{*}style")]
            unseen = {name for name, style in styles if "false" in (_attribute(each, "display") for each in style)}
            every = content.findall("{*}body/{*}spreadsheet/{*}table")
            tables = [table for table in every if _attribute(table, "style-name") not in unseen]
            gone["sheet"] = len(every) - len(tables)
            sheets = [(_attribute(table, "name"), _open_rows(table, gone)) for table in tables]
            return Workbook(properties(archive, "meta.xml"), sheets, _left_out(gone))
        formats = formats_of(_optional_part(archive, "xl/styles.xml"))
        strings = [_string(entry) for entry in _optional_part(archive, "xl/sharedStrings.xml")]
        states = {each.get("name"): each.get("state") for each in xml_part(archive, book).iterfind(".//{*}sheet")}
        sheets = []
        for name, part in parts_in_order(archive, book, "sheet"):
            if states.get(name) in ("hidden", "veryHidden"):
                gone["sheet"] += 1
                continue
            sheet = xml_part(archive, part)
            rows = _sheet_rows(sheet, strings, formats, gone)
            merged = (each.get("ref", "").split(":") for each in sheet.iterfind("{*}mergeCells/{*}mergeCell"))
            areas = ((_row(start), _column(start) - 1, _row(end), _column(end) - 1) for start, end in merged)
            sheets.append((name, _with_merged(rows, areas)))
        fields = core_properties(archive)
    return Workbook(fields, sheets, _left_out(gone))


def _left_out(gone: Counter[str]) -> tuple[str, ...]:
    hidden = (counted(gone[what], f"hidden {what}", "left out") for what in ("sheet", "row", "column"))
    return tuple(chain(counted(gone["formula"], "formula", "without values"), *hidden))


def _string(entry: Element) -> str:
    words = ""
    for run in (entry, *(run for run in entry if name_of(run) == "r")):
        text = "".join(part.text or "" for part in run if name_of(part) == "t")
        is_raised = run.find("{*}rPr/{*}vertAlign[@val='superscript']") is not None
        words += set_apart(text, words[-1:]) if is_raised else text
    return words


def _sheet_rows(
    sheet: Element, strings: list[str], formats: Mapping[str, Show], gone: Counter[str]
) -> dict[int, list[str]]:
    """The rows by their numbers; counts formulas without values, and hidden rows and columns that hold something."""
    rows: dict[int, list[str]] = {}
    number, hidden, emptied = 0, _hidden_columns(sheet), set[int]()
    for row in sheet.iterfind(".//{*}row"):
        number = max(number + 1, int(row.get("r", "0")))
        cells: list[str] = []
        for cell in (cell for cell in row if name_of(cell) == "c"):
            column = _column(cell.get("r", "")) or len(cells) + 1
            value = _value(cell, strings, formats)
            if column in hidden and value:
                emptied.add(column)
                value = ""
            cells += [""] * min(column - 1 - len(cells), 20_000)
            cells.append(value)
            gone["formula"] += not value and cell.get("t") != "str" and cell.find("{*}f") is not None
        if row.get("hidden") in _YES:
            gone["row"] += any(cells)
        else:
            rows[number] = cells
    gone["column"] += len(emptied)
    return rows


def _hidden_columns(sheet: Element) -> set[int]:
    columns = (each for each in sheet.iterfind("{*}cols/{*}col") if each.get("hidden") in _YES)
    spans = (range(int(each.get("min", "1")), min(int(each.get("max", "0")), 20_000) + 1) for each in columns)
    return set(chain.from_iterable(spans))


def _column(reference: str) -> int:
    """The cell's column from 1, by its letters (AB12); 0 without letters."""
    number = 0
    for letter in re.match("[A-Z]*", reference)[0]:  # type: ignore[index]
        number = 26 * number + ord(letter) - 64
    return number


def _value(cell: Element, strings: list[str], formats: Mapping[str, Show]) -> str:
    kind, value = cell.get("t", "n"), next((part.text or "" for part in cell if name_of(part) == "v"), "")
    if kind == "s":
        return strings[int(value)]
    if kind == "inlineStr":
        return "".join(_string(entry) for entry in cell.findall("{*}is"))
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    return formats.get(cell.get("s", "0"), general)(value) if kind == "n" and value else value


def _row(reference: str) -> int:
    return int(reference.lstrip(ascii_uppercase))


def _with_merged(rows: dict[int, list[str]], areas: Iterable[tuple[int, int, int, int]]) -> dict[int, list[str]]:
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
    return rows


def _open_rows(table: Element, gone: Counter[str]) -> dict[int, list[str]]:
    """The rows of an OpenDocument sheet, whose cells hold what they display; counts hidden ones that hold something."""
    rows, numbers, after = list[list[Cell]](), list[int](), 1
    for row in table.iterfind(".//{*}table-row"):
        cells = [_open_cell(cell) for cell in row if name_of(cell) == "table-cell"]
        is_filled, times = any(cell.text for cell in cells), int(_attribute(row, "number-rows-repeated") or 1)
        after, number = after + times, after
        if _attribute(row, "visibility") in _COLLAPSED:
            gone["row"] += is_filled
            continue
        shown = range(number, number + (min(times, MOST_SPANNED) if is_filled else 1))
        rows += [cells] * len(shown)
        numbers += shown
    grid, hidden = spread(rows), _collapsed_columns(table)
    gone["column"] += sum(any(row[n] for row in grid if n < len(row)) for n in hidden)
    seen = ([text if n not in hidden else "" for n, text in enumerate(row)] for row in grid)
    return dict(zip(numbers, seen, strict=True))


def _collapsed_columns(table: Element) -> set[int]:
    hidden, at = set[int](), 0
    for column in table.iterfind(".//{*}table-column"):
        after = at + min(int(_attribute(column, "number-columns-repeated") or 1), 20_000)
        hidden |= set(range(at, after)) if _attribute(column, "visibility") in _COLLAPSED else set()
        at = after
    return hidden


def _open_cell(cell: Element) -> Cell:
    day, text = _attribute(cell, "date-value"), " ".join(map(_words, cell.iterfind("{*}p")))
    names = (("number-columns-repeated", "number-columns-spanned"), ("number-rows-spanned",))
    spans = (next(filter(None, (_attribute(cell, name) for name in each)), "1") for each in names)
    return Cell(day.replace("T", " ") or text, *map(int, spans))


def _binary_workbook(path: Path, limit: int) -> Workbook:
    from python_calamine import CalamineError, SheetVisibleEnum, load_workbook  # for these kinds alone

    check_size(path, path.stat().st_size, limit)
    try:
        with load_workbook(path) as book:
            seen = [each.name for each in book.sheets_metadata if each.visible == SheetVisibleEnum.Visible]
            sheets = [(name, _binary_rows(book.get_sheet_by_name(name))) for name in seen]
            hidden = len(book.sheet_names) - len(seen)
    except CalamineError as error:
        raise cannot_read(path, f"is damaged or encrypted ({error})", "save it as .xlsx without a password") from error
    lacks = [*counted(hidden, "hidden sheet", "left out"), "percentages and currencies read as plain numbers"]
    return Workbook([], sheets, tuple(lacks))


def _binary_rows(sheet: CalamineSheet) -> dict[int, list[str]]:
    first, left = sheet.start or (0, 0)
    rows = dict(enumerate(([""] * left + list(map(_plain, row)) for row in sheet.to_python()), first + 1))
    areas = sheet.merged_cell_ranges or ()
    return _with_merged(rows, ((top + 1, start, bottom + 1, end) for (top, start), (bottom, end) in areas))


def _plain(value: object) -> str:
    if isinstance(value, timedelta):
        return elapsed("[h]:mm:ss" if value.seconds % 60 else "[h]:mm", str(value / timedelta(days=1)))
    if isinstance(value, bool):
        return str(value).upper()
    return general(repr(value).removesuffix(".0")) if isinstance(value, float) else str(value)


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
