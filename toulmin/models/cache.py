"""Replies kept on disk, so that equal requests are sent once.

* A key covers everything that determines the reply; in doubt, two requests get two keys.
* A reply is written once; every caller gets the one in the file.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from toulmin.errors import ModelError
from toulmin.prompts.replies import Reply, Result, exact_form, plain, reply_of
from toulmin.runtime.database import Kind, RowCache, row_digest
from toulmin.steps import Generate, close, resolve

_TABLE = "replies (n INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE NOT NULL, reply TEXT, digest TEXT)"
_KIND = Kind("cache of replies", 0x70726F76, _TABLE)
FORMAT = "1"  # of keys; replies stored under another format never match
LIMIT = 1_000_000  # replies; about 2 GB


class ReplyFile(RowCache):
    """The file's replies by key; it holds at most `limit`."""

    def __init__(self, path: Path, limit: int) -> None:
        super().__init__(path, _KIND)
        self._limit = limit

    def reply(self, key: str) -> Reply | None:
        with self._clearly():
            row = self._file.execute("SELECT reply, digest FROM replies WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            with suppress(ValueError, TypeError, AttributeError):
                if row[1] == row_digest(key, row[0]):
                    return reply_of(json.loads(row[0]))
            self._file.execute("DELETE FROM replies WHERE key = ?", (key,))
            return None

    def keep(self, key: str, reply: Reply) -> None:
        """Keeps the reply that a key has; removes the oldest rows beyond the limit."""
        text = json.dumps(plain(reply))
        with self._if_there_is_room():
            row = (key, text, row_digest(key, text))
            added = self._file.execute("INSERT OR IGNORE INTO replies (key, reply, digest) VALUES (?, ?, ?)", row)
            if added.rowcount == 1:
                self._file.execute("DELETE FROM replies WHERE n <= ?", ((added.lastrowid or 0) - self._limit,))


class CachedModel:
    """A language model whose replies are kept in the file at `path`, usage included.

    Requests are equal if `key(request)` of the model is; without one, if its name and all fields are. Typed values (of
    the embedded writer) and errors are not kept. The model may lack `key`, `batch`, `provider`, `seed_of`, `aclose`.

    Processes may share the file, which only its owner can read. It holds the newest `limit` replies. Raises
    `SourceError` if it is unusable.
    """

    def __init__(self, model: Any, path: str | os.PathLike[str], *, limit: int = LIMIT) -> None:
        self._model = model
        self._rows = ReplyFile(Path(path), limit)
        self._asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.name = model.name
        self.concurrency = model.concurrency
        self.batch: int = max(1, getattr(model, "batch", 1))
        self.provider: str | None = getattr(model, "provider", None)

    @property
    def size(self) -> int:
        return self._rows.size

    def key(self, request: Generate) -> str:
        """SHA-256, in hex, of everything that determines the reply."""
        key_of = getattr(self._model, "key", None)
        identity = key_of(request) if key_of is not None else exact_form(request)
        return hashlib.sha256(json.dumps([FORMAT, self.name, identity]).encode("ascii")).hexdigest()

    def seed_of(self, request: Generate) -> int | None:
        seed_of = getattr(self._model, "seed_of", None)
        return seed_of(request) if seed_of else None

    async def generate(self, requests: Sequence[Generate]) -> list[Result]:
        """One result for each request, in order. Equal requests, also concurrent ones, are sent once."""
        keys = [self.key(request) for request in requests]
        wanted = dict(zip(keys, requests, strict=True))
        results = self._stored(wanted)
        if results.keys() != wanted.keys():
            results |= await self._missing({key: wanted[key] for key in wanted if key not in results})
        return [results[key] for key in keys]

    def _stored(self, keys: Iterable[str]) -> dict[str, Result]:
        return {key: reply for key in keys if (reply := self._rows.reply(key)) is not None}

    async def _missing(self, wanted: Mapping[str, Generate]) -> dict[str, Result]:
        async with AsyncExitStack() as locks:
            for key in sorted(wanted):  # one order for all, to avoid deadlock
                await locks.enter_async_context(self._asking.setdefault(key, asyncio.Lock()))
            by_key = self._stored(wanted)  # by the previous holders of the locks
            left = [key for key in wanted if key not in by_key]
            if left:
                results = list(await resolve(self._model.generate([wanted[key] for key in left])))
                if len(results) != len(left):
                    raise ModelError(f"The model {self.name} gave {len(results)} results for {len(left)} requests.")
                by_key |= {key: self._keep(key, result) for key, result in zip(left, results, strict=True)}
            return by_key

    def _keep(self, key: str, result: Result) -> Result:
        """The reply in the file, perhaps another process's."""
        if not isinstance(result, Reply) or result.value is not None:
            return result
        self._rows.keep(key, result)
        return self._rows.reply(key) or result

    async def aclose(self) -> None:
        self._rows.close()
        await close(self._model)
