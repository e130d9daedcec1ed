"""Finished answers, kept so that a link to one opens it again: a SQLite file of ours, the oldest leaving first."""

from __future__ import annotations

import time
from pathlib import Path

from toulmin.runtime.database import Kind, clearly, opened

MOST = 2_000  # answers
_KIND = Kind(
    "file of served answers",
    0x746C6D61,
    "answers (id TEXT PRIMARY KEY, at REAL NOT NULL, document BLOB NOT NULL) WITHOUT ROWID",
    "Delete it, or name another place with --keep.",
)


class Shelf:
    """Answer documents by id. For use in one thread; close it."""

    def __init__(self, path: Path, most: int = MOST) -> None:
        """Opens the file, made where there is none. Raises `SourceError` for one that cannot be used."""
        self._path, self._most = path, most
        self._file = opened(path, _KIND)

    def put(self, id: str, document: bytes) -> None:
        """Keeps the document of an answer in place of an older one of that id."""
        with clearly(self._path, _KIND):
            self._file.execute("REPLACE INTO answers VALUES (?, ?, ?)", (id, time.time(), document))
            self._file.execute(
                "DELETE FROM answers WHERE id IN (SELECT id FROM answers ORDER BY at DESC LIMIT -1 OFFSET ?)",
                (self._most,),
            )

    def get(self, id: str) -> bytes | None:
        """The document of that answer; None where it was never there, or is no more."""
        with clearly(self._path, _KIND):
            found = self._file.execute("SELECT document FROM answers WHERE id = ?", (id,)).fetchone()
        return None if found is None else bytes(found[0])

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
