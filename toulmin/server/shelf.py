"""Finished answers in a SQLite file."""

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
    """Answer documents by id, the oldest dropped first. For one thread; close it."""

    def __init__(self, path: Path, most: int = MOST) -> None:
        """Opens or creates the file. Raises `SourceError` if it cannot be used."""
        self._path, self._most = path, most
        self._file = opened(path, _KIND)

    def put(self, id: str, document: bytes) -> None:
        with clearly(self._path, _KIND):
            self._file.execute("REPLACE INTO answers VALUES (?, ?, ?)", (id, time.time(), document))
            self._file.execute(
                "DELETE FROM answers WHERE id IN (SELECT id FROM answers ORDER BY at DESC LIMIT -1 OFFSET ?)",
                (self._most,),
            )

    def get(self, id: str) -> bytes | None:
        with clearly(self._path, _KIND):
            row = self._file.execute("SELECT document FROM answers WHERE id = ?", (id,)).fetchone()
        return None if row is None else bytes(row[0])

    def close(self) -> None:
        self._file.close()
