"""The verbs of `toulmin`, run to their end; each takes what its namesake in `toulmin.aio` takes."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from toulmin import aio, config
from toulmin.build import jobs, parts
from toulmin.build.session import SHARED, Pool, Session
from toulmin.build.sources import Docs, Sources, clean_question, index_docs, open_sources, sources_of
from toulmin.config import Settings
from toulmin.data import Answer
from toulmin.driver.workers import spread
from toulmin.errors import UsageError

P = ParamSpec("P")
T = TypeVar("T")


class _Background:
    """An event loop in a thread of its own, on which calls share their sessions."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._pool = Pool()
        self._thread = threading.Thread(target=self._loop.run_forever, name="toulmin", daemon=True)
        self._thread.start()

    @property
    def is_here(self) -> bool:
        """Whether the caller runs in this thread, as somebody's callback does."""
        return threading.current_thread() is self._thread

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The work's result. Where the caller is interrupted, the work is cancelled and ends first."""
        over = threading.Event()

        async def share() -> T:
            SHARED.set(self._pool)
            try:
                return await work
            finally:
                over.set()

        future = asyncio.run_coroutine_threadsafe(share(), self._loop)
        try:
            return future.result()
        except BaseException:
            if future.cancel():
                over.wait()
            raise

    def close(self) -> None:
        self.run(self._pool.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


_background: _Background | None = None
_lock = threading.Lock()


def close_sessions() -> None:
    """Closes the sources and parts that calls of `ask`, `check` and `search` share; the next call opens them again."""
    global _background
    with _lock:
        background, _background = _background, None
    if background is not None:
        background.close()


atexit.register(close_sessions)


def _sharing(verb: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The verb without `await`; calls of one process share open sources and parts."""

    @wraps(verb)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        global _background
        with _lock:
            if _background is None:
                _background = _Background()
            background = _background
        return _run_apart(verb(*args, **kwargs)) if background.is_here else background.run(verb(*args, **kwargs))

    return call


def _run_apart(work: Coroutine[Any, Any, T]) -> T:
    """The work's result, from an event loop in a thread of its own."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(lambda: asyncio.run(work)).result()


def _blocking(verb: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The verb without `await`; inside a running event loop (a notebook) it works in a thread of its own."""

    @wraps(verb)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if not _in_event_loop():
            return asyncio.run(verb(*args, **kwargs))
        return _run_apart(verb(*args, **kwargs))

    return call


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _iterating(verb: Callable[P, AsyncIterator[T]]) -> Callable[P, Iterator[T]]:
    """The verb as a plain iterator; its event loop runs in a thread of its own, so it works inside another loop."""

    @wraps(verb)
    def call(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        with ThreadPoolExecutor(max_workers=1) as thread:
            runner = asyncio.Runner()
            values = verb(*args, **kwargs)
            try:
                while True:
                    try:
                        yield thread.submit(runner.run, anext(values)).result()  # type: ignore[arg-type]
                    except StopAsyncIteration:
                        return
            finally:
                thread.submit(runner.run, values.aclose()).result()  # type: ignore[attr-defined]
                thread.submit(runner.close).result()

    return call


ask = _sharing(aio.ask)
check = _sharing(aio.check)
check_files = _sharing(aio.check_files)
recheck = _sharing(aio.recheck)
search = _sharing(aio.search)
index = _blocking(aio.index)
run = _blocking(aio.run)
score = _blocking(aio.score)
compare = _blocking(aio.compare)
export = _blocking(aio.export)
questions = _blocking(aio.questions)
stream = _iterating(aio.stream)
_ask_all = _iterating(aio.ask_all)


def ask_all(questions: Iterable[str], *, workers: int = 1, **options: Any) -> Iterator[Answer]:
    """The answer to each question, in order, many at a time over one kit; options as in `ask`.

    With more than one of `workers`, that many processes share the questions (the embedded parts gain from it). Parts
    are then named, not handed over as objects, and a script needs the usual `if __name__ == "__main__":` guard.
    """
    return _ask_all(questions, **options) if workers == 1 else _spread_over(questions, workers, **options)


def _spread_over(
    questions: Iterable[str],
    workers: int,
    *,
    docs: Docs | None = None,
    index: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    **options: Any,
) -> Iterator[Answer]:
    if workers < 1:
        raise UsageError(f"workers counts processes from 1, not {workers}.")
    chosen = config.resolve_settings(settings, config.settings_of(options))
    jobs.job("?", chosen)
    ready, skipped, _ = index_docs(sources_of(docs, index), chosen)
    with open_sources(ready, chosen) as sources:  # what cannot be opened is reported here, not by a worker
        parts.kit(sources.retriever, chosen)
        notes = replace(sources, skipped=skipped).notes
    answers = spread(map(clean_question, questions), partial(Answerer, ready, chosen), workers)
    return (replace(answer, notes=(*answer.notes, *notes)) for answer in answers)


class Answerer:
    """Answers chunks of questions side by side in a worker process; what it opens stays open as long as that lives."""

    def __init__(self, sources: Sources, settings: Settings) -> None:
        self._settings = settings
        self._runner = asyncio.Runner()
        self._session = Session(sources, settings)
        self._runner.run(self._session.__aenter__())

    def __call__(self, questions: Sequence[str]) -> list[Answer]:
        return self._runner.run(self._answers(questions))

    async def _answers(self, questions: Sequence[str]) -> list[Answer]:
        every = (jobs.job(question, self._settings) for question in questions)
        return [outcome.answer async for outcome in self._session.answers(every)]
