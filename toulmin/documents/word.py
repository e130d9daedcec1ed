"""DOCX: paragraphs, headings and tables of a Word document, in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path

import docx
from docx.document import Document as WordDocument
from docx.opc.part import Part
from docx.oxml.ns import qn
from docx.oxml.parser import parse_xml
from docx.oxml.xmlchemy import BaseOxmlElement

from toulmin.data import Document
from toulmin.documents.archive import open_archive, properties
from toulmin.documents.plain import make_document, marked, repair_text, set_apart, unmarked
from toulmin.documents.tables import Cell, grid_rows

PARAGRAPH, TABLE, _TEXT = qn("w:p"), qn("w:tbl"), qn("w:t")
PROPERTIES, STYLE, VALUE, ID = qn("w:pPr"), qn("w:pStyle"), qn("w:val"), qn("w:id")
NOTES = {qn("w:footnoteReference"): "footnote", qn("w:endnoteReference"): "endnote"}
_ROW, _CELL, _HEADS = qn("w:tr"), qn("w:tc"), f"{qn('w:trPr')}/{qn('w:tblHeader')}"
_COLUMNS, _DOWN = (f"{qn('w:tcPr')}/{qn(name)}" for name in ("w:gridSpan", "w:vMerge"))
_RAISED = f"{qn('w:rPr')}/{qn('w:vertAlign')}[@{VALUE}='superscript']"
_HEADING = re.compile(r"[Hh]eading (\d)")
_TRANSPARENT = frozenset(map(qn, ("w:sdt", "w:sdtContent", "w:ins", "w:moveTo", "w:smartTag", "w:customXml")))
_SIGNS = {PARAGRAPH: "\n", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:tab"): "\t", qn("w:noBreakHyphen"): "-"}
# Paragraph properties (tab stops), text that was moved away, and the fallback form of a drawing.
_UNSEEN = (qn("w:pPr"), qn("w:moveFrom"), "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback")


def word_document(path: Path, limit: int) -> Document:
    """A Word document's text: blank lines between paragraphs and table rows, notes after their reference.

    The title comes from its properties, else its first heading.
    """
    with open_archive(path, limit, "Word document") as archive:
        document = docx.Document(str(path))
        levels, notes = _levels(document), _notes(document)
        blocks = [repair_text(block).strip() for block in _blocks(document.element.body, levels, notes)]
        title = document.core_properties.title or _first_heading(document)
        fields = properties(archive, "docProps/core.xml")
    return make_document("\n\n".join(block for block in blocks if unmarked(block)), title, path, fields=fields)


def _levels(document: WordDocument) -> dict[str, int]:
    named = {style.style_id: _HEADING.match(style.name or "") for style in document.styles}
    return {style: int(heading[1]) for style, heading in named.items() if heading}


def _notes(document: WordDocument) -> dict[tuple[str, str], str]:
    notes = ((kind, id, note) for kind in NOTES.values() for note, id, _ in elements_of(document.part, kind))
    return {(kind, id): " ".join(" ".join(map(words_of, note.iter(PARAGRAPH))).split()) for kind, id, note in notes}


def elements_of(part: Part, kind: str) -> Iterator[tuple[BaseOxmlElement, str, Part]]:
    """The footnotes, endnotes or comments of a document, with their ids and the part that holds their links."""
    for relation in part.rels.values():
        if not relation.is_external and relation.reltype.endswith(f"/{kind}s"):
            root = parse_xml(relation.target_part.blob)
            yield from ((element, element.get(ID, ""), relation.target_part) for element in root.iter(qn(f"w:{kind}")))


def _blocks(
    container: BaseOxmlElement, levels: Mapping[str, int] = {}, notes: Mapping[tuple[str, str], str] = {}
) -> Iterator[str]:
    for element in children_of(container):
        if element.tag == PARAGRAPH:
            style = element.find(f"{PROPERTIES}/{STYLE}")
            level = levels.get(style.get(VALUE, "")) if style is not None else None
            yield marked(level, words_of(element)) if level else words_of(element)
        elif element.tag == TABLE:
            rows = [row for row in children_of(element) if row.tag == _ROW]
            heads = len(list(takewhile(lambda row: row.find(_HEADS) is not None, rows)))
            yield "\n\n".join(grid_rows(_spanning(rows), heads))
        references = element.iter(*NOTES) if notes else ()
        yield from (notes.get((NOTES[mark.tag], mark.get(ID, "")), "") for mark in references)


def children_of(element: BaseOxmlElement) -> Iterator[BaseOxmlElement]:
    for child in element:
        if child.tag in _TRANSPARENT:
            yield from children_of(child)
        else:
            yield child


def _spanning(rows: Iterable[BaseOxmlElement]) -> Iterator[list[Cell]]:
    """The cells of each row; a cell that continues the one above repeats its words."""
    above: dict[int, str] = {}
    for row in rows:
        cells, column, texts = [], 0, {}
        for cell in (child for child in children_of(row) if child.tag == _CELL):
            span, down = cell.find(_COLUMNS), cell.find(_DOWN)
            goes_on = down is not None and down.get(VALUE) != "restart"
            text = above.get(column, "") if goes_on else _text_of(cell)
            cells.append(Cell(text, int(span.get(VALUE, "1")) if span is not None else 1))
            texts[column] = text
            column += cells[-1].columns
        above = texts
        yield cells


def _text_of(cell: BaseOxmlElement) -> str:
    return " ".join(" ".join(_blocks(cell)).split())


def row_of(row: BaseOxmlElement) -> str:
    cells = map(_text_of, children_of(row))
    return " | ".join(cell for cell in cells if cell)


def words_of(paragraph: BaseOxmlElement) -> str:
    return "".join(text for _, text in parts_of(paragraph))


def parts_of(paragraph: BaseOxmlElement) -> Iterator[tuple[BaseOxmlElement, str]]:
    """The visible elements of a paragraph in order, with the text that each shows by itself."""
    unseen = {part for element in paragraph.iter(*_UNSEEN) for part in element.iter()}
    before = ""
    for element in paragraph.iter():
        if element in unseen or element is paragraph:
            continue
        text = (element.text or "") if element.tag == _TEXT else _SIGNS.get(element.tag, "")
        raised = element.getparent().find(_RAISED) if text else None
        begin, _, end = set_apart(text, before if raised is not None else "").partition(text or " ")
        yield from (
            (part, sign) for part, sign in ((raised, begin), (element, text), (raised, end)) if part is not None
        )
        before = "" if begin else text[-1:] or before


def _first_heading(document: WordDocument) -> str:
    heads = ("Title", "Heading")
    texts = (each.text for each in document.paragraphs if each.style and (each.style.name or "").startswith(heads))
    return next(filter(str.strip, texts), "")
