"""DOCX: paragraphs, headings and tables of a Word document, in reading order."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import docx
from docx.document import Document as WordDocument
from docx.table import Table, _Cell
from docx.text.paragraph import Paragraph

from toulmin.corpus.plain import cannot_read, check_size, empty, readable, sound
from toulmin.data import Document
from toulmin.errors import SourceError

# Office encrypts by wrapping the file into an OLE container, the form of the older .doc as well.
_OLE = b"\xd0\xcf\x11\xe0"


def word_document(path: Path, limit: int) -> Document:
    """A Word document's text, paragraphs parted by blank lines, a table row a line of cells; footnotes are left out.

    The title is the one in its properties, or its first heading.
    """
    check_size(path, path.stat().st_size, limit)
    try:
        _check_archive(path, limit)
        document = docx.Document(str(path))
        blocks = [sound(block).strip() for block in _blocks(document)]
        title = document.core_properties.title or _first_heading(document)
    except (SourceError, OSError):
        raise
    # A damaged file fails in as many ways as there are lines in the libraries that read it.
    except Exception as error:
        raise cannot_read(path, f"is a damaged Word document ({error})", "save it again from Word") from error
    text = "\n\n".join(block for block in blocks if block)
    if not text:
        raise empty(path)
    return Document(text, " ".join(sound(title).split()) or readable(path), sound(str(path)))


def _check_archive(path: Path, limit: int) -> None:
    """Refuses what is encrypted, and what would unpack to more than the limit."""
    with path.open("rb") as file:
        is_ole = file.read(4) == _OLE
    if is_ole:
        raise cannot_read(path, "is encrypted, or an older .doc", "save it as .docx without a password")
    with zipfile.ZipFile(path) as archive:
        check_size(path, sum(entry.file_size for entry in archive.infolist() if entry.filename.endswith("xml")), limit)


def _blocks(container: WordDocument | _Cell) -> Iterator[str]:
    for block in container.iter_inner_content():
        if isinstance(block, Paragraph):
            yield block.text
        else:
            yield "\n".join(_rows(block))


def _rows(table: Table) -> Iterator[str]:
    for row in table.rows:
        # A merged cell is given once for each column that it spans.
        cells = {cell._tc: cell for cell in row.cells}
        texts = (" ".join(" ".join(_blocks(cell)).split()) for cell in cells.values())
        line = " | ".join(text for text in texts if text)
        if line:
            yield line


def _first_heading(document: WordDocument) -> str:
    for paragraph in document.paragraphs:
        style = paragraph.style.name if paragraph.style is not None else ""
        if paragraph.text.strip() and (style or "").startswith(("Title", "Heading")):
            return paragraph.text
    return ""
