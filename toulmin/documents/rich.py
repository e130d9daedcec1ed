"""RTF, as striprtf reads it."""

from __future__ import annotations

from pathlib import Path

from striprtf.striprtf import rtf_to_text

from toulmin.data import Document
from toulmin.documents.plain import cannot_read, check_size, empty, repair_text, title_from


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
    if not text:
        raise empty(path)
    return Document(text, title_from(path), repair_text(str(path)))
