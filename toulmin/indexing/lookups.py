"""Looking up packed terms by many keys."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from threading import Lock, local

from toulmin.errors import ToulminError
from toulmin.indexing import catalogue
from toulmin.indexing.catalogue import State

try:
    from resource import RUSAGE_THREAD, getrusage
except ImportError:  # only Linux counts per thread

    def _blocks_read() -> int:
        """Disk blocks this thread has waited for."""
        return 0
else:

    def _blocks_read() -> int:
        """Disk blocks this thread has waited for."""
        return getrusage(RUSAGE_THREAD).ru_inblock


_ABREAST = 4  # more gained nothing for the hundred candidates of a shard
_TRIED = 10  # keys looked up first, to see whether the disk is read
_CHUNK = 500  # ids per statement; SQLite allows some thousands


class Lookups:
    """Looks up packed terms; thread-safe. The caller closes `first`.

    A file that is not in memory is read over several connections, as a disk serves several reads in the time of
    one.
    """

    def __init__(self, index: Path, first: sqlite3.Connection, state: State) -> None:
        self._index = index
        self._first = first
        self._state = state
        self._threads = ThreadPoolExecutor(_ABREAST, "lookup")  # threads start on demand
        self._own = local()
        self._opened: list[sqlite3.Connection] = []
        self._lock = Lock()

    def codes(self, keys: Sequence[int]) -> dict[int, bytes]:
        """The packed terms of existing passages by key; raises SQLite's errors."""
        tried, others = keys[:_TRIED], keys[_TRIED:]
        before = _blocks_read()
        codes_by_key = dict(_rows(self._first, tried))
        if _blocks_read() == before:
            codes_by_key.update(_rows(self._first, others))
        else:
            parts = self._threads.map(self._codes, (others[part::_ABREAST] for part in range(_ABREAST)))
            codes_by_key.update(chain.from_iterable(parts))
        return codes_by_key

    def _codes(self, keys: Sequence[int]) -> list[tuple[int, bytes]]:
        if not hasattr(self._own, "connection"):
            self._own.connection = self._another() or self._first
        return list(_rows(self._own.connection, keys))

    def _another(self) -> sqlite3.Connection | None:
        """A connection that sees the same moment, or None."""
        try:
            connection = catalogue.open_for_reading(self._index)
        except ToulminError:
            return None
        if not self._is_of_this_moment(connection):
            connection.close()
            return None
        with self._lock:
            self._opened.append(connection)
        return connection

    def _is_of_this_moment(self, connection: sqlite3.Connection) -> bool:
        try:
            connection.execute("BEGIN")
            return catalogue.usable_state(connection) == self._state
        except sqlite3.Error:
            return False

    def close(self) -> None:
        self._threads.shutdown()
        for connection in self._opened:
            connection.close()


def _rows(connection: sqlite3.Connection, keys: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    for some in chunks(keys):
        yield from connection.execute(f"SELECT key, codes FROM passages WHERE {among(some)}", some)


def chunks(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    """The keys in groups that fit into one statement."""
    for start in range(0, len(keys), _CHUNK):
        yield keys[start : start + _CHUNK]


def among(keys: Sequence[int]) -> str:
    return f"key IN ({', '.join('?' * len(keys))})"
