"""The prose of Word documents: paragraphs and items; footnotes, endnotes and links are its citations.

`comment_on` writes comments into a copy, each at its sentence, and changes nothing else.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import docx
from docx.document import Document as WordDocument
from docx.opc.part import Part
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.text.run import Run

from toulmin.data import Place
from toulmin.documents import word
from toulmin.documents.archive import open_archive
from toulmin.documents.plain import MOST_OF_A_TEXT, repair_text
from toulmin.prose.blocks import Prose, Remark, Writer, is_list_of_references, is_skip, numbered_entries

_ROW, _LINK, _RELATION = qn("w:tr"), qn("w:hyperlink"), qn("r:id")
_NUMBERS = f"{qn('w:numPr')}/{qn('w:numId')}"
_BOLD = f"{qn('w:rPr')}/{qn('w:b')}"
_COMMENT_START, _COMMENT_END = qn("w:commentRangeStart"), qn("w:commentRangeEnd")
_COMMENTS = (_COMMENT_START, qn("w:commentReference"))
_RUN, _RUN_PROPERTIES, _TEXT = qn("w:r"), qn("w:rPr"), qn("w:t")
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_HEADING = re.compile(r"(heading \d|title$|subtitle$|toc )", re.IGNORECASE)
# Words of others, code, and what names the document: by the styles of Word, LibreOffice and Pandoc.
_OTHERS = frozenset(
    "quote|intense quote|quotations|block text|html preformatted|preformatted text|source code|macro|plain text"
    "|author|date|bibliography|table caption|header|footer".split("|")
)


class Line(NamedTuple):
    """A paragraph and its parts, or a row of a table."""

    paragraph: BaseOxmlElement | None
    parts: Sequence[tuple[BaseOxmlElement | None, str]]

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.parts)


def read(path: Path) -> Prose:
    """A line of the source is a paragraph, or a row of a table.

    Raises `SourceError` as `word_document` does.
    """
    with open_archive(path, MOST_OF_A_TEXT, "Word document"):
        return _prose(docx.Document(str(path)))


def _prose(document: WordDocument) -> Prose:
    lines = list(lines_of(document))
    writer, offset = Writer("\n".join(line.text for line in lines)), 0
    kinds, remarks, targets = _Kinds(document), _Remarks(document), _targets(document)
    is_references, entries, items = False, ["References"], 0
    for line in lines:
        kind = "row" if line.paragraph is None else kinds.kind(line)
        is_filled, is_prose = bool(line.text.strip()), kind in ("item", "text") and not is_references
        for remark in remarks.of(line):
            if "skip-file" in remark or (is_prose and is_filled):
                writer.comment(remark)
        if kind == "heading" and is_filled:
            is_references = is_list_of_references(line.text.strip())
        elif is_references and is_filled:
            items += kind == "item"
            entries.append((f"{items}. " if kind == "item" else "") + _with_targets(line, targets))
        elif is_prose and is_filled:
            writer.write("- " if kind == "item" else "", offset)
            _write(line, offset, targets, writer)
            writer.end_block(offset + len(line.text) + 1)
        offset += len(line.text) + 1
    return writer.prose(numbered_entries("\n".join(entries)))


def lines_of(document: WordDocument) -> Iterator[Line]:
    for element in word.children_of(document.element.body):
        if element.tag == word.PARAGRAPH:
            yield Line(element, [(part, _on_one_line(text)) for part, text in word.parts_of(element)])
        elif element.tag == word.TABLE:
            rows = (word.row_of(row) for row in word.children_of(element) if row.tag == _ROW)
            yield from (Line(None, [(None, _on_one_line(row))]) for row in rows)


def _on_one_line(text: str) -> str:
    return repair_text(text).replace("\n", " ")


def _write(line: Line, offset: int, targets: dict[tuple[str, str], str], writer: Writer) -> None:
    begun, link = writer.position, ""
    for part, text in line.parts:
        kind, key = _pointer(part)
        if kind in word.NOTES.values():
            writer.point(writer.position, targets.get((kind, key), ""), is_citation=True)
        elif text:
            if key != link:
                writer.point(begun, targets.get(("link", link), ""), is_citation=False)
                begun, link = writer.position, key
            writer.write(text, offset)
            offset += len(text)
    writer.point(begun, targets.get(("link", link), ""), is_citation=False)


def _pointer(part: BaseOxmlElement | None) -> tuple[str, str]:
    """The kind and id of a part's target."""
    if part is None:
        return "", ""
    if kind := word.NOTES.get(part.tag):
        return kind, part.get(word.ID, "")
    link = next(part.iterancestors(_LINK), None)
    return ("", "") if link is None else ("link", link.get(_RELATION, ""))


def _with_targets(line: Line, targets: dict[tuple[str, str], str]) -> str:
    links = dict.fromkeys(targets.get(_pointer(part), "") for part, _ in line.parts)
    return " ".join([line.text, *links]).strip()


def _targets(document: WordDocument) -> dict[tuple[str, str], str]:
    """The addresses of links, and the words and addresses of notes, by kind and id."""
    targets = _addresses(document.part)
    for kind in word.NOTES.values():
        for note, key, part in word.elements_of(document.part, kind):
            addresses = _addresses(part)
            lines = (Line(paragraph, list(word.parts_of(paragraph))) for paragraph in note.iter(word.PARAGRAPH))
            targets[kind, key] = " ".join(_with_targets(line, addresses) for line in lines)
    return targets


def _addresses(part: Part) -> dict[tuple[str, str], str]:
    return {("link", key): relation.target_ref for key, relation in part.rels.items() if relation.is_external}


class _Kinds:
    def __init__(self, document: WordDocument) -> None:
        styles = list(document.styles)
        self._names = {style.style_id: (style.name or "").lower() for style in styles}
        self._listed = {style.style_id for style in styles if _is_item(style.element.find(word.PROPERTIES))}

    def kind(self, line: Line) -> str:
        properties = line.paragraph.find(word.PROPERTIES) if line.paragraph is not None else None
        style = properties.find(word.STYLE) if properties is not None else None
        key = style.get(word.VALUE, "") if style is not None else ""
        name = self._names.get(key, key.lower())
        if name in _OTHERS:
            return "others"
        if _HEADING.match(name) or _is_bold(line):
            return "heading"
        return "item" if key in self._listed or _is_item(properties) else "text"


def _is_bold(line: Line) -> bool:
    """Whether a paragraph is a heading in all but name: bold, and no sentence."""
    runs = [part.getparent() for part, text in line.parts if part is not None and text.strip()]
    return line.text.rstrip()[-1:] not in (*".!?:;,…。！？",) and all(_is_on(run.find(_BOLD)) for run in runs)


def _is_on(switch: BaseOxmlElement | None) -> bool:
    return switch is not None and switch.get(word.VALUE, "1") not in ("0", "false", "off")


def _is_item(properties: BaseOxmlElement | None) -> bool:
    number = properties.find(_NUMBERS) if properties is not None else None
    return number is not None and number.get(word.VALUE) != "0"


class _Remarks:
    """The comments on a paragraph; they may run over several."""

    def __init__(self, document: WordDocument) -> None:
        self._words = {
            key: words
            for comment, key, _ in word.elements_of(document.part, "comment")
            if is_skip(words := " ".join(map(word.words_of, comment.iter(word.PARAGRAPH))))
        }
        self._open: dict[str, None] = {}

    def of(self, line: Line) -> list[str]:
        """The comments that leave something out: the last open one, and those that are opened here."""
        keys = dict.fromkeys(islice(reversed(self._open), 1))  # a document may leave thousands open
        for part, _ in line.parts:
            if part is not None and part.tag in _COMMENTS and part.get(word.ID, "") in self._words:
                keys[part.get(word.ID, "")] = None
                if part.tag == _COMMENT_START:
                    self._open[part.get(word.ID, "")] = None
            elif part is not None and part.tag == _COMMENT_END:
                self._open.pop(part.get(word.ID, ""), None)
        return [self._words[key] for key in keys]


# ---------------------------------------------------------------- comments in a copy


def comment_on(path: Path, remarks: Iterable[Remark]) -> bytes:
    """The document with a comment for each remark; a line of its text is a paragraph.

    Raises `SourceError` as `read` does.
    """
    with open_archive(path, MOST_OF_A_TEXT, "Word document"):
        document = docx.Document(str(path))
        lines = list(lines_of(document))
        in_order = sorted(remarks, key=lambda remark: (remark.place.line, remark.place.column))
        # The last first: runs are cut, and those before the cut stay known.
        runs = [_runs_at(lines[remark.place.line - 1], remark.place) for remark in reversed(in_order)]
        for remark, ends in zip(in_order, reversed(runs), strict=True):
            if ends:
                document.add_comment([Run(run, document._body) for run in ends], remark.text, "Toulmin", "T")
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def commented(path: Path, _most: int, rows: Iterable[Sequence[Any]]) -> dict[str, str]:
    """`comment_on` for a child process: a row is a remark's place and text."""
    remarks = [Remark(Place(*place), text) for place, text in rows]
    return {"copy": b64encode(comment_on(path, remarks)).decode("ascii")}


def _runs_at(line: Line, place: Place) -> list[Any]:
    """Cuts runs at the ends of the words; returns the first and the last, or none for words outside runs."""
    start, end, offset = place.column - 1, place.end_column - 1, 0
    first = last = None
    for part, text in line.parts:
        if part is not None and text and offset < end and offset + len(text) > start:
            first = first or (part, max(0, start - offset))
            last = (part, end - offset)
        offset += len(text)
    if first is None or last is None or any(_run_of(part) is None for part, _ in (first, last)):
        return []
    _end_run(*last)
    beginning = _begin_run(*first)
    return [beginning, beginning if first[0] is last[0] else _run_of(last[0])]


def _run_of(element: BaseOxmlElement) -> Any:
    return next(element.iterancestors(_RUN), None)


def _end_run(element: BaseOxmlElement, offset: int) -> None:
    """Cuts the run after that character of the element."""
    if element.tag == _TEXT and offset < len(element.text or ""):
        _begin_run(element, offset)
    elif (following := element.getnext()) is not None:
        _begin_run(following, 0)


def _begin_run(element: BaseOxmlElement, offset: int) -> Any:
    """The run that begins with that character, cut if it begins before."""
    text = element.text or ""
    if element.tag == _TEXT and 0 < offset < len(text):
        rest = deepcopy(element)
        element.text, rest.text = text[:offset], text[offset:]
        for piece in (element, rest):
            piece.set(_SPACE, "preserve")
        element.addnext(rest)
        element = rest
    run = _run_of(element)
    before = [child for child in element.itersiblings(preceding=True) if child.tag != _RUN_PROPERTIES]
    if element.getparent() is not run or not before:
        return run
    new: BaseOxmlElement = OxmlElement("w:r", dict(run.attrib))
    if (properties := run.find(_RUN_PROPERTIES)) is not None:
        new.append(deepcopy(properties))
    new.extend([element, *element.itersiblings()])
    run.addnext(new)
    return new
