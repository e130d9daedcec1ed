"""Keeps the newest answers in a SQLite file, and rechecks them when a file that they cite changed.

An answer is judged once for each state of its files, and only while no other is running.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from toulmin.checking.recheck import FALLEN
from toulmin.errors import ToulminError
from toulmin.formats import answer_json
from toulmin.indexing.corpus import AnyCorpus
from toulmin.runtime.database import Kind, RowCache
from toulmin.server.engine import Engine

MOST = 2_000  # answers
_LOOK_AFTER = 2.0  # seconds between two checks of the index
_BUSY = 0.2  # seconds between two checks of a busy server
_KIND = Kind(
    "file of served answers",
    0x746C6D61,
    "answers (id TEXT PRIMARY KEY, at REAL NOT NULL, document BLOB NOT NULL) WITHOUT ROWID",
    "Delete it; only its kept answers are lost.",
)
_RECHECKS = """
CREATE TABLE IF NOT EXISTS rechecks (id TEXT PRIMARY KEY, state TEXT, claims INTEGER, fallen INTEGER, document BLOB)
"""
_DROP = """
DELETE FROM answers WHERE id IN (
    SELECT id FROM (
        SELECT id, row_number() OVER newest AS n, sum(length(document)) OVER newest AS size
        FROM answers WINDOW newest AS (ORDER BY at DESC, id)
    )
    WHERE n > ? OR (n > 1 AND size > ?)
)
"""


class Shelf(RowCache):
    """At most so many answer documents, and bytes, by id; drops the oldest first. For one thread; close it."""

    def __init__(self, path: Path, most: int = MOST, size: float = math.inf) -> None:
        super().__init__(path, _KIND)
        self.path = path
        self._most, self._size = most, size
        with self._clearly():
            self._file.execute(_RECHECKS)

    def put(self, id: str, document: bytes) -> None:
        with self._if_there_is_room():
            self._file.execute("REPLACE INTO answers VALUES (?, ?, ?)", (id, time.time(), document))
            self._file.execute(_DROP, (self._most, self._size))
            self._file.execute("DELETE FROM rechecks WHERE id NOT IN (SELECT id FROM answers)")

    def get(self, id: str) -> bytes | None:
        with self._clearly():
            row = self._file.execute("SELECT document FROM answers WHERE id = ?", (id,)).fetchone()
        return None if row is None else bytes(row[0])

    def ids(self) -> list[str]:
        with self._clearly():
            return [id for (id,) in self._file.execute("SELECT id FROM answers ORDER BY at DESC")]

    def keep_recheck(self, id: str, state: str, claims: int, fallen: int, document: bytes) -> None:
        with self._if_there_is_room():
            self._file.execute("REPLACE INTO rechecks VALUES (?, ?, ?, ?, ?)", (id, state, claims, fallen, document))

    def recheck(self, id: str, state: str) -> bytes | None:
        """None if that of another state was kept, which is dropped."""
        with self._clearly():
            self._file.execute("DELETE FROM rechecks WHERE id = ? AND state <> ?", (id, state))
            row = self._file.execute("SELECT document FROM rechecks WHERE id = ?", (id,)).fetchone()
        return None if row is None else bytes(row[0])

    def changed(self) -> dict[str, dict[str, int]]:
        with self._clearly():
            rows = self._file.execute("SELECT id, claims, fallen FROM rechecks").fetchall()
        return {id: {"claims": claims, "fallen": fallen} for id, claims, fallen in rows}


# ---------------------------------------------------------------- rechecks


_SAME = ""  # the state of an answer whose files did not change


class Rechecks:
    def __init__(self, engine: Engine, shelf: Shelf) -> None:
        self._engine, self._shelf = engine, shelf
        self._turn = asyncio.Lock()

    async def get(self, id: str, document: bytes) -> bytes:
        """As JSON, by the current index."""
        async with self._turn:
            state = await self._engine.read(partial(_state, _cited(orjson.loads(document))))
            known = self._shelf.recheck(id, state)
            if known is not None:
                return known
            recheck = await self._engine.recheck(answer_json.parse(document))
            written, fallen = orjson.dumps(recheck.document), sum(claim.state in FALLEN for claim in recheck.claims)
            if state != _SAME:
                self._shelf.keep_recheck(id, state, sum(recheck.counts.values()), fallen, written)
            return written

    async def follow(self) -> None:
        """Rechecks answers, one at a time, whenever the files of the index changed."""
        opened: object = None
        contents = ""
        while True:
            await asyncio.sleep(_LOOK_AFTER)
            with suppress(ToulminError):  # no index, or one that is being rebuilt; answers report it
                now = await self._engine.read(lambda corpus: corpus.opened_at)
                if now == opened or self._engine.is_reading:
                    continue
                before, contents = contents, await self._engine.read(lambda corpus: corpus.contents)
                if contents != before:
                    await self._look()
                opened = now

    async def _look(self) -> None:
        for id in self._shelf.ids():
            while self._engine.running:
                await asyncio.sleep(_BUSY)
            with suppress(ToulminError, ValueError, TypeError, KeyError):  # a damaged one, or a judge that failed
                kept = self._shelf.get(id)
                document = orjson.loads(kept) if kept else {}
                if kept and document.get("question"):
                    state = await self._engine.read(partial(_state, _cited(document)))
                    if self._shelf.recheck(id, state) is None and state != _SAME:
                        await self.get(id, kept)


def _cited(document: Mapping[str, Any]) -> dict[str, str]:
    """The files that an answer cites, with their hashes when it was written."""
    sources = (passage["source"] for passage in document.get("passages", ()) if passage["n"])
    return {source["path"]: source["digest"] for source in sources if source["path"]}


def _state(files: Mapping[str, str], corpus: AnyCorpus) -> str:
    """A hash of the files as they are; another file may have the words of one that is gone."""
    now = {path: corpus.digest_of(path) for path in files}
    if now == files:
        return _SAME
    others = "" if all(now.values()) else corpus.contents
    return hashlib.sha256(repr((sorted(now.items()), others)).encode()).hexdigest()
