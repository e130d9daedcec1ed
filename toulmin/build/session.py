"""The one door from sources and settings to answers: a session keeps both open, for as many questions as come.

Rules of this file
* Sources are opened at once, parts (judge, models, reader) with the first answer: a search loads nothing that answers.
* An index that is written meanwhile is opened beside the old one, which closes when its last answer ends. Every answer
  comes from one moment of the index.
* A session belongs to one thread, and its answers to one event loop.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from toulmin.build.sources import OpenSources, SourceIndex, Sources, clean_question, index_docs, open_sources
from toulmin.build.specs import Own
from toulmin.config import Settings, settings_of
from toulmin.data import Answer, Hit, Passage, has_pages
from toulmin.errors import SourceError, StoreAway, ToulminError
from toulmin.stores.address import is_shared

if TYPE_CHECKING:
    from toulmin.driver.budget import Budget
    from toulmin.driver.drive import Driver, Job, Outcome, Watch
    from toulmin.driver.kit import Kit
    from toulmin.indexing.corpus import AnyCorpus
    from toulmin.indexing.update import Progress
    from toulmin.methods import Method
    from toulmin.methods.following import Earlier

T = TypeVar("T")
Rows = Sequence[Sequence[Hit]]
LOOK_AFTER = 1.0  # seconds after which the index on disk is looked at again


class _Moment:
    """The sources as they were when they were opened, and how many answers use them."""

    def __init__(self, sources: Sources, settings: Settings) -> None:
        self._stack = ExitStack()
        self.sources = self._stack.enter_context(open_sources(sources, settings))
        self._users, self._is_over = 0, False

    @contextmanager
    def use(self) -> Iterator[OpenSources]:
        """The sources, which stay open at least as long as this."""
        self._users += 1
        try:
            yield self.sources
        finally:
            self._users -= 1
            self._close_if_over()

    def retire(self) -> None:
        self._is_over = True
        self._close_if_over()

    def _close_if_over(self) -> None:
        if self._is_over and not self._users:
            self._stack.close()


class Session:
    """Open sources, and the parts that answer from them.

    `async with Session(sources, settings) as session` answers, checks and searches; with a plain `with` it searches.
    `own` are a caller's own parts, which stay open. `programs` and `remembered` are those of the driver. Entering it
    raises `SourceError` for sources that cannot be used; the first answer raises what a part that does not load raises.
    The first reading of documents ends after `within` seconds.
    """

    def __init__(
        self,
        sources: Sources,
        settings: Settings,
        own: Own = Own(),
        *,
        programs: int = 64,
        remembered: int = 50_000,
        on_progress: Callable[[Progress], None] | None = None,
        within: float | None = None,
    ) -> None:
        self.settings = settings
        self._sources, self._own = sources, own
        self._limits = {"programs": programs, "remembered": remembered}
        self._on_progress, self._within = on_progress, within
        self._parts: tuple[Kit, Driver] | None = None
        self._indexed: SourceIndex | None = None
        self._looked = 0.0

    # ---------------------------------------------------------------- its life

    def prepare(self) -> Sources:
        """The sources with their documents in an index; reads what changed in those, once before it is entered."""
        if self._indexed is None:
            self._indexed = self._read_documents()
        return self._indexed.sources

    def _read_documents(self) -> SourceIndex:
        return index_docs(self._sources, self.settings, self._on_progress, self._within)

    @property
    def unread(self) -> int:
        """How many files of the documents were not read in the time that they had."""
        return self._indexed.unread if self._indexed else 0

    def __enter__(self) -> Session:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self._moment.retire()

    async def __aenter__(self) -> Session:
        if self._sources.docs:
            import asyncio

            await asyncio.to_thread(self.prepare)  # the event loop goes on meanwhile
        self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            if self._parts is not None:
                from toulmin.build.parts import close_kit

                await close_kit(self._parts[0], self._own)
        finally:
            self._moment.retire()

    def _open(self) -> None:
        self._moment = _Moment(self.prepare(), self.settings)
        self._looked = time.monotonic()

    async def refresh(self) -> None:
        """Reads what changed in the documents, and looks at the index now, not only after a while."""
        if self._sources.docs:
            import asyncio

            # Whoever asks meanwhile goes on with what was read before.
            self._indexed = await asyncio.to_thread(self._read_documents)
        self._looked = 0.0
        self._current()

    def _current(self) -> _Moment:
        """The sources as they are now; the index is looked at once a second."""
        now = time.monotonic()
        if now - self._looked > LOOK_AFTER:
            self._looked = now
            with suppress(StoreAway):  # what was opened can be searched on
                if self._moment.sources.is_changed():
                    before, self._moment = self._moment, _Moment(self.prepare(), self.settings)
                    before.retire()
        return self._moment

    @contextmanager
    def use(self) -> Iterator[OpenSources]:
        """One moment of the sources, which stays open at least as long as this."""
        with self._current().use() as sources:
            yield replace(sources, skipped=self._indexed.skipped if self._indexed else ())

    # ---------------------------------------------------------------- searching

    def rank(self, queries: Sequence[str], k: int) -> Rows | Awaitable[Rows]:
        """At most `k` hits a query, best first; awaitable where the retriever is."""
        return self._current().sources.retriever.search(queries, k)

    async def search(self, query: str, k: int) -> tuple[Hit, ...]:
        """The `k` best passages for a query, best first."""
        from toulmin.steps import resolve

        with self.use() as sources:
            return tuple((await resolve(sources.retriever.search([query], k)))[0])

    def read(self, what: Callable[[AnyCorpus], T]) -> T:
        """What a function says of the index as it is now. Raises `SourceError` where there is no index to read."""
        with self.use() as sources:
            if sources.corpus is None:
                raise SourceError("What is searched here is no index, so its documents cannot be listed.")
            return what(sources.corpus)

    # ---------------------------------------------------------------- answering

    def equip(self) -> tuple[Kit, Driver]:
        """The parts and their driver, made with the first call and closed with the session."""
        if self._parts is None:
            from toulmin.build.parts import kit
            from toulmin.driver.drive import Driver

            parts = kit(self._moment.sources.retriever, self.settings, self._own)
            self._parts = parts, Driver(parts, **self._limits)
        return self._parts

    async def answer(self, job: Job, watch: Watch | None = None, passages: Sequence[Passage] | None = None) -> Outcome:
        """One job run to its end, from `passages` in place of the sources where some are given.

        `watch` is called with every draft. A failure of a model or a spent budget is an answer with status `failed`.
        """
        _, driver = self.equip()
        if passages is not None:
            with open_sources(Sources(passages=tuple(passages)), self.settings) as given:
                return await driver.answer(replace(job, retriever=given.retriever), watch)
        with self.use() as sources:
            spelt, remarks = _spelt(sources, job)
            outcome = await driver.answer(_with_retriever(sources, spelt), watch)
            if spelt is not job:
                outcome = replace(outcome, answer=replace(outcome.answer, asked=job.question))
            return await _with_boxes(with_notes(outcome, (*remarks, *sources.notes)))

    async def ask(
        self,
        question: str,
        *,
        method: str | Method | None = None,
        budget: Budget | None = None,
        on_draft: Watch | None = None,
        history: Sequence[Earlier] = (),
        rewrite: bool = True,
        **options: Any,
    ) -> Answer:
        """Answers a question; options as in `toulmin.ask`, but that the parts are those of the session."""
        from toulmin.build import jobs

        own = None if isinstance(method, str) else method
        settings = self.settings.override(**settings_of(options, method=method))
        job = jobs.job(clean_question(question), settings, by=own, budget_=budget, history=history, rewrite=rewrite)
        return (await self.answer(job, on_draft)).answer

    async def check(
        self, text: str, *, repair: bool = False, path: str | os.PathLike[str] | None = None, **options: Any
    ) -> Answer:
        """Judges a text that somebody else wrote, against what is found for each claim; as `toulmin.check`."""
        from toulmin.build import jobs

        job = jobs.check_job(text, (), self.settings.override(**settings_of(options)), repair=repair, path=path)
        return (await self.answer(job)).answer

    async def answers(self, jobs: Iterable[Job]) -> AsyncIterator[Outcome]:
        """The outcome of each job, in order, many at a time; `jobs` is read only as places become free."""
        _, driver = self.equip()
        with self.use() as sources:
            async for outcome in driver.in_order(_with_retriever(sources, job) for job in jobs):
                yield await _with_boxes(with_notes(outcome, sources.notes))


def _spelt(sources: OpenSources, job: Job) -> tuple[Job, tuple[str, ...]]:
    """The job with misspelled words of its question put right by the words of the index, and a note that says so."""
    if sources.corpus is None or job.asking is None:
        return job, ()
    from toulmin.retrieval.spelling import correct, corrections

    made = corrections(job.question, sources.corpus)
    if not made:
        return job, ()
    right = correct(job.question, made)
    listed = ", ".join(f"“{word}”" for word in made)
    return job.asking(right), (f"Read as “{right}”, since the sources have no {listed}.",)


def _with_retriever(sources: OpenSources, job: Job) -> Job:
    return job if job.retriever is not None else replace(job, retriever=sources.retriever)


def with_notes(outcome: Outcome, notes: Sequence[str]) -> Outcome:
    return replace(outcome, answer=replace(outcome.answer, notes=(*outcome.answer.notes, *notes)))


async def _with_boxes(outcome: Outcome) -> Outcome:
    """With the places of its words on the pages of PDFs, which are read in a thread."""
    if not any(has_pages(passage.source.path) for passage in outcome.answer.cited):
        return outcome
    import asyncio

    from toulmin.originals.citations import with_boxes

    return replace(outcome, answer=await asyncio.to_thread(with_boxes, outcome.answer))


# ---------------------------------------------------------------- sessions that are shared


class Pool:
    """Sessions that calls from one event loop share, the last `most` of them; `close` it in the end."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._sessions: dict[object, Session] = {}
        self._users: Counter[object] = Counter()

    @asynccontextmanager
    async def lend(self, sources: Sources, settings: Settings) -> AsyncIterator[Session]:
        """A session over those sources as they are now, which others may use meanwhile."""
        key = (sources, repr(settings.for_parts()), os.getcwd())
        session = await self._fresh(key, sources, settings)
        self._users[key] += 1
        try:
            yield session
        finally:
            self._users[key] -= 1
            await self._close_oldest()

    async def _fresh(self, key: object, sources: Sources, settings: Settings) -> Session:
        session = self._sessions.pop(key, None)
        if session is not None:
            try:
                await session.refresh()
            except ToulminError:  # what it was opened from is no more what it was
                await session.__aexit__()
                session = None
        if session is None:
            session = await Session(sources, settings.for_parts()).__aenter__()
        self._sessions[key] = session  # the newest is last
        return session

    async def _close_oldest(self) -> None:
        for key in list(self._sessions)[: max(0, len(self._sessions) - self._most)]:
            if not self._users[key]:
                await self._sessions.pop(key).__aexit__()

    async def close(self) -> None:
        while self._sessions:
            await self._sessions.popitem()[1].__aexit__()


SHARED: ContextVar[Pool | None] = ContextVar("toulmin_sessions", default=None)


def lend(sources: Sources, settings: Settings, own: Own) -> AbstractAsyncContextManager[Session]:
    """The shared session over files or an index folder, where sessions are shared; else one that ends with this.

    A corpus at an address is not kept open between calls: an open moment of it is a transaction in its database.
    """
    pool = SHARED.get()
    if pool is not None and own == Own() and _is_local(sources, settings):
        return pool.lend(sources, settings)
    return Session(sources, settings, own)


def _is_local(sources: Sources, settings: Settings) -> bool:
    if sources.passages is not None or sources.retriever is not None:
        return False
    return bool(sources.docs) or not is_shared(sources.index or settings.index)


# ---------------------------------------------------------------- a notebook


def _as_html(answer: Answer) -> str:
    """What a notebook shows of an answer."""
    from toulmin.formats.html_page import fragment

    return fragment(answer)


Answer._repr_html_ = _as_html  # type: ignore[attr-defined]  # here, since the vocabulary knows no format
