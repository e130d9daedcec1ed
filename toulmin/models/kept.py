"""The file of a cache: replies by key, in SQLite, for one owner and several processes.

Rules of this file
* A row is written once and never changed; a row that does not prove itself by its digest is removed.
* A database that is not ours is left as it is.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from weakref import finalize

from toulmin.errors import SourceError
from toulmin.grounding.replies import plain, reply_of
from toulmin.grounding.steps import Reply

MARK = 0x70726F76  # SQLite's application id, by which a file is known to be ours
PATIENCE = 10.0  # seconds to wait for another process that writes


class Kept:
    """The replies of one file by key. Raises `SourceError` for a file that is not such a one or cannot be used."""

    def __init__(self, path: Path, limit: int) -> None:
        self._path = path
        self._limit = limit
        with self._clearly():
            _make_for_owner(path)
            # Calls come from one event loop at a time, though not always from the thread that made this.
            self._file = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            finalize(self, self._file.close)
            self._file.text_factory = lambda raw: raw.decode("ascii", "replace")  # damaged text is no crash
            self._prepare()

    def _prepare(self) -> None:
        """Makes the file a cache if it is empty; several processes may come at the same moment."""
        with self._file:
            self._file.execute("BEGIN IMMEDIATE")
            (mark,) = self._file.execute("PRAGMA application_id").fetchone()
            (tables,) = self._file.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if tables and mark != MARK:
                raise SourceError(f"{self._path} is a database, but no cache of replies; name another file.")
            self._file.execute(f"PRAGMA application_id = {MARK}")
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS replies"
                " (n INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE NOT NULL, reply TEXT, digest TEXT)"
            )
        self._let_others_read()

    def _let_others_read(self) -> None:
        """Turns on the log by which others read while one writes; SQLite does not wait for its turn here by itself."""
        end = monotonic() + PATIENCE
        while True:
            try:
                self._file.execute("PRAGMA journal_mode = WAL")
                self._file.execute("PRAGMA synchronous = NORMAL")  # a power cut may cost the last replies, no more
                return
            except sqlite3.OperationalError:
                if monotonic() > end:
                    raise
                sleep(0.01)

    @property
    def size(self) -> int:
        """How many rows there are."""
        with self._clearly():
            (count,) = self._file.execute("SELECT count(*) FROM replies").fetchone()
            return int(count)

    def reply(self, key: str) -> Reply | None:
        """The reply under that key; a row that is damaged is removed."""
        with self._clearly():
            row = self._file.execute("SELECT reply, digest FROM replies WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            with suppress(ValueError, TypeError, AttributeError):
                if row[1] == _digest(key, row[0]):
                    return reply_of(json.loads(row[0]))
            self._file.execute("DELETE FROM replies WHERE key = ?", (key,))
            return None

    def keep(self, key: str, reply: Reply) -> None:
        """Keeps the reply unless there is one, and lets go of the oldest beyond the limit."""
        text = json.dumps(plain(reply))
        with self._clearly():
            row = (key, text, _digest(key, text))
            added = self._file.execute("INSERT OR IGNORE INTO replies (key, reply, digest) VALUES (?, ?, ?)", row)
            if added.rowcount == 1:
                self._file.execute("DELETE FROM replies WHERE n <= ?", ((added.lastrowid or 0) - self._limit,))

    def clear(self) -> None:
        """Removes every row and gives their room back."""
        with self._clearly():
            self._file.execute("DELETE FROM replies")
            self._file.execute("VACUUM")

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    @contextmanager
    def _clearly(self) -> Iterator[None]:
        """Foreign errors as ours, saying which file and what to do."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # the last for a message of damaged bytes
            raise SourceError(
                f"The cache of replies {self._path} cannot be used: {error}. Delete it if it is one, or name another"
                " file."
            ) from error


def _digest(key: str, text: str) -> str:
    return hashlib.sha256(f"{key} {text}".encode("ascii")).hexdigest()


def _make_for_owner(path: Path) -> None:
    """An empty file that only its owner may read; SQLite gives the files beside it the same rights."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
