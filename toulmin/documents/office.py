"""Slides (pptx), sheets (xlsx), OpenDocument texts (odt), electronic books (epub), and rich text (rtf)."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import chain, pairwise
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from striprtf.striprtf import rtf_to_text

from toulmin.data import Document
from toulmin.documents.archive import name_of, open_archive, parts_in_order, properties, xml_part
from toulmin.documents.html import page_document
from toulmin.documents.metadata import Fields
from toulmin.documents.plain import cannot_read, check_size, make_document, marked, repair_text, set_apart, unmarked
from toulmin.documents.tables import Cell, grid_rows, table_text
from toulmin.errors import SourceError

# Local names of elements, those of OpenDocument before those of slides.
_PARAGRAPHS, _TABLES, _ROWS, _CELLS = {"p", "h"}, {"table", "tbl"}, {"table-row", "tr"}, {"table-cell", "tc"}
_UNSEEN = {"tracked-changes", "annotation", "note", "forms", "fld", "Fallback"}
_RAISED, _HIGH = "raised", re.compile("super|[1-9]")  # the name given to raised runs and spans, and how high these are
_SIGNS = {"line-break": "\n", "br": "\n", "tab": "\t", "s": " "}
_FURNITURE = {"sldNum", "ftr", "dt"}

# Excel's built-in date formats, and the letters of other date formats; quoted and bracketed text is no format.
_DATES = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_DATE_FORMAT = re.compile(r"[dmyhs]", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"|\[[^\[\]]*\]|\\.')


def odt_document(path: Path, limit: int) -> Document:
    """An OpenDocument text without footnotes; the title comes from its properties, else its first heading."""
    with open_archive(path, limit, "OpenDocument text") as archive:
        content = _with_raised(xml_part(archive, "content.xml"))
        blocks = list(chain.from_iterable(map(_blocks, content.iterfind("{*}body"))))
        heading, fields = next(map(_words, content.iterfind("{*}body//{*}h")), ""), properties(archive, "meta.xml")
    return _document(path, blocks, fields, heading)


def slides_document(path: Path, limit: int) -> Document:
    """A presentation's slides in order, one a page, without notes."""
    with open_archive(path, limit, "presentation") as archive:
        parts = parts_in_order(archive, "ppt/presentation.xml", "sldId")
        slides = [list(_blocks(_with_raised(xml_part(archive, part)))) for _, part in parts]
        fields = properties(archive, "docProps/core.xml")
    heading = next(chain.from_iterable(slides), "")
    return _document(path, map("\n\n".join, slides), fields, heading, has_pages=True)


def sheets_document(path: Path, limit: int) -> Document:
    """A workbook's sheets in order, each after its name: a block a row, as in a csv. A formula gives its last value."""
    fields, sheets = sheets_of(path, limit)
    tables = [(name, table_text(rows)) for name, rows in sheets]
    return _document(path, [text for name, rows in tables if rows for text in (name, rows)], fields)


def sheets_of(path: Path, limit: int) -> tuple[Fields, list[tuple[str, list[list[str]]]]]:
    with open_archive(path, limit, "workbook") as archive:
        dates = _date_styles(archive)
        strings = [_string(entry) for entry in _optional_part(archive, "xl/sharedStrings.xml")]
        parts = parts_in_order(archive, "xl/workbook.xml", "sheet")
        sheets = [(name, list(_sheet_rows(xml_part(archive, part), strings, dates))) for name, part in parts]
        return properties(archive, "docProps/core.xml"), sheets


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
    places = [0, *(heading.start for heading in page.headings), len(page.text)]
    before, *parts = (page.text[start:end] for start, end in pairwise(places))
    return before + "".join(marked(heading.level, part) for heading, part in zip(page.headings, parts, strict=True))


# ---------------------------------------------------------------- texts and slides


def _blocks(container: Element) -> Iterator[str]:
    for element in container:
        name = name_of(element)
        if name in _PARAGRAPHS:
            yield marked(_level(element), _words(element)) if name == "h" else _words(element)
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


def _string(entry: Element) -> str:
    return "".join(text.text or "" for text in (*entry.findall("{*}t"), *entry.findall("{*}r/{*}t")))


def _date_styles(archive: zipfile.ZipFile) -> set[str]:
    styles = _optional_part(archive, "xl/styles.xml")
    entries = styles.iterfind(".//{*}numFmt")
    formats = {entry.get("numFmtId"): _QUOTED.sub("", entry.get("formatCode", "")) for entry in entries}
    kinds = [entry.get("numFmtId", "0") for entry in styles.findall("{*}cellXfs/{*}xf")]
    return {str(n) for n, kind in enumerate(kinds) if int(kind) in _DATES or _DATE_FORMAT.search(formats.get(kind, ""))}


def _sheet_rows(sheet: Element, strings: list[str], dates: set[str]) -> Iterator[list[str]]:
    for row in sheet.iterfind(".//{*}row"):
        cells: list[str] = []
        for cell in row.findall("{*}c"):
            column = _column(cell.get("r", ""))
            cells += [""] * min(column - 1 - len(cells), 20_000)
            cells.append(_value(cell, strings, dates))
        yield cells


def _column(reference: str) -> int:
    """The cell's column from 1, by its letters (AB12); 0 without letters."""
    number = 0
    for letter in re.match("[A-Z]*", reference)[0]:  # type: ignore[index]
        number = 26 * number + ord(letter) - 64
    return number


def _value(cell: Element, strings: list[str], dates: set[str]) -> str:
    kind, value = cell.get("t", "n"), cell.findtext("{*}v", "")
    if kind == "s":
        return strings[int(value)]
    if kind == "inlineStr":
        return "".join(_string(entry) for entry in cell.findall("{*}is"))
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    return _date(float(value)) if kind == "n" and value and cell.get("s") in dates else value


def _date(days: float) -> str:
    """Excel counts days from the end of 1899; below 1 it is a time of day."""
    moment = datetime(1899, 12, 30) + timedelta(seconds=round(days * 86_400))
    if 0 <= days < 1:
        return moment.strftime("%H:%M:%S")
    return moment.strftime("%Y-%m-%d" if days == int(days) else "%Y-%m-%d %H:%M:%S")


# ---------------------------------------------------------------- rich text


def rich_document(path: Path, limit: int) -> Document:
    """An RTF file's text, blank lines between paragraphs; the title comes from the file's name."""
    check_size(path, path.stat().st_size, limit)
    data = path.read_bytes()
    if not data.startswith(b"{\\rtf"):
        raise cannot_read(path, "is no RTF: it should begin with {\\rtf", "save it again as RTF")
    # The library raises many kinds of error for damaged files.
    try:
        lines = repair_text(rtf_to_text(data.decode("latin-1"), errors="replace")).split("\n")
    except Exception as error:
        raise cannot_read(path, f"is damaged RTF ({error})", "save it again as RTF") from error
    text = "\n\n".join(line for line in (line.strip(" |\t").replace("|", " | ") for line in lines) if line)
    return make_document(text, "", path)
