"""Answers for the server in a separate thread, with its open sources, kit and driver.

* Searching, judging and writing run in the engine's thread, never in the server's event loop.
* A client gets the newest draft, not every draft, so a slow reader delays nothing.
* A text with passages is checked against them; everything else uses one state of the index. A changed index opens
  beside the old one, which closes when its last answer ends.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import Any, TypeVar

from toulmin.build import encoding, indexes
from toulmin.build.checking import check_files, recheck_answers
from toulmin.build.originals import Originals
from toulmin.build.session import Session
from toulmin.build.sources import FIRST_SECONDS, Sources, index_of
from toulmin.build.specs import Own
from toulmin.checking.findings import CheckedFile
from toulmin.checking.recheck import Recheck
from toulmin.config import Settings
from toulmin.data import Answer, Hit, Passage, Source
from toulmin.documents import loaders
from toulmin.driver.drive import Job, Outcome
from toulmin.errors import ModelError, ToulminError, cause_of
from toulmin.indexing.catalogue import BeingWritten
from toulmin.indexing.corpus import AnyCorpus
from toulmin.retrieval.reranking import VectorCache

LOG = logging.getLogger("toulmin.server")
T = TypeVar("T")
RUNNING = 64  # answers worked on side by side
WAITING = 256  # further answers that may wait
REMEMBERED = 1_000  # verdicts, which keep their passages in memory

MOST = 200_000  # passages: an hour of two cores, 150 MB; a larger index is encoded on demand
_AT_ONCE = 8  # passages between two checks whether somebody asks
_LOOK_AFTER = 2.0  # seconds between two checks of the index
_STARTING = 1.0  # seconds for watching to start
_BUSY = 0.25  # seconds between two checks of a busy server: a search seldom comes alone
_ENDING = 5.0  # seconds for cancelled work to end


class Busy(ToulminError):
    http_status = 503


class AnswerCancelled(ToulminError):
    http_status = 409


class Running:
    """A running answer; it belongs to the server's event loop."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.latest: Answer | None = None
        self.outcome: Outcome | None = None
        self.failure: BaseException | None = None
        self._changed = asyncio.Event()
        self._end: Callable[[], object] = lambda: None

    @property
    def is_done(self) -> bool:
        return self.outcome is not None or self.failure is not None

    @property
    def answer(self) -> Answer | None:
        return self.outcome.answer if self.outcome else self.latest

    def cancel(self) -> None:
        """Ends it at once; its work ends with the current model calls."""
        if not self.is_done:
            self.failure = AnswerCancelled("The answer was cancelled before it was finished.")
            self._end()
            self._notify()

    async def drafts(self) -> AsyncIterator[Answer]:
        """Yields each new draft until the answer is finished."""
        seen = None
        while not self.is_done:
            changed = self._changed
            if self.latest is not None and self.latest is not seen:
                seen = self.latest
                yield seen
            elif not self.is_done:
                await changed.wait()

    async def final_answer(self) -> Answer:
        """Raises the run's failure, or `AnswerCancelled`."""
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


@dataclass(frozen=True, slots=True)
class EncodingProgress:
    """How many passages have vectors, and the seconds until all do (None: unknown)."""

    done: int
    total: int
    seconds_left: float | None


class Ahead:
    """Encodes the passages of an idle server's index, so that no search by meaning waits; vectors are kept.

    Works in a separate thread between `start` and `stop`. `open_index` opens the current index; `is_idle` is true while
    nobody waits for an answer or a search.
    """

    def __init__(
        self,
        open_index: Callable[[], AbstractContextManager[AnyCorpus]],
        vectors: VectorCache,
        is_idle: Callable[[], bool],
    ) -> None:
        self._open_index, self._vectors, self._is_idle = open_index, vectors, is_idle
        self._is_over = Event()
        self._thread = Thread(target=self._work, name="toulmin ahead", daemon=True)
        self.progress: EncodingProgress | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while not self._is_over.is_set():
            try:
                with self._open_index() as corpus:
                    if len(corpus) <= MOST and self._vectors.is_kept:
                        self._encode(corpus)
                    while not self._is_over.wait(_LOOK_AFTER) and corpus.stamp() == corpus.opened_at:
                        pass
            except ModelError:  # the encoder does not load; answers report it
                return
            except ToulminError:  # the index is being rebuilt or damaged; answers report it
                self._is_over.wait(_LOOK_AFTER)

    def _encode(self, corpus: AnyCorpus) -> None:
        done, made, taken, passages = 0, 0, 0.0, corpus.every_passage()
        while part := list(islice(passages, _AT_ONCE)):
            while not self._is_idle():
                if self._is_over.wait(_BUSY):
                    return
            started = time.monotonic()
            new = self._vectors.make_ahead(part)
            made, taken = made + new, taken + (time.monotonic() - started if new else 0.0)
            done += len(part)
            left = (len(corpus) - done) * taken / made if made else None
            self.progress = EncodingProgress(done, len(corpus), left if done < len(corpus) else 0.0)
            if self._is_over.is_set():
                return


class Engine:
    """Answers, checks and searches for the server; call `start` first and `stop` last.

    Documents are read beside the answers, at first and whenever they change.
    """

    def __init__(self, sources: Sources, settings: Settings, parts: Own = Own()) -> None:
        self.settings, self._docs = settings, sources.docs
        self._session = Session(sources, settings, parts, programs=RUNNING, remembered=REMEMBERED, within=FIRST_SECONDS)
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="toulmin engine", daemon=True)
        self._closing = AsyncExitStack()
        self._runs: set[Running] = set()
        self._calls = 0  # searches and the like in progress
        self._index = index_of(sources, settings)
        self._ahead: Ahead | None = None
        self._following: Future[None] | None = None
        self.is_open = False

    @property
    def running(self) -> int:
        return len(self._runs)

    @property
    def is_idle(self) -> bool:
        return not (self._runs or self._calls)

    # -------------------------------------------------------------- its life

    async def start(self) -> None:
        """Opens sources and models; call `stop` even if it raises."""
        self._thread.start()
        await self._there(self._open())
        self.is_open = True
        self._encode_ahead()
        if self._docs:
            self._following = asyncio.run_coroutine_threadsafe(self._follow(), self._loop)

    async def _open(self) -> None:
        self._places, self._refreshing = asyncio.Semaphore(RUNNING), asyncio.Lock()
        await self._closing.enter_async_context(self._session)
        self.is_reading = self._session.unread > 0  # for the first time
        self._session.equip()

    def _encode_ahead(self) -> None:
        if self._index is None or not self.settings.encode_ahead:
            return
        vectors = encoding.kept_vectors(encoding.label_of(self._index), self.settings)
        if vectors is not None:
            self._ahead = Ahead(partial(indexes.open_index, self._index), vectors, lambda: self.is_idle)
            self._ahead.start()

    @property
    def encoded(self) -> EncodingProgress | None:
        """The progress of encoding ahead; None without it."""
        return self._ahead.progress if self._ahead else None

    async def stop(self) -> None:
        if not self._thread.is_alive():  # never started
            self._loop.close()
            return
        if self._ahead is not None:
            await asyncio.to_thread(self._ahead.stop)
        if self._following is not None:
            self._following.cancel()
        for run in list(self._runs):
            run.cancel()
        while self._runs:
            await asyncio.sleep(0.01)
        await self._there(_end_tasks())
        await self._there(self._closing.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()

    async def _there(self, work: Coroutine[Any, Any, T]) -> T:
        async def run() -> T:
            try:
                return await work
            except Exception:
                if (task := asyncio.current_task()) and task.cancelling():  # asyncio logs an error that nobody takes
                    raise asyncio.CancelledError from None
                raise

        self._calls += 1
        try:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(run(), self._loop))
        finally:
            self._calls -= 1

    # -------------------------------------------------------------- answers

    def begin(self, job: Job, passages: Sequence[Passage] | None = None) -> Running:
        """Starts a job, over `passages` if given. Raises `Busy` if too many answers wait."""
        if len(self._runs) >= RUNNING + WAITING:
            raise Busy(f"{len(self._runs)} answers are running; ask again in a moment.")
        here, run = asyncio.get_running_loop(), Running(job)

        def show(draft: Answer) -> None:
            here.call_soon_threadsafe(run._show, draft)

        def settle(task: asyncio.Task[Outcome]) -> None:
            error = None if task.cancelled() else task.exception()  # asyncio logs an exception that nobody reads
            if not run.is_done:
                run.failure, run.outcome = error, None if error else task.result()
            self._runs.discard(run)
            run._notify()

        async def work() -> Outcome:
            async with self._places:
                with self._session.use() as sources:
                    written_at = sources.corpus.written_at if sources.corpus and passages is None else ""
                outcome = await self._session.answer(job, show, passages)
                return replace(outcome, answer=replace(outcome.answer, sources_at=written_at))

        def start() -> None:
            task = self._loop.create_task(work())
            task.add_done_callback(lambda over: here.call_soon_threadsafe(settle, over))
            run._end = lambda: self._loop.call_soon_threadsafe(task.cancel)

        # A cancellation is queued after the start; a run ends when its work has ended.
        run._end = lambda: self._loop.call_soon_threadsafe(lambda: run._end())
        self._runs.add(run)
        self._loop.call_soon_threadsafe(start)
        return run

    # -------------------------------------------------------------- the sources

    async def search(self, query: str, k: int, only: Sequence[str] | None = None) -> list[Hit]:
        return list(await self._there(self._session.search(query, k, only=only)))

    async def read(self, what: Callable[[AnyCorpus], T]) -> T:
        """Calls `what` in the engine's thread. Raises `SourceError` if the source is no index."""

        async def work() -> T:
            return self._session.read(what)

        return await self._there(work())

    async def recheck(self, answer: Answer) -> Recheck:
        """Raises `SourceError` if the sources are no index."""
        return (await self._there(recheck_answers([(None, answer)], self._session)))[0]

    async def with_originals(self, what: Callable[[Originals], Coroutine[Any, Any, T]]) -> T:
        """Calls `what` in the engine's thread."""

        async def work() -> T:
            return await what(self._session.originals)

        return await self._there(work())

    def draw_ahead(self, source: Source, width: int) -> None:
        """Starts the drawing process early: its start takes longer than the drawing."""

        async def work() -> None:
            await self._session.originals.picture(Path(source.path or ""), source.digest, source.page or 1, width)

        asyncio.run_coroutine_threadsafe(work(), self._loop)

    async def check_file(self, path: Path, longest: int) -> CheckedFile:
        """Raises what `toulmin.check_files` raises, and `UsageError` for more than `longest` characters."""

        async def work() -> CheckedFile:
            async with self._places:
                judge = self._session.equip()[0].judge
                return (await check_files([path], self._session, judge, None, None, longest))[0]

        return await self._there(work())

    async def refresh(self) -> None:
        """Reads changed documents, but waits for no first reading."""
        if not self.is_reading:
            await self._there(self._read_changes())

    async def _read_changes(self) -> None:
        async with self._refreshing:  # all write to one index
            await self._session.refresh()

    async def _follow(self) -> None:
        """Reads what is left of a first reading, and each change, once a burst of changes has ended."""
        watches = loaders.watch(self._docs, Path(self._index or ""))
        await asyncio.gather(self._read_first(), *map(self._read_after, watches))

    async def _read_first(self) -> None:
        await asyncio.sleep(_STARTING)  # what changes from now on is noticed
        await self._read_all()
        self.is_reading = False

    async def _read_after(self, changes: AsyncIterator[object]) -> None:
        try:
            async for _ in changes:
                await self._read_all()
        except OSError as error:
            LOG.warning("changed documents are not noticed: %(reason)s", {"reason": cause_of(error)})

    async def _read_all(self) -> None:
        try:
            await self._read_changes()
        except BeingWritten:  # by another process
            await self._read_all()
        except (ToulminError, OSError) as error:
            LOG.warning("changed documents could not be read: %(reason)s", {"reason": str(error)})


async def _end_tasks() -> None:
    """Cancels all other work of the loop, and takes its errors: of others asyncio logs even while the process ends."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.gather(*others, return_exceptions=True), _ENDING)
