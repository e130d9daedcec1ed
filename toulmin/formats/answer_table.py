"""Tables of answers, as files."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from html import escape
from itertools import chain
from typing import NamedTuple

import orjson

from toulmin.data import Answer, render
from toulmin.formats import answer_json, html_page
from toulmin.formats.manuscript import SIGNS, UNCHECKED, Manuscript, file_link, printable, web_address

# A document's words are no formula: in csv they begin with an apostrophe, in a workbook every cell is a text.
_FORMULA = re.compile("[=+@＝＋＠－-]")
_LONGEST = 32_767  # characters in a cell of a workbook
_OPEN = "http://schemas.openxmlformats.org/"
_SHEET, _LINKS = f"{_OPEN}spreadsheetml/2006/main", f"{_OPEN}officeDocument/2006/relationships"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml."
_RELATION = (
    f'<Relationships xmlns="{_OPEN}package/2006/relationships">'
    f'<Relationship Id="a" Type="{_LINKS}/{{}}" Target="{{}}"/></Relationships>'
)
_WORKBOOK = {
    "[Content_Types].xml": f'<Types xmlns="{_OPEN}package/2006/content-types"><Default Extension="rels" ContentType='
    '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="'
    f'{_KIND}worksheet+xml"/><Override PartName="/xl/workbook.xml" ContentType="{_KIND}sheet.main+xml"/></Types>',
    "_rels/.rels": _RELATION.format("officeDocument", "xl/workbook.xml"),
    "xl/_rels/workbook.xml.rels": _RELATION.format("worksheet", "sheet.xml"),
    "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_LINKS}"><sheets><sheet name="Answers" sheetId="1"'
    ' r:id="a"/></sheets></workbook>',
}
# The first column and row stay in sight.
_VIEW = (
    '<sheetViews><sheetView workbookViewId="0"><pane xSplit="1" ySplit="1" topLeftCell="B2" state="frozen"/>'
    '</sheetView></sheetViews><cols><col min="1" max="16384" width="24" customWidth="1"/></cols>'
)


class Row(NamedTuple):
    """Answers without id: the document could not be read; `place` is its path or address."""

    document: str
    place: str
    answers: tuple[Answer, ...]


class Cell(NamedTuple):
    """Without text, `verdict` is the answer's status and `quote` the reason."""

    text: str
    verdict: str
    place: str
    quote: str


def cell_of(answer: Answer) -> Cell:
    manuscript = Manuscript(answer)
    if manuscript.silence:
        return Cell("", answer.status, "", manuscript.silence)
    labels = [claim.support.label if claim.support else UNCHECKED for claim in answer.claims]
    places = dict.fromkeys(note.where for note in manuscript.notes if note.where)
    quotes = dict.fromkeys(note.quote for note in manuscript.notes if note.quote)
    text = printable(render(answer.claims, answer.style, numbers={}).text)
    return Cell(text, max(labels, key=(UNCHECKED, *SIGNS).index), "; ".join(places), " … ".join(quotes))


def _texts(rows: Sequence[Row]) -> Iterator[list[str]]:
    heads = [head for answer in rows[0].answers for head in (answer.question, *Cell._fields[1:])]
    for row in (["document", "file", *heads], *([*row[:2], *chain(*map(cell_of, row.answers))] for row in rows)):
        yield list(map(printable, row))


def csv_file(rows: Sequence[Row]) -> bytes:
    file = io.StringIO()
    csv.writer(file).writerows([f"'{text}" if _FORMULA.match(text) else text for text in row] for row in _texts(rows))
    return file.getvalue().encode()


def _workbook(rows: Sequence[Row]) -> bytes:
    cell = '<c t="inlineStr"><is><t>{}</t></is></c>'
    lines = ("".join(cell.format(escape(text[:_LONGEST])) for text in row) for row in _texts(rows))
    data = "".join(f"<row>{line}</row>" for line in lines)
    sheet = f'<worksheet xmlns="{_SHEET}">{_VIEW}<sheetData>{data}</sheetData></worksheet>'
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in {**_WORKBOOK, "xl/sheet.xml": sheet}.items():
            archive.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED)  # without the time of its making
    return file.getvalue()


def _page(rows: Sequence[Row]) -> bytes:
    heads = "".join(f'<th dir="auto">{escape(printable(answer.question))}</th>' for answer in rows[0].answers)
    lines = (
        f"<tr><th>{_link(web_address(row.place) or file_link(row.place), row.document)}</th>"
        f"{''.join(map(_page_cell, row.answers))}</tr>\n"
        for row in rows
    )
    table = f'<div class="answers" tabindex="0"><table>\n<tr><td></td>{heads}</tr>\n{"".join(lines)}</table></div>\n'
    return html_page.whole_page("Answers", table).encode()


def _page_cell(answer: Answer) -> str:
    manuscript = Manuscript(answer)
    if manuscript.silence:
        return f"<td><details><summary>–</summary>{escape(manuscript.silence)}</details></td>"
    links = {where: _link(note.link, where) for note in manuscript.notes for where in [note.where or "source"]}
    sentences = map(html_page.sentence_html, manuscript.sentences)
    return f'<td dir="auto">{" ".join([*sentences, *links.values()])}</td>'


def _link(address: str, text: str) -> str:
    return f'<a href="{escape(address)}" rel="noopener noreferrer"><bdi>{escape(printable(text))}</bdi></a>'


def json_file(rows: Sequence[Row]) -> bytes:
    documents = [{**row._asdict(), "answers": [*map(answer_json.document, row.answers)]} for row in rows]
    return orjson.dumps(answer_json.plain(documents), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


FORMS = {".csv": csv_file, ".xlsx": _workbook, ".html": _page, ".json": json_file}
