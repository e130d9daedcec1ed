"""DOCX: paragraphs, headings and tables of a Word document, in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import docx
from docx.document import Document as WordDocument
from docx.opc.part import Part
from docx.oxml.ns import nsmap, qn
from docx.oxml.parser import parse_xml
from docx.oxml.xmlchemy import BaseOxmlElement

from toulmin.data import Document
from toulmin.documents.archive import core_properties, open_archive
from toulmin.documents.plain import counted, make_document, marked, repair_text, set_apart, unmarked
from toulmin.documents.tables import Cell, grid_rows

PARAGRAPH, TABLE, _TEXT = qn("w:p"), qn("w:tbl"), qn("w:t")
PROPERTIES, STYLE, VALUE, ID = qn("w:pPr"), qn("w:pStyle"), qn("w:val"), qn("w:id")
NOTES = {qn("w:footnoteReference"): "footnote", qn("w:endnoteReference"): "endnote"}
_ROW, _CELL, _HEADS = qn("w:tr"), qn("w:tc"), f"{qn('w:trPr')}/{qn('w:tblHeader')}"
_COLUMNS, _DOWN = (f"{qn('w:tcPr')}/{qn(name)}" for name in ("w:gridSpan", "w:vMerge"))
_RAISED = f"{qn('w:rPr')}/{qn('w:vertAlign')}[@{VALUE}='superscript']"
_HEADING = re.compile(r"[Hh]eading (\d)")
_TRANSPARENT = frozenset(map(qn, ("w:sdt", "w:sdtContent", "w:ins", "w:moveTo", "w:smartTag", "w:customXml")))
_HIDDEN, _RUN, _RUN_STYLE, _STYLE_ID = (qn(f"w:{name}") for name in ("vanish", "r", "rStyle", "styleId"))
_LEVEL, _WHOLE, _PICTURE, _NAMES = qn("w:ilvl"), qn("w:abstractNumId"), qn("a:blip"), {"w": nsmap["w"]}
_ROMAN = [
    pair.split() for pair in "1000 m,900 cm,500 d,400 cd,100 c,90 xc,50 l,40 xl,10 x,9 ix,5 v,4 iv,1 i".split(",")
]
_SIGNS = {PARAGRAPH: "\n", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:tab"): "\t", qn("w:noBreakHyphen"): "-"}
# Paragraph properties (tab stops), text that was moved away, and the fallback form of a drawing.
_UNSEEN = (qn("w:pPr"), qn("w:moveFrom"), "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback")


def word_document(path: Path, limit: int, content: Path | None = None) -> Document:
    """A Word document's text: blank lines between paragraphs and table rows, notes after their reference.

    The title comes from its properties, else its first heading. `content` is the file if it is not at `path`.
    """
    content = content or path
    with open_archive(content, limit, "Word document") as archive:
        document = docx.Document(str(content))
        fields, body = core_properties(archive), document.element.body
        title = dict(fields).get("title") or _first_heading(document)
        hidden = make_visible(document)
        blocks = [repair_text(block).strip() for block in _blocks(body, _levels(document), _notes(document))]
        comments = len(list(elements_of(document.part, "comment")))
    text = "\n\n".join(block for block in blocks if unmarked(block))
    remarks = counted(hidden, "hidden passage", "left out") + counted(comments, "comment", "left out")
    remarks += counted(sum(1 for _ in body.iter(_PICTURE)), "image", "without text")
    return replace(make_document(text, title, path, fields=fields), remarks=tuple(remarks))


def _levels(document: WordDocument) -> dict[str, int]:
    named = {style.style_id: _HEADING.match(style.name or "") for style in document.styles}
    return {style: int(heading[1]) for style, heading in named.items() if heading}


def _notes(document: WordDocument) -> dict[tuple[str, str], str]:
    notes = ((kind, id, note) for kind in NOTES.values() for note, id, _ in elements_of(document.part, kind))
    return {(kind, id): " ".join(" ".join(map(words_of, note.iter(PARAGRAPH))).split()) for kind, id, note in notes}


def elements_of(part: Part, kind: str) -> Iterator[tuple[BaseOxmlElement, str, Part]]:
    """The footnotes, endnotes or comments of a document, with their ids and the part that holds their links."""
    for root, target in _roots(part, f"{kind}s"):
        yield from ((element, element.get(ID, ""), target) for element in root.iter(qn(f"w:{kind}")))


def _roots(part: Part, kind: str) -> Iterator[tuple[BaseOxmlElement, Part]]:
    for relation in part.rels.values():
        if not relation.is_external and relation.reltype.endswith(f"/{kind}"):
            yield parse_xml(relation.target_part.blob), relation.target_part


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


# ---------------------------------------------------------------- what is hidden, and what only Word displays


def make_visible(document: WordDocument) -> int:
    """Removes hidden and struck words and writes automatic numbers; returns in how many paragraphs words were such."""
    hidden = dict.fromkeys(run for run in _hidden_runs(document) if run.find(_TEXT) is not None)
    paragraphs = {next(run.iterancestors(PARAGRAPH), run) for run in hidden}
    for run in hidden:
        run.getparent().remove(run)
    for paragraph, number in list(_numbered(document)):
        if number and next(paragraph.iter(_TEXT), None) is not None:
            run, about = paragraph.add_r(), paragraph.get_or_add_pPr()
            run.text = f"{number} "
            about.addnext(run)
            about.get_or_add_numPr().get_or_add_numId().val = about.numPr.get_or_add_ilvl().val = 0  # of no list now
    return len(paragraphs)


def _hidden_runs(document: WordDocument) -> Iterator[Any]:
    kinds = "self::w:vanish or self::w:strike or self::w:dstrike"
    body, is_on = document.element.body, f"*[{kinds}][not(@w:val='0' or @w:val='false' or @w:val='off')]"
    styles = set(document.styles.element.xpath(f"w:style[w:rPr/{is_on}]/@w:styleId"))
    named = [style for style in body.iter(STYLE, _RUN_STYLE) if style.get(VALUE) in styles] if styles else []
    for mark in (*body.xpath(f".//w:rPr/{is_on}"), *named):  # in a run or a paragraph
        yield from mark.getparent().getparent().iter(_RUN)


class _List(NamedTuple):
    """Lists with one key count on, but for levels that one of them starts again."""

    key: str
    levels: dict[int, BaseOxmlElement]
    starts: dict[int, int]


def _numbered(document: WordDocument) -> Iterator[tuple[Any, str]]:
    """The paragraphs of lists in order, each with its number."""
    lists, counts, begun = _lists(document), dict[str, dict[int, int]](), set[str]()
    styles = {style.get(_STYLE_ID, ""): style for style in document.styles.element.iter(qn("w:style"))}
    place_of_style = cache(lambda name: _place_of_style(name, styles, lists, 20))
    for about in document.element.body.iter(PROPERTIES) if lists else ():
        name, own = _place_in_list(about)
        of_style, below = place_of_style(_value(about, "w:pStyle"))
        name, level = name or of_style, int(own or below or 0)
        if name not in lists or level not in lists[name].levels:
            continue
        key, levels, starts = lists[name]
        count = counts.setdefault(key, {})
        count |= {} if name in begun else {at: start - 1 for at, start in starts.items()}
        begun.add(name)
        count[level] = count.get(level, int(_value(levels[level], "w:start") or 1) - 1) + 1
        for at in [at for at in count if level < at and level < int(_value(levels[at], "w:lvlRestart") or at)]:
            del count[at]
        yield about.getparent(), _label(levels, level, count)


def _lists(document: WordDocument) -> dict[str, _List]:
    root: Any = next((root for root, _ in _roots(document.part, "numbering")), parse_xml("<none/>"))
    named = {each.get(_WHOLE): each for each in root.iter(qn("w:abstractNum"))}
    lists = {}
    for entry in root.iter(qn("w:num")):
        key, changes = _value(entry, "w:abstractNumId"), list(entry.iter(qn("w:lvlOverride")))
        levels = [level for part in (named.get(key, ()), *changes) for level in part if level.tag == qn("w:lvl")]
        starts = {int(each.get(_LEVEL)): int(n) for each in changes if (n := _value(each, "w:startOverride"))}
        lists[entry.get(qn("w:numId"))] = _List(key, {int(level.get(_LEVEL)): level for level in levels}, starts)
    return lists


def _place_of_style(name: str, styles: Mapping[str, Any], lists: Mapping[str, _List], most: int) -> tuple[str, str]:
    """The list and level of a style, perhaps from one of so many styles that it is based on."""
    style = styles.get(name) if most else None
    if style is None:
        return "", ""
    of_list, level = _place_in_list(style.find(PROPERTIES))
    if not of_list:
        of_list, below = _place_of_style(_value(style, "w:basedOn"), styles, lists, most - 1)
        return of_list, level or below
    levels = lists[of_list].levels if of_list in lists else {}
    return of_list, level or next((str(at) for at, each in levels.items() if _value(each, "w:pStyle") == name), "")


def _place_in_list(properties: Any) -> tuple[str, str]:
    return _value(properties, "w:numPr/w:numId"), _value(properties, "w:numPr/w:ilvl")


def _value(element: Any, path: str) -> str:
    child = element.find(path, _NAMES) if element is not None else None
    return "" if child is None else str(child.get(VALUE, ""))


def _label(levels: Mapping[int, BaseOxmlElement], level: int, count: dict[int, int]) -> str:
    is_legal = levels[level].find(qn("w:isLgl")) is not None

    def shown(mark: re.Match[str]) -> str:
        at = int(mark[1]) - 1
        if at > level or at not in levels:
            return ""
        number = count.setdefault(at, int(_value(levels[at], "w:start") or 1))
        return _written(number, "decimal" if is_legal else _value(levels[at], "w:numFmt"))

    is_bullet = _value(levels[level], "w:numFmt") == "bullet"
    return "" if is_bullet else re.sub("%([1-9])", shown, _value(levels[level], "w:lvlText"))


def _written(number: int, form: str) -> str:
    if form == "decimal" or not 0 < number < 4000:
        return str(number)
    letters, roman, rest = chr(ord("a") + (number - 1) % 26) * (1 + (number - 1) // 26), "", number
    for value, sign in _ROMAN:
        roman, rest = roman + sign * (rest // int(value)), rest % int(value)
    forms = {"lowerLetter": letters, "upperLetter": letters.upper(), "lowerRoman": roman, "upperRoman": roman.upper()}
    return (forms | {"decimalZero": f"{number:02}", "none": ""}).get(form, str(number))


def _first_heading(document: WordDocument) -> str:
    heads = ("Title", "Heading")
    texts = (each.text for each in document.paragraphs if each.style and (each.style.name or "").startswith(heads))
    return next(filter(str.strip, texts), "")
