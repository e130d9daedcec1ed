"""Gathers requests into few calls: `Batcher` to parts of the kit, `Calls` to one model.

Both belong to one event loop. If a call with several requests fails, they are sent one by one, so that only the
faulty ones fail.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar

from toulmin.errors import ToulminError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Call = Callable[[Sequence[K]], Awaitable[Sequence[V]]]

QUIET_TURNS = 2  # turns of the event loop without a new request that count as "nothing else can run"
MOST_TURNS = 4  # the most turns to wait: if every turn brings a request, the first would wait for the last


class Batcher(Generic[K, V]):
    """Holds requests until there are `size`, nothing else can run, or they have waited too long.

    "Nothing else can run": some turns of the event loop brought no request. While `others_busy`, the batch then
    waits `linger` more seconds. "Too long" counts turns, so that batches depend on no clock. Equal requests are
    asked once; the last `memory` results are kept.
    """

    def __init__(
        self,
        call: Call[K, V],
        *,
        size: int = 256,
        linger: float = 0.003,
        memory: int = 50_000,
        others_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._call = call
        self._size, self._linger, self._memory = size, linger, memory
        self._others_busy = others_busy
        self._results: OrderedDict[K, asyncio.Future[V]] = OrderedDict()
        self._waiting: list[K] = []
        self._timer: asyncio.Handle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, items: Sequence[K]) -> list[V]:
        """One result an item, in order; raises the `ToulminError` of the first item that failed."""
        futures = [self._future(item) for item in items]
        # A cancelled program must not cancel a result that others wait for.
        return [await asyncio.shield(future) for future in futures]

    def _future(self, item: K) -> asyncio.Future[V]:
        known = self._results.get(item)
        if known is not None:
            self._results.move_to_end(item)
            return known
        future: asyncio.Future[V] = asyncio.get_running_loop().create_future()
        self._results[item] = future
        self._waiting.append(item)
        if len(self._waiting) >= self._size:
            self._flush()
        elif self._timer is None:
            self._watch(len(self._waiting), QUIET_TURNS, MOST_TURNS)
        return future

    def _watch(self, seen: int, turns: int, most: int) -> None:
        if len(self._waiting) != seen:
            seen, turns = len(self._waiting), QUIET_TURNS
        loop = asyncio.get_running_loop()
        if turns > 0 and most > 0:
            self._timer = loop.call_soon(self._watch, seen, turns - 1, most - 1)
        elif self._others_busy():
            self._timer = loop.call_later(self._linger, self._flush)
        else:
            self._flush()

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        batch, self._waiting = self._waiting, []
        if batch:
            task = asyncio.get_running_loop().create_task(self._serve(batch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, batch: list[K]) -> None:
        try:
            values = await self._call(batch)
        except ToulminError as error:
            if len(batch) == 1:
                self._fail(batch, error)
            else:
                await asyncio.gather(*(self._serve([item]) for item in batch))
        except BaseException as error:
            self._fail(batch, error if isinstance(error, Exception) else ToulminError("The driver was stopped."))
            raise
        else:
            for item, value in zip(batch, values, strict=True):
                self._results[item].set_result(value)
            self._forget()

    def _fail(self, batch: list[K], error: Exception) -> None:
        for item in batch:
            future = self._results.pop(item)
            future.set_exception(error)
            future.exception()  # read once, so that asyncio does not warn if the program has gone

    def _forget(self) -> None:
        while len(self._results) > self._memory:
            oldest = next(iter(self._results))
            if not self._results[oldest].done():
                return
            del self._results[oldest]
