"""An answer as a Word document: footnotes with the sources' words, a bibliography, and a table of evidence.

python-docx writes no footnotes; `_Notes` makes their part.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from io import BytesIO

import docx
from docx.document import Document as WordDocument
from docx.enum.section import WD_ORIENT, WD_SECTION
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import XmlPart
from docx.oxml import OxmlElement
from docx.oxml.ns import nsdecls, qn
from docx.oxml.parser import parse_xml
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.shared import Pt, RGBColor
from docx.text.paragraph import Paragraph

from toulmin.data import Answer
from toulmin.formats.bibliography import PLAIN, entries
from toulmin.formats.manuscript import COLUMNS, Block, Manuscript, Note

_WRONG = RGBColor(0xA3, 0x32, 0x3A)
_LINK = RGBColor(0x2F, 0x5D, 0x8A)
_WIDTHS = (0.4, 2.2, 1.3, 0.9, 2.2, 1.5, 1.2)  # of the columns of the evidence, in inches
_SEPARATORS = {"separator": "-1", "continuationSeparator": "0"}
_STYLES = {"heading": "Heading 1", "item": "List Bullet", "paragraph": "Normal"}


def word_file(answer: Answer, style: str = PLAIN) -> bytes:
    manuscript, document = Manuscript(answer), docx.Document()
    _prepare(document, manuscript)
    document.add_heading(manuscript.title, 0)
    document.add_paragraph(manuscript.about, "Subtitle")
    notes = _Notes(document)
    for block in manuscript.blocks:
        _add_block(document, block, notes)
    if manuscript.silence:
        document.add_paragraph(manuscript.silence)
    if manuscript.references:
        document.add_heading("References", 1)
        for reference, text in zip(manuscript.references, entries(manuscript.references, style), strict=True):
            document.add_paragraph(f"[{reference.n}] {text}", "Bibliography")
    if manuscript.removed:
        document.add_heading("Taken away", 1)
        _add_table(document, ("Text", "Why"), manuscript.removed, (4.0, 2.0))
    if manuscript.sentences:
        section = document.add_section(WD_SECTION.NEW_PAGE)  # a landscape page, for a wide table
        width, height = section.page_width, section.page_height
        section.orientation, section.page_width, section.page_height = WD_ORIENT.LANDSCAPE, height, width
        section.left_margin = section.right_margin = Pt(40)
        document.add_heading("Evidence", 1)
        _add_table(document, COLUMNS, manuscript.rows, _WIDTHS)
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def _prepare(document: WordDocument, manuscript: Manuscript) -> None:
    properties, styles = document.core_properties, document.styles
    properties.title, properties.author, properties.comments = manuscript.title[:255], "Toulmin", ""
    properties.created = properties.modified = datetime.now(UTC)
    text = styles.add_style("footnote text", WD_STYLE_TYPE.PARAGRAPH)
    text.base_style, text.font.size = styles["Normal"], Pt(9)
    text.paragraph_format.space_after = Pt(2)
    styles.add_style("footnote reference", WD_STYLE_TYPE.CHARACTER).font.superscript = True
    styles.add_style("Bibliography", WD_STYLE_TYPE.PARAGRAPH).base_style = styles["Normal"]
    styles["Title"].font.size, styles["Subtitle"].font.size = Pt(20), Pt(10)


def _add_block(document: WordDocument, block: Block, notes: _Notes) -> None:
    paragraph = document.add_paragraph(block.text, _STYLES[block.kind])
    for n, sentence in enumerate(block.sentences):
        paragraph.add_run(f" {sentence.text}" if n else sentence.text)
        for note in sentence.notes:
            notes.add(paragraph, note)
        if sentence.flag:
            paragraph.add_run(f" [{sentence.flag}]").font.color.rgb = _WRONG


class _Notes:
    def __init__(self, document: WordDocument) -> None:
        self._document = document
        self._root = parse_xml(f"<w:footnotes {nsdecls('w')}/>")
        name, kind = PackURI("/word/footnotes.xml"), CONTENT_TYPE.WML_FOOTNOTES
        self._part = XmlPart(name, kind, self._root, document.part.package)
        document.part.relate_to(self._part, RELATIONSHIP_TYPE.FOOTNOTES)
        shown = OxmlElement("w:footnotePr")
        for kind, id in _SEPARATORS.items():
            self._footnote(id, kind).add_run()._r.append(OxmlElement(f"w:{kind}"))
            shown.append(OxmlElement("w:footnote", {qn("w:id"): id}))
        settings = document.settings.element
        settings.insert(list(settings).index(settings.find(qn("w:compat"))), shown)

    def add(self, paragraph: Paragraph, note: Note) -> None:
        """A footnote, and its mark at the end of the paragraph."""
        mark = OxmlElement("w:footnoteReference", {qn("w:id"): str(note.n)})
        paragraph.add_run(style="footnote reference")._r.append(mark)
        text = self._footnote(str(note.n))
        text.style = self._document.styles["footnote text"]
        text.add_run(style="footnote reference")._r.append(OxmlElement("w:footnoteRef"))
        text.add_run(f" “{note.quote}” " if note.quote else " ")
        if note.reference.title != note.reference.place:
            text.add_run(note.reference.title).italic = True
            text.add_run(f", {note.where}. " if note.where else ". ")
        run = text.add_run(note.reference.place)
        if note.reference.url:
            run.font.color.rgb, run.font.underline = _LINK, True
            id = self._part.relate_to(note.link, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
            link: BaseOxmlElement = OxmlElement("w:hyperlink", {qn("r:id"): id})
            link.append(run._r)
            text._p.append(link)

    def _footnote(self, id: str, kind: str = "") -> Paragraph:
        attributes = {qn("w:type"): kind} if kind else {}
        footnote = OxmlElement("w:footnote", attributes | {qn("w:id"): id})
        words = OxmlElement("w:p")
        footnote.append(words)
        self._root.append(footnote)
        return Paragraph(words, self._document._body)


def _add_table(
    document: WordDocument, head: tuple[str, ...], rows: Iterable[tuple[str, ...]], widths: tuple[float, ...]
) -> None:
    lines = [head, *rows]
    table = document.add_table(len(lines), len(head), "Table Grid")
    table.autofit = False
    for column, width in zip(table.columns, widths, strict=True):
        column.width = Pt(width * 72)
    for n, (row, line) in enumerate(zip(table.rows, lines, strict=True)):
        for cell, text, width in zip(row.cells, line, widths, strict=True):
            cell.width = Pt(width * 72)
            run = cell.paragraphs[0].add_run(text)
            run.font.size, run.bold = Pt(8), n == 0
    table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
