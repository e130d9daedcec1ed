"""Sessions: open sources and parts that answer many questions.

* Sources open at once, parts (judge, models, reader) with the first answer: a search loads nothing that answers.
* A changed index opens beside the old one, which closes when its last answer ends: every answer comes from one moment.
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
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from toulmin.build import indexes
from toulmin.build.sources import Call, OpenSources, SourceIndex, Sources, clean_question, index_docs, open_sources
from toulmin.build.specs import Own
from toulmin.config import Settings, settings_of
from toulmin.data import Answer, Hit, Passage, Source
from toulmin.errors import SourceError, StoreAway, ToulminError
from toulmin.indexing.catalogue import close_on_error
from toulmin.originals import printer_of
from toulmin.stores.address import is_shared

if TYPE_CHECKING:
    from toulmin.build.originals import Originals
    from toulmin.driver.budget import Budget
    from toulmin.driver.drive import Driver, Job, Outcome, Watch
    from toulmin.driver.kit import Kit
    from toulmin.indexing.corpus import AnyCorpus
    from toulmin.indexing.update import Progress
    from toulmin.methods import Method
    from toulmin.methods.following import Earlier

T = TypeVar("T")
Rows = Sequence[Sequence[Hit]]
_LIMITS = 8  # searches of some documents that are kept open
LOOK_AFTER = 1.0  # seconds between checks of the index on disk


class _Moment:
    """The sources when they were opened, and how many answers use them."""

    def __init__(self, sources: Sources, settings: Settings) -> None:
        self._stack = ExitStack()
        whole = self._stack.enter_context(open_sources(sources, settings))
        with close_on_error(self._stack):
            self.sources = whole.limit(settings.only or ())
        self._limit = lru_cache(maxsize=_LIMITS)(lambda only: whole.limit((*(settings.only or ()), *only)))
        self._users, self._is_over = 0, False

    @contextmanager
    def use(self, only: tuple[str, ...]) -> Iterator[OpenSources]:
        """The sources, limited by `only` too, open at least until the end of the context."""
        self._users += 1
        try:
            yield self._limit(only) if only else self.sources
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

    `async with Session(sources, settings) as session` answers, checks and searches; a plain `with` only searches. The
    caller's parts (`own`) stay open. `programs` and `remembered` are limits of the driver; the first reading of
    documents stops after `within` seconds. Raises `SourceError` on entering.
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
        self._originals: Originals | None = None
        self._indexed: SourceIndex | None = None
        self._looked = 0.0

    # ---------------------------------------------------------------- opening

    def prepare(self) -> Sources:
        """The sources with their documents in an index; reads changed documents, once."""
        if self._indexed is None:
            self._indexed = index_docs(self._sources, self.settings, self._on_progress, self._within)
        return self._indexed.sources

    @property
    def unread(self) -> int:
        """How many files were not read within the time limit."""
        return self._indexed.unread if self._indexed else 0

    def __enter__(self) -> Session:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self._moment.retire()

    async def __aenter__(self) -> Session:
        if self._sources.docs:
            import asyncio

            await asyncio.to_thread(self.prepare)  # without blocking the event loop
        self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            if self._parts is not None:
                from toulmin.build.parts import close_kit

                await close_kit(self._parts[0], self._own)
        finally:
            if self._originals is not None:
                self._originals.close()
            self._moment.retire()

    def _open(self) -> None:
        self._moment = _Moment(self.prepare(), self.settings)
        self._looked = time.monotonic()

    async def refresh(self) -> None:
        """Reads changed documents and checks the index now; meanwhile questions use the old state."""
        try:
            if self._sources.docs:
                read = partial(index_docs, self._sources, self.settings)
                self._indexed = await indexes.until_cancelled(read)
        finally:  # nothing may be left of a folder
            self._looked = 0.0
            self._current()

    def _current(self) -> _Moment:
        """The current sources; checks the index at most once a second."""
        now = time.monotonic()
        if now - self._looked > LOOK_AFTER:
            self._looked = now
            with suppress(StoreAway):  # the open state stays usable
                if self._moment.sources.is_changed():
                    before, self._moment = self._moment, _Moment(self.prepare(), self.settings)
                    before.retire()
        return self._moment

    @contextmanager
    def use(self, only: Sequence[str] | None = None) -> Iterator[OpenSources]:
        """One moment of the sources, or of some of their documents, open at least until the end of the context."""
        with self._current().use(tuple(only or ())) as sources:
            read = self._indexed or SourceIndex(self._sources)
            yield replace(sources, skipped=read.skipped, remarks=(*read.notes, *sources.remarks))

    # ---------------------------------------------------------------- searching

    def rank(self, queries: Sequence[str], k: int) -> Rows | Awaitable[Rows]:
        """At most `k` hits a query, best first; awaitable if the retriever is."""
        return self._current().sources.retriever.search(queries, k)

    async def search(self, query: str, k: int, *, only: Sequence[str] | None = None) -> tuple[Hit, ...]:
        from toulmin.steps import resolve

        with self.use(only) as sources:
            return tuple((await resolve(sources.retriever.search([query], k)))[0])

    def read(self, what: Callable[[AnyCorpus], T]) -> T:
        """Calls `what` with the current index. Raises `SourceError` without an index."""
        with self.use() as sources:
            if sources.corpus is None:
                raise SourceError("The sources are no index, so their documents cannot be listed.")
            return what(sources.corpus)

    @property
    def originals(self) -> Originals:
        """The files behind answers, and drafts; closed with the session."""
        if self._originals is None:
            from toulmin.build.originals import Originals

            self._originals = Originals()
        return self._originals

    # ---------------------------------------------------------------- answering

    def equip(self) -> tuple[Kit, Driver]:
        """The parts and their driver, made by the first call and closed with the session."""
        if self._parts is None:
            from toulmin.build.parts import kit
            from toulmin.driver.drive import Driver

            parts = kit(self._moment.sources.retriever, self.settings, self._own)
            self._parts = parts, Driver(parts, **self._limits)
        return self._parts

    async def answer(self, job: Job, watch: Watch | None = None, passages: Sequence[Passage] | None = None) -> Outcome:
        """Runs a job, over `passages` in place of the sources; calls `watch` with every draft.

        A model failure or a spent budget is an answer with status `failed`.
        """
        _, driver = self.equip()
        if passages is not None:
            with open_sources(Sources(passages=tuple(passages)), self.settings) as listed:
                limited = listed.limit(job.settings.get("only") or ())
                return await driver.answer(replace(job, retriever=limited.retriever), watch)
        with self.use(job.settings.get("only")) as sources:
            spelt, remarks = _spelt(sources, job)
            outcome = await driver.answer(_with_retriever(sources, spelt), watch)
            if spelt is not job:
                outcome = replace(outcome, answer=replace(outcome.answer, asked=job.question))
            return await self._complete(outcome, sources, remarks)

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
        """As `toulmin.ask`, with the session's sources and parts."""
        from toulmin.build import jobs

        own = None if isinstance(method, str) else method
        settings = self.settings.override(**settings_of(options, method=method))
        job = jobs.job(clean_question(question), settings, by=own, budget_=budget, history=history, rewrite=rewrite)
        return (await self.answer(job, on_draft)).answer

    async def check(
        self, text: str, *, repair: bool = False, path: str | os.PathLike[str] | None = None, **options: Any
    ) -> Answer:
        """As `toulmin.check`; a search finds the evidence for each claim."""
        from toulmin.build import jobs

        job = jobs.check_job(text, (), self.settings.override(**settings_of(options)), repair=repair, path=path)
        return (await self.answer(job)).answer

    async def answers(self, jobs: Iterable[Job]) -> AsyncIterator[Outcome]:
        """The outcome of each job, in order, many at a time; reads `jobs` as places become free."""
        _, driver = self.equip()
        with self.use() as sources:
            async for outcome in driver.in_order(_with_retriever(sources, job) for job in jobs):
                yield await self._complete(outcome, sources)

    async def _complete(self, outcome: Outcome, sources: OpenSources, remarks: tuple[str, ...] = ()) -> Outcome:
        """Adds notes, and the places of what is cited."""
        from toulmin.methods.relevance import about_language

        passages = sources.corpus.every_passage() if sources.corpus else self._sources.passages or ()
        language = () if outcome.error else about_language(outcome.job.question, outcome.answer, passages)
        cited = [passage.source for passage in outcome.answer.cited]
        changes = _changes(sources.corpus, cited) if sources.corpus else ()
        outcome = with_notes(outcome, (*language, *remarks, *sources.notes, *changes))
        return replace(outcome, answer=await self.placed(outcome.answer, sources.corpus))

    async def placed(self, answer: Answer, corpus: AnyCorpus | None) -> Answer:
        """The answer with the places of what it cites."""
        answer = corpus.with_places(answer) if corpus else answer
        has_prints = any(printer_of(passage.source.path) for passage in answer.cited)
        return await self.originals.with_boxes(answer) if has_prints else answer


def _changes(corpus: AnyCorpus, cited: Sequence[Source]) -> Iterator[str]:
    """A note for each file that is no longer as it was read."""
    for path in dict.fromkeys(filter(None, (source.path for source in cited))):
        if change := corpus.change_of(path):
            yield f"{path} {change} since it was read: what is cited is its former text."


def _spelt(sources: OpenSources, job: Job) -> tuple[Job, tuple[str, ...]]:
    """The job with spelling corrected by the words of the index, and a note about it."""
    if sources.corpus is None or job.asking is None or job.retriever is not None:
        return job, ()
    from toulmin.retrieval.spelling import correct, corrections

    made = corrections(job.question, sources.corpus)
    if not made:
        return job, ()
    right = correct(job.question, made)
    listed = ", ".join(f"“{word}”" for word in made)
    return job.asking(right), (f"Read as “{right}”; the sources do not contain {listed}.",)


def _with_retriever(sources: OpenSources, job: Job) -> Job:
    return job if job.retriever is not None else replace(job, retriever=sources.retriever)


def with_notes(outcome: Outcome, notes: Sequence[str]) -> Outcome:
    return replace(outcome, answer=replace(outcome.answer, notes=(*outcome.answer.notes, *notes)))


# ---------------------------------------------------------------- sessions that are shared


class Pool:
    """The last `most` sessions, shared by calls from one event loop; close it."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._sessions: dict[object, Session] = {}
        self._users: Counter[object] = Counter()

    @asynccontextmanager
    async def lend(self, sources: Sources, settings: Settings) -> AsyncIterator[Session]:
        """A session over the current sources, which others may use too."""
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
            except ToulminError:  # its sources are gone or damaged
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


def lend(call: Call) -> AbstractAsyncContextManager[Session]:
    """The shared session over files or an index folder, if sessions are shared; else a new one.

    A corpus at an address is not kept open between calls: its open moment is a transaction in its database.
    """
    sources, settings, own, _ = call
    pool = SHARED.get()
    is_local = sources.passages is None and sources.retriever is None
    is_local = is_local and (bool(sources.docs) or not is_shared(sources.index or settings.index))
    return pool.lend(sources, settings) if pool and is_local and own == Own() else Session(sources, settings, own)


# ---------------------------------------------------------------- a notebook


def _as_html(answer: Answer) -> str:
    from toulmin.formats.html_page import fragment

    return fragment(answer)


Answer._repr_html_ = _as_html  # type: ignore[attr-defined]  # here, because `data` knows no format
