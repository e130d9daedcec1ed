"""What passages of an index are found by, looked up by many keys at once.

Candidates lie all over the file. Where it is not in memory each costs the disk one or two reads, and a disk does
several of them in the time of one: so a few connections, which see the same moment, are asked side by side. Where it is
in memory one connection is quicker.
"""

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
except ImportError:  # Linux alone counts for a thread

    def _blocks_read() -> int:
        return 0
else:

    def _blocks_read() -> int:
        """How often this thread has waited for the disk, in blocks of it; always 0 where nobody counts."""
        return getrusage(RUSAGE_THREAD).ru_inblock


_ABREAST = 4  # more won nothing for the hundred candidates of a shard
_TRIED = 10  # keys, which tell whether the disk is asked
_CHUNK = 500  # ids a statement; SQLite allows some thousands


class Lookups:
    """Looks up packed terms; several threads may use it. Its first connection is the caller's, and stays open."""

    def __init__(self, index: Path, first: sqlite3.Connection, state: State) -> None:
        self._index = index
        self._first = first
        self._state = state
        self._threads = ThreadPoolExecutor(_ABREAST, "lookup")  # which begin when they are needed
        self._own = local()
        self._opened: list[sqlite3.Connection] = []
        self._lock = Lock()

    def codes(self, keys: Sequence[int]) -> dict[int, bytes]:
        """The packed terms of those passages that there are, by their keys; raises SQLite's errors."""
        tried, others = keys[:_TRIED], keys[_TRIED:]
        before = _blocks_read()
        found = dict(_rows(self._first, tried))
        if _blocks_read() == before:
            found.update(_rows(self._first, others))
        else:
            parts = self._threads.map(self._codes, (others[part::_ABREAST] for part in range(_ABREAST)))
            found.update(chain.from_iterable(parts))
        return found

    def _codes(self, keys: Sequence[int]) -> list[tuple[int, bytes]]:
        if not hasattr(self._own, "connection"):
            self._own.connection = self._another() or self._first
        return list(_rows(self._own.connection, keys))

    def _another(self) -> sqlite3.Connection | None:
        """A connection that sees the same moment; None where an update has come since, or the file has gone."""
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
        """Begins what keeps a connection at the moment that it finds, and tells whether that is ours."""
        try:
            connection.execute("BEGIN")
            return catalogue.usable_state(connection) == self._state
        except sqlite3.Error:
            return False

    def close(self) -> None:
        """Lets go of the connections but the first; nothing may be asked afterwards."""
        self._threads.shutdown()
        for connection in self._opened:
            connection.close()


def _rows(connection: sqlite3.Connection, keys: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    for some in chunks(keys):
        yield from connection.execute(f"SELECT key, codes FROM passages WHERE {among(some)}", some)


def chunks(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    """The keys, so many at a time as one statement takes."""
    for start in range(0, len(keys), _CHUNK):
        yield keys[start : start + _CHUNK]


def among(keys: Sequence[int]) -> str:
    """The condition that a row is of one of so many keys."""
    return f"key IN ({', '.join('?' * len(keys))})"
