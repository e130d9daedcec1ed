"""The file of a cache."""

from __future__ import annotations

import hashlib
import json
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from weakref import finalize

from toulmin.prompts.replies import Reply, plain, reply_of
from toulmin.runtime.database import Kind, clearly, opened

_KIND = Kind(
    "cache of replies",
    0x70726F76,
    "replies (n INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE NOT NULL, reply TEXT, digest TEXT)",
    "Delete it if it is one, or name another file.",
)


class ReplyFile:
    """Replies by key. Raises `SourceError` if the file is no cache or unusable."""

    def __init__(self, path: Path, limit: int) -> None:
        self._path = path
        self._limit = limit
        self._file = opened(path, _KIND)
        finalize(self, self._file.close)
        self._file.text_factory = lambda raw: raw.decode("ascii", "replace")  # damaged text must not raise

    @property
    def size(self) -> int:
        with self._clearly():
            (count,) = self._file.execute("SELECT count(*) FROM replies").fetchone()
            return int(count)

    def reply(self, key: str) -> Reply | None:
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
        """Does nothing if the key has a reply; removes the oldest rows beyond the limit."""
        text = json.dumps(plain(reply))
        with self._clearly():
            row = (key, text, _digest(key, text))
            added = self._file.execute("INSERT OR IGNORE INTO replies (key, reply, digest) VALUES (?, ?, ?)", row)
            if added.rowcount == 1:
                self._file.execute("DELETE FROM replies WHERE n <= ?", ((added.lastrowid or 0) - self._limit,))

    def clear(self) -> None:
        with self._clearly():
            self._file.execute("DELETE FROM replies")
            self._file.execute("VACUUM")

    def close(self) -> None:
        self._file.close()

    def _clearly(self) -> AbstractContextManager[None]:
        return clearly(self._path, _KIND)


def _digest(key: str, text: str) -> str:
    return hashlib.sha256(f"{key} {text}".encode("ascii")).hexdigest()
