"""Replies kept on disk: what was asked before, in exactly the same way, is not asked again.

Rules of this file
* The key of a reply is made from everything that determines it. Where in doubt two requests have two keys: a request
  too many is paid for, a wrong reply would be believed.
* A reply is written once. Whoever asks gets what stands in the file, so that all of them go on from the same reply.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakValueDictionary

from toulmin.errors import ModelError, ToulminError
from toulmin.models.kept import Kept
from toulmin.prompts.exact import exactly
from toulmin.prompts.replies import Reply
from toulmin.steps import Generate, resolve

FORMAT = "1"  # of keys; a reply under a key of another one is never found
LIMIT = 1_000_000  # replies; about 2 GB

Result = Reply | ToulminError


class Asked(Protocol):
    """The model behind a cache: a `LanguageModel`, with what it may have more."""

    @property
    def name(self) -> str:
        """What the traces call it."""
        ...

    @property
    def concurrency(self) -> int:
        """The most calls it takes at once."""
        ...

    def generate(self, requests: Sequence[Generate]) -> Any:
        """One result a request, plain or to be awaited."""
        ...


class Cached:
    """A language model whose replies are kept in the file at `path`, for this and later processes.

    What is in the file is answered without a call, with the text, the tokens, the price and everything else of the
    first time, so a run that finds all its replies gives the identical answer, usage included (only its seconds
    differ). Two requests are the same where the model's own `key(request)` says so; without one, where the model's
    name and every field of the request are equal. Kept are replies as text: typed values (the embedded writer's) and
    errors pass through.

    The file is made for its owner alone, since replies may quote private documents; several processes may share it.
    It holds the newest `limit` replies. `clear` empties it; deleting it, while nobody uses it, does the same. Raises
    `SourceError` for a file that is no such cache, or that cannot be read or written.
    """

    def __init__(self, model: Asked, path: str | os.PathLike[str], *, limit: int = LIMIT) -> None:
        self._model = model
        self._rows = Kept(Path(path), limit)
        self._asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.name = model.name
        self.concurrency = model.concurrency
        self.batch: int = max(1, getattr(model, "batch", 1))

    @property
    def size(self) -> int:
        """How many replies the file holds."""
        return self._rows.size

    def clear(self) -> None:
        """Forgets every reply."""
        self._rows.clear()

    def key(self, request: Generate) -> str:
        """What a reply is kept under: SHA-256, in hex, of everything that determines it."""
        own = getattr(self._model, "key", None)
        told = own(request) if own is not None else exactly(request)
        return hashlib.sha256(json.dumps([FORMAT, self.name, told]).encode("ascii")).hexdigest()

    async def generate(self, requests: Sequence[Generate]) -> list[Result]:
        """One result a request, in order; the model is asked at most once for equal requests.

        Of requests that run at the same time only the first is sent, the others wait for its reply.
        """
        keys = [self.key(request) for request in requests]
        wanted = dict(zip(keys, requests, strict=True))
        found: dict[str, Result] = {key: row for key in wanted if (row := self._rows.reply(key)) is not None}
        if found.keys() != wanted.keys():
            found |= await self._missing({key: wanted[key] for key in wanted if key not in found})
        return [found[key] for key in keys]

    async def _missing(self, wanted: Mapping[str, Generate]) -> dict[str, Result]:
        async with AsyncExitStack() as held:
            for key in sorted(wanted):  # one order for all, so that no two wait for each other
                await held.enter_async_context(self._asking.setdefault(key, asyncio.Lock()))
            found: dict[str, Result] = {}
            for key in wanted:
                if (row := self._rows.reply(key)) is not None:  # whoever held the lock before has asked
                    found[key] = row
            left = [key for key in wanted if key not in found]
            if left:
                results = await self._asked([wanted[key] for key in left])
                found |= {key: self._kept(key, result) for key, result in zip(left, results, strict=True)}
            return found

    async def _asked(self, requests: Sequence[Generate]) -> list[Result]:
        listed = list(await resolve(self._model.generate(requests)))
        if len(listed) != len(requests):
            raise ModelError(f"The model {self.name} gave {len(listed)} results for {len(requests)} requests.")
        return listed

    def _kept(self, key: str, result: Result) -> Result:
        """What stands in the file from now on, which is another process's reply if that was there first."""
        if not isinstance(result, Reply) or result.value is not None:
            return result
        self._rows.keep(key, result)
        return self._rows.reply(key) or result

    async def aclose(self) -> None:
        """Closes the file and the model."""
        self._rows.close()
        close = getattr(self._model, "aclose", None)
        if close is not None:
            await close()
