"""Requests to one model: so many calls at once, each with as many of the waiting requests as the model takes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple

from toulmin.driver import tracing
from toulmin.driver.kit import LanguageModel
from toulmin.errors import ToulminError
from toulmin.prompts.replies import Reply
from toulmin.steps import Generate

Results = Sequence[Reply | ToulminError]
COMPANY_TURNS = 2  # turns of the event loop in which a model that takes batches waits for company


class _Waiting(NamedTuple):
    request: Generate
    reply: asyncio.Future[Reply]


class Calls:
    """Serves requests as places become free: a call takes what waits by then, up to the model's `batch`.

    `call` gives one result a request. A request whose asker went away is not sent, and a call that nobody waits for
    any more is cancelled. When a call with several requests fails as a whole they are sent one by one, so that only
    the guilty ones fail. Not for use from several event loops.
    """

    def __init__(self, model: LanguageModel, call: Callable[[Sequence[Generate]], Awaitable[Results]]) -> None:
        self._model, self._call = model, call
        self._batch = max(1, getattr(model, "batch", 1))
        self._free = max(1, getattr(model, "concurrency", 1))
        self._waiting: deque[_Waiting] = deque()
        self._running: set[asyncio.Task[None]] = set()
        self._timer: asyncio.Handle | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a call is in flight."""
        return bool(self._running)

    async def ask(self, request: Generate) -> Reply:
        """The reply; raises the `ToulminError` that came in its place."""
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
        """Starts calls, once a few turns of the loop have brought no further company."""
        if turns and len(self._waiting) < self._batch:
            turns = turns - 1 if len(self._waiting) == seen else COMPANY_TURNS
            self._timer = asyncio.get_running_loop().call_soon(self._start, len(self._waiting), turns)
            return
        self._timer = None
        while self._free and (batch := self._taken()):
            self._free -= 1
            task = asyncio.get_running_loop().create_task(self._served(batch))
            self._running.add(task)
            for waiting in batch:
                waiting.reply.add_done_callback(partial(self._abandoned, task, batch))

    def _taken(self) -> list[_Waiting]:
        """The next requests that somebody still waits for, as many as go into one call."""
        batch: list[_Waiting] = []
        while self._waiting and len(batch) < self._batch:
            waiting = self._waiting.popleft()
            if not waiting.reply.done():
                batch.append(waiting)
        return batch

    @staticmethod
    def _abandoned(task: asyncio.Task[None], batch: Sequence[_Waiting], _: asyncio.Future[Reply]) -> None:
        if all(waiting.reply.cancelled() for waiting in batch):
            task.cancel()

    async def _served(self, batch: Sequence[_Waiting]) -> None:
        """One call from start to end: nobody is left waiting and its place is free again, whatever happens.

        The next call goes out before the replies are handed on, so that they are read while it waits on the network.
        """
        results: Sequence[Reply | Exception] = [ToulminError("The driver was stopped.")] * len(batch)
        try:
            results = await self._results([waiting.request for waiting in batch])
        except Exception as error:
            results = [error] * len(batch)
            raise
        finally:
            self._ended()
            for waiting, result in zip(batch, results, strict=True):
                _settle(waiting.reply, result)

    def _ended(self) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._running.discard(task)
        self._free += 1
        if self._batch == 1 and self._timer is None:
            self._start(0, 0)
        else:
            self._wake()

    async def _results(self, requests: Sequence[Generate]) -> Results:
        try:
            return await self._call(requests)
        except ToulminError as error:
            if len(requests) == 1:
                return [error]
            alone = await asyncio.gather(*(self._results([request]) for request in requests))
            return [results[0] for results in alone]


def _settle(future: asyncio.Future[Reply], result: Reply | Exception) -> None:
    if future.done():
        return
    if isinstance(result, Exception):
        future.set_exception(result)
        future.exception()  # read once, so that an asker that went away leaves no warning behind
    else:
        future.set_result(result)
