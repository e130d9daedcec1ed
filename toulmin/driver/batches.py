"""Gathers requests into few calls: `Batcher` for parts of the kit, `Calls` for one model.

Both belong to one event loop. If a call with several requests fails, each is sent alone, so that only faulty ones fail.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from toulmin.driver import tracing
from toulmin.driver.kit import LanguageModel, Replies, results_of
from toulmin.errors import ToulminError
from toulmin.prompts.replies import Reply
from toulmin.steps import Generate

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Call = Callable[[Sequence[K]], Awaitable[Sequence[V]]]

QUIET_TURNS = 2  # without a new request, after which nothing else can run
MOST_TURNS = 4  # otherwise the first request could wait forever


class Batcher(Generic[K, V]):
    """Holds requests until there are `size`, or until `QUIET_TURNS` of the event loop brought none.

    While `others_busy`, the batch then waits `linger` more seconds. Turns, not a clock, limit the wait, so that batches
    are deterministic. Equal requests are asked once; the last `memory` results are kept.
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
        """In order; raises the `ToulminError` of the first item that failed."""
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
            while len(self._results) > self._memory:
                oldest = next(iter(self._results))
                if not self._results[oldest].done():
                    break
                del self._results[oldest]

    def _fail(self, batch: list[K], error: Exception) -> None:
        for item in batch:
            _settle(self._results.pop(item), error)


async def call_part(part: str, method: Callable[[Any], Any], items: Sequence[Any], kind: Any) -> list[Any]:
    try:
        results = await results_of(part, method, items, kind)
    except ToulminError as error:
        tracing.warn(part, len(items), [error] * len(items))
        raise
    tracing.warn(part, len(items), [result for result in results if isinstance(result, ToulminError)])
    return results


# ---------------------------------------------------------------- calls to one model


COMPANY_TURNS = 2  # of the event loop that a request waits for others, if the model takes batches


class _Waiting(NamedTuple):
    request: Generate
    reply: asyncio.Future[Reply]


class Calls:
    """At most `concurrency` calls to a model at once, each with up to `batch` waiting requests.

    A request that nobody awaits is not sent; a call that nobody awaits is cancelled.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._batch = max(1, getattr(model, "batch", 1))
        self._free = max(1, getattr(model, "concurrency", 1))
        self._waiting: deque[_Waiting] = deque()
        self._running: set[asyncio.Task[None]] = set()
        self._timer: asyncio.Handle | None = None

    @property
    def is_busy(self) -> bool:
        return bool(self._running)

    async def ask(self, request: Generate) -> Reply:
        """Raises the `ToulminError` of the call."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(request, future))
        self._wake()
        with tracing.chatting(self._model, request) as report:
            reply = await future
            report(reply)
        return reply

    def _wake(self) -> None:
        if self._timer is None and self._free and self._waiting:
            turns = COMPANY_TURNS if self._batch > 1 else 0
            self._timer = asyncio.get_running_loop().call_soon(self._start, len(self._waiting), turns)

    def _start(self, seen: int, turns: int) -> None:
        if turns and len(self._waiting) < self._batch:
            turns = turns - 1 if len(self._waiting) == seen else COMPANY_TURNS
            self._timer = asyncio.get_running_loop().call_soon(self._start, len(self._waiting), turns)
            return
        self._timer = None
        while self._free and (batch := self._next_batch()):
            self._free -= 1
            task = asyncio.get_running_loop().create_task(self._serve(batch))
            self._running.add(task)
            for waiting in batch:
                waiting.reply.add_done_callback(partial(_cancel_if_abandoned, task, batch))

    def _next_batch(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        while self._waiting and len(batch) < self._batch:
            waiting = self._waiting.popleft()
            if not waiting.reply.done():
                batch.append(waiting)
        return batch

    async def _serve(self, batch: Sequence[_Waiting]) -> None:
        """Always settles the requests. The next call starts before the replies are delivered, so that programs read
        them while it waits for the network.
        """
        results: Sequence[Reply | Exception] = [ToulminError("The driver was stopped.")] * len(batch)
        try:
            results = await self._results([waiting.request for waiting in batch])
        except Exception as error:
            results = [error] * len(batch)
            raise
        finally:
            self._free_place()
            for waiting, result in zip(batch, results, strict=True):
                _settle(waiting.reply, result)

    def _free_place(self) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._running.discard(task)
        self._free += 1
        if self._batch == 1 and self._timer is None:
            self._start(0, 0)
        else:
            self._wake()

    async def _results(self, requests: Sequence[Generate]) -> Replies:
        try:
            return await call_part(f"model {self._model.name}", self._model.generate, requests, Reply | ToulminError)
        except ToulminError as error:
            if len(requests) == 1:
                return [error]
            alone = await asyncio.gather(*(self._results([request]) for request in requests))
            return [results[0] for results in alone]


def _cancel_if_abandoned(task: asyncio.Task[None], batch: Sequence[_Waiting], _: asyncio.Future[Reply]) -> None:
    if all(waiting.reply.cancelled() for waiting in batch):
        task.cancel()


def _settle(future: asyncio.Future[V], result: V | Exception) -> None:
    if future.done():
        return
    if isinstance(result, Exception):
        future.set_exception(result)
        future.exception()  # read once, so that asyncio does not warn if nobody awaits it
    else:
        future.set_result(result)
