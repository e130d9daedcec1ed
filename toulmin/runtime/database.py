"""A small SQLite database that only its owner can read, shared by several processes.

* A database without our mark is not changed.
* Others read while one writes. A killed process loses nothing, a power cut only the last rows.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple
from weakref import finalize

from toulmin.errors import DiskFull, SourceError, cause_of, disk_full, is_disk_full

LOG = logging.getLogger("toulmin.runtime")
PATIENCE = 10.0  # seconds to wait for another process that writes


class Kind(NamedTuple):
    """`mark` is the SQLite application id, `remedy` ends error messages."""

    what: str
    mark: int
    table: str
    remedy: str = "Delete it if it is one, or name another file."


def open_database(path: Path, kind: Kind) -> sqlite3.Connection:
    """Opens or makes the file, for one thread at a time; every statement is its own transaction.

    Raises `SourceError`, also for a database of another kind.
    """
    with as_source_error(path, kind):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        file = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            with file:
                file.execute("BEGIN IMMEDIATE")
                (mark,) = file.execute("PRAGMA application_id").fetchone()
                (tables,) = file.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if tables and mark != kind.mark:
                    raise SourceError(f"{path} is a database, but not a {kind.what}; name another file.")
                file.execute(f"PRAGMA application_id = {kind.mark}")
                file.execute(f"CREATE TABLE IF NOT EXISTS {kind.table}")
            _let_others_read(file)
        except BaseException:
            file.close()
            raise
        return file


class RowCache:
    """A file with rows by key. Raises `SourceError` if it cannot be used."""

    def __init__(self, path: Path, kind: Kind) -> None:
        self._path, self._kind = path, kind
        self._file = open_database(path, kind)
        finalize(self, self._file.close)
        self._file.text_factory = lambda raw: raw.decode("ascii", "replace")  # damaged text must not raise

    @property
    def size(self) -> int:
        table = self._kind.table.split()[0]
        with self._clearly():
            return int(self._file.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def close(self) -> None:
        self._file.close()

    @contextmanager
    def _if_there_is_room(self) -> Iterator[None]:
        try:
            with self._clearly():
                yield
        except DiskFull as error:
            LOG.warning("%s", error)

    def _clearly(self) -> AbstractContextManager[None]:
        return as_source_error(self._path, self._kind)


def row_digest(key: str, text: str) -> str:
    return hashlib.sha256(f"{key} {text}".encode("ascii")).hexdigest()


@contextmanager
def as_source_error(path: Path, kind: Kind) -> Iterator[None]:
    """Turns foreign errors into a `SourceError` with the remedy."""
    try:
        yield
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # the last if damaged bytes are in SQLite's message
        if is_disk_full(error):
            raise disk_full(path) from error
        raise SourceError(f"The {kind.what} {path} cannot be used: {cause_of(error)}. {kind.remedy}") from error


def _let_others_read(file: sqlite3.Connection) -> None:
    """Turns on write-ahead logging, for which SQLite itself does not wait."""
    end = monotonic() + PATIENCE
    while True:
        try:
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = NORMAL")
            return
        except sqlite3.OperationalError:
            if monotonic() > end:
                raise
            sleep(0.01)
