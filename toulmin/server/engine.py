"""What answers, in a thread of its own: the open sources, the kit and the driver.

Rules of this file
* The server's event loop never works: searching, judging and writing happen in the engine's thread, so that a probe, a
  page and a cancellation are served at once.
* Whoever watches an answer gets its newest draft, not every one: a slow reader holds nothing up, and what is kept for
  him does not grow.
* A text that a client brings is answered from what he brings; everything else from one moment of the index. An index
  that was written meanwhile is opened beside the old one, which closes when its last answer ends.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

from toulmin.build import assembly
from toulmin.build.assembly import Own
from toulmin.build.opening import Opened, Sources, opened
from toulmin.config import Settings
from toulmin.data import Answer, Hit, Passage
from toulmin.driver.drive import Driver, Job, Outcome
from toulmin.errors import SourceError, StoreAway, ToulminError
from toulmin.index.corpus import Kept

T = TypeVar("T")
RUNNING = 64  # answers worked on side by side
WAITING = 256  # answers more that may wait for a place
REMEMBERED = 1_000  # verdicts, each with the passages that it was about: what is remembered of every answer adds up
_LOOKED = 1.0  # seconds after which the index on disk is looked at again


class Busy(ToulminError):
    """So much is being answered that no more is taken for now."""

    http_status = 503


class Running:
    """One answer on its way; it belongs to the server's event loop."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.latest: Answer | None = None
        self.outcome: Outcome | None = None
        self.failure: BaseException | None = None
        self._changed = asyncio.Event()
        self._end: Callable[[], object] = lambda: None
        self._is_ending = False

    @property
    def is_done(self) -> bool:
        """Whether nothing more will come."""
        return self.outcome is not None or self.failure is not None

    @property
    def answer(self) -> Answer | None:
        """The finished answer, or the newest draft."""
        return self.outcome.answer if self.outcome else self.latest

    def cancel(self) -> None:
        """Ends the work and whatever model calls it waits for; it is done once all of it has wound up.

        Asked again it changes nothing: what is winding up is left to do so.
        """
        if not self.is_done and not self._is_ending:
            self._is_ending = True
            self._end()

    async def drafts(self) -> AsyncIterator[Answer]:
        """The newest draft whenever there is one that was not yielded yet, until the answer is done."""
        seen = None
        while not self.is_done:
            changed = self._changed
            if self.latest is not None and self.latest is not seen:
                seen = self.latest
                yield seen
            elif not self.is_done:
                await changed.wait()

    async def finished(self) -> Answer:
        """The answer, once it is done. Raises `asyncio.CancelledError` where it was cancelled."""
        while not self.is_done:
            await self._changed.wait()
        if self.outcome is None:
            assert self.failure is not None
            raise self.failure
        return self.outcome.answer

    def _show(self, draft: Answer) -> None:
        self.latest = draft
        self._notify()

    def _notify(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


class _Moment:
    """The sources as they were when they were opened, and how many are using them."""

    def __init__(self, sources: Sources, settings: Settings) -> None:
        self._held = ExitStack()
        self.opened: Opened = self._held.enter_context(opened(sources, settings))
        self.stamp = _stamp(self.opened)
        self._users, self._is_over = 0, False

    @contextmanager
    def used(self) -> Iterator[Opened]:
        """The sources, which stay open at least as long as this."""
        self._users += 1
        try:
            yield self.opened
        finally:
            self._users -= 1
            self._close_if_over()

    def retire(self) -> None:
        """Closes the sources as soon as nobody uses them."""
        self._is_over = True
        self._close_if_over()

    def _close_if_over(self) -> None:
        if self._is_over and not self._users:
            self._held.close()


def _stamp(opened: Opened) -> object:
    """What changes when the index does."""
    return None if opened.corpus is None else opened.corpus.stamp()


class Engine:
    """Answers, checks and searches for the server; `start` it, and `stop` it in the end."""

    def __init__(self, sources: Sources, settings: Settings, own: Own = Own()) -> None:
        self.settings = settings
        self._sources, self._own = sources, own
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="toulmin engine", daemon=True)
        self._closing = AsyncExitStack()
        self._runs: set[Running] = set()
        self._looked = 0.0

    @property
    def running(self) -> int:
        """How many answers are on their way."""
        return len(self._runs)

    # -------------------------------------------------------------- its life

    async def start(self) -> None:
        """Opens everything; `stop` it even if that fails. Raises what cannot be used."""
        self._thread.start()
        await self._there(self._open())

    async def _open(self) -> None:
        self._moment = _Moment(self._sources, self.settings)
        self._closing.callback(lambda: self._moment.retire())
        self._places = asyncio.Semaphore(RUNNING)
        kit = await self._closing.enter_async_context(
            assembly.equipped(self._moment.opened.retriever, self.settings, self._own)
        )
        self._driver = Driver(kit, programs=RUNNING, remembered=REMEMBERED)

    async def stop(self) -> None:
        """Cancels the answers that are on their way, and closes everything."""
        for run in list(self._runs):
            run.cancel()
        while self._runs:
            await asyncio.sleep(0.01)
        await self._there(self._closing.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()

    async def _there(self, work: Coroutine[Any, Any, T]) -> T:
        """Does that in the engine's thread."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    # -------------------------------------------------------------- answers

    def begin(self, job: Job, passages: Sequence[Passage] | None = None) -> Running:
        """Begins a job, over the passages that came with it if any did. Raises `Busy` where too many wait."""
        if len(self._runs) >= RUNNING + WAITING:
            raise Busy(f"{len(self._runs)} answers are being worked on; ask again in a moment.")
        here, run = asyncio.get_running_loop(), Running(job)

        def show(draft: Answer) -> None:
            here.call_soon_threadsafe(run._show, draft)

        def done(task: asyncio.Task[Outcome]) -> None:
            if task.cancelled():
                run.failure = asyncio.CancelledError()
            elif error := task.exception():
                run.failure = error
            else:
                run.outcome = task.result()
            self._runs.discard(run)
            run._notify()

        def start() -> None:
            task = self._loop.create_task(self._answered(job, passages, show))
            task.add_done_callback(lambda over: here.call_soon_threadsafe(done, over))
            run._end = lambda: self._loop.call_soon_threadsafe(task.cancel)

        # What cancels comes behind what starts, whoever calls it when; a run is over when its work has wound up.
        run._end = lambda: self._loop.call_soon_threadsafe(lambda: run._end())
        self._runs.add(run)
        self._loop.call_soon_threadsafe(start)
        return run

    async def _answered(self, job: Job, passages: Sequence[Passage] | None, show: Callable[[Answer], None]) -> Outcome:
        async with self._places:
            if passages is not None:
                with opened(Sources(passages=tuple(passages)), self.settings) as found:
                    return await self._driver.answer(replace(job, retriever=found.retriever), show)
            with self._current().used() as found:
                outcome = await self._driver.answer(replace(job, retriever=found.retriever), show)
                notes = (*outcome.answer.notes, *found.notes)
                return replace(outcome, answer=replace(outcome.answer, notes=notes))

    # -------------------------------------------------------------- the sources

    async def search(self, query: str, k: int) -> list[Hit]:
        """The best passages for a query."""
        return await self._there(self._search(query, k))

    async def _search(self, query: str, k: int) -> list[Hit]:
        with self._current().used() as found:
            hits = found.retriever.search([query], k)
            return list((await hits if inspect.isawaitable(hits) else hits)[0])

    async def read(self, what: Callable[[Kept], T]) -> T:
        """What that says of the index as it is now. Raises `SourceError` where there is no index to read."""

        async def work() -> T:
            with self._current().used() as found:
                if found.corpus is None:
                    raise SourceError("What is searched here is no index, so its documents cannot be listed.")
                return what(found.corpus)

        return await self._there(work())

    async def refreshed(self) -> None:
        """Looks at the index on disk now, not only after a while."""

        async def work() -> None:
            self._looked = 0.0
            self._current()

        await self._there(work())

    def _current(self) -> _Moment:
        """The sources as they are now; looked at once a second."""
        now = time.monotonic()
        if now - self._looked > _LOOKED:
            self._looked = now
            with suppress(StoreAway):  # what was opened can be searched on
                if _stamp(self._moment.opened) != self._moment.stamp:
                    before, self._moment = self._moment, _Moment(self._sources, self.settings)
                    before.retire()
        return self._moment
