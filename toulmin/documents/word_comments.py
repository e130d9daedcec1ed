"""Comments in a copy of a Word document, each at its sentence; everything else of the file stays as it is."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import docx
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.text.run import Run

from toulmin.data import Place
from toulmin.documents.archive import open_archive
from toulmin.documents.plain import MOST_OF_A_TEXT
from toulmin.documents.prose_word import Line, lines_of

_RUN, _RUN_PROPERTIES, _TEXT = qn("w:r"), qn("w:rPr"), qn("w:t")
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


class Remark(NamedTuple):
    """What to say of the words at a place, as the prose of the document has it (`prose_word`)."""

    place: Place
    text: str


def comment_on(path: Path, remarks: Iterable[Remark], author: str = "Toulmin") -> bytes:
    """The document with a comment for each remark; a line of its text is a paragraph.

    Raises `SourceError` as `word_document` does.
    """
    with open_archive(path, MOST_OF_A_TEXT, "Word document"):
        document = docx.Document(str(path))
        lines = list(lines_of(document))
        in_order = sorted(remarks, key=lambda remark: (remark.place.line, remark.place.column))
        # The last first: runs are cut, and those before the cut stay known.
        runs = [_runs_at(lines[remark.place.line - 1], remark.place) for remark in reversed(in_order)]
        for remark, ends in zip(in_order, reversed(runs), strict=True):
            if ends:
                document.add_comment([Run(run, document._body) for run in ends], remark.text, author, author[:1])
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def _runs_at(line: Line, place: Place) -> list[Any]:
    """The first and the last run of the words, which begin and end with them; none for words that are in no run."""
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
    """Cuts the run so that it ends with that character of the element."""
    if element.tag == _TEXT and offset < len(element.text or ""):
        _begin_run(element, offset)
    elif (following := element.getnext()) is not None:
        _begin_run(following, 0)


def _begin_run(element: BaseOxmlElement, offset: int) -> Any:
    """The run that begins with that character of the element; the run is cut where it begins before."""
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
