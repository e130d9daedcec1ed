"""What a file looks like: its pages, where words are on them, and documents as they read."""

from __future__ import annotations

from pathlib import PurePath

_PRINTERS = {".pdf": "toulmin.originals.pdf_places.print_places"}
_PRINTERS |= dict.fromkeys((".xlsx", ".xls", ".xlsb", ".ods"), "toulmin.originals.looks.print_cells")


def printer_of(path: str | None) -> str | None:
    """The job of a child process that finds where words of the file stand; None for other kinds."""
    return _PRINTERS.get(PurePath(path or "").suffix.lower())
