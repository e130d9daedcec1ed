"""The journal of a run: saves every answer at once in SQLite, so that a run can be killed at any moment.

* One transaction writes an answer and its transcript.
* Only failed questions are asked again; the new answer replaces the old.
* One process writes at a time; others may read meanwhile.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from toulmin.errors import SourceError
from toulmin.runtime.database import Kind, as_source_error, open_database

_ANSWER = "coalesce(CAST(answer AS BLOB), x'')"  # bytes also of a damaged row
_KIND = Kind(
    "journal",
    0x70726A72,
    "answers (id TEXT PRIMARY KEY, place INTEGER NOT NULL, failed INTEGER NOT NULL, answer BLOB NOT NULL,"
    " transcript BLOB)",
    "Name another folder, or remove this one and run again.",
)


class Entry(NamedTuple):
    id: str
    place: int
    failed: bool
    answer: bytes


class Journal:
    """To be closed. Raises `SourceError` for a file that is no journal, or that another process writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with as_source_error(path, _KIND):
            self._lock = _lock(path)
        self._file = open_database(path, _KIND)

    def keep(self, entry: Entry, transcript: bytes) -> None:
        """The answer is on disk when this returns."""
        row = (entry.id, entry.place, entry.failed, zlib.compress(entry.answer), zlib.compress(transcript))
        with as_source_error(self.path, _KIND):
            self._file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)

    def close(self) -> None:
        """Leaves one file, readable where nothing can be written."""
        with as_source_error(self.path, _KIND):
            with suppress(sqlite3.OperationalError):  # another process is reading: the log is merged next time
                self._file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                self._file.execute("PRAGMA journal_mode = DELETE")
            self._file.close()
            self._lock.close()


def _lock(path: Path) -> sqlite3.Connection:
    """SQLite's lock on a file beside the journal, which ends with the process."""
    lock = sqlite3.connect(path.with_suffix(".lock"), timeout=0, isolation_level=None, check_same_thread=False)
    try:
        lock.execute("PRAGMA locking_mode = EXCLUSIVE")
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        if error.sqlite_errorname != "SQLITE_BUSY":
            raise
        raise SourceError(
            f"{path} is in use by another process that answers into it; wait for it, or name another place."
        ) from error
    return lock


def entries(path: Path) -> Iterator[Entry]:
    with _existing(path) as file:
        rows = file.execute(f"SELECT id, place, failed, {_ANSWER} FROM answers ORDER BY place")
        for id, place, failed, answer in rows:
            yield Entry(id, place, bool(failed), zlib.decompress(answer))


@contextmanager
def _existing(path: Path) -> Iterator[sqlite3.Connection]:
    address = f"{path.resolve().as_uri()}?mode=rw"
    with as_source_error(path, _KIND), closing(sqlite3.connect(address, timeout=10, uri=True)) as file:
        try:
            yield file
        except zlib.error as error:
            raise OSError(f"it is damaged ({error})") from error
