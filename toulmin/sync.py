"""The functions of `toulmin`; each takes the arguments of its namesake in `toulmin.aio`."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from toulmin import aio
from toulmin.build import jobs, parts
from toulmin.build.session import SHARED, Pool, Session
from toulmin.build.sources import Sources, call_of, clean_question, index_docs, open_sources
from toulmin.build.specs import Own
from toulmin.config import Settings
from toulmin.data import Answer
from toulmin.driver.workers import spread
from toulmin.errors import UsageError

P = ParamSpec("P")
T = TypeVar("T")


class _Background:
    """An event loop in a separate thread, where calls share sessions."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._pool = Pool()
        self._thread = threading.Thread(target=self._loop.run_forever, name="toulmin", daemon=True)
        self._thread.start()

    @property
    def is_here(self) -> bool:
        """Whether the caller runs in this thread, as a callback does."""
        return threading.current_thread() is self._thread

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The work's result; an interruption cancels the work and waits for its end."""
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
    """Closes the sources and parts that calls share; the next call opens them again."""
    global _background
    with _lock:
        background, _background = _background, None
    if background is not None:
        background.close()


atexit.register(close_sessions)


def _sharing(verb: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The function without `await`; calls of a process share open sources and parts."""

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
    """Runs the work in an event loop in a separate thread."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(lambda: asyncio.run(work)).result()


def _blocking(verb: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The function without `await`; inside a running event loop (a notebook) it uses a separate thread."""

    @wraps(verb)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(verb(*args, **kwargs))
        return _run_apart(verb(*args, **kwargs))

    return call


def _iterating(verb: Callable[P, AsyncIterator[T]]) -> Callable[P, Iterator[T]]:
    """The function as a plain iterator; its event loop runs in a separate thread."""

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
table = _blocking(aio.table)
score = _blocking(aio.score)
compare = _blocking(aio.compare)
export = _blocking(aio.export)
questions = _blocking(aio.questions)
stream = _iterating(aio.stream)
_ask_all = _iterating(aio.ask_all)


def ask_all(questions: Iterable[str], *, workers: int = 1, **options: Any) -> Iterator[Answer]:
    """Answers each question, in order, many at a time; options as in `ask`.

    Several `workers` are processes that share the questions, which speeds up the embedded parts. They need parts by
    name, not objects, and a script needs `if __name__ == "__main__":`.
    """
    return _ask_all(questions, **options) if workers == 1 else _spread_over(questions, workers, **options)


def _spread_over(questions: Iterable[str], workers: int, **options: Any) -> Iterator[Answer]:
    if workers < 1:
        raise UsageError(f"workers should be at least 1, not {workers}.")
    places, chosen, *own = call_of(options)
    if own != [Own(), None] or places.passages is not None or places.retriever is not None:
        raise UsageError("Several workers need sources and parts by name, not objects; name them or use one worker.")
    jobs.job("?", chosen)
    ready, skipped, *_ = index_docs(places, chosen)
    with open_sources(ready, chosen) as sources:  # report here, not in a worker, what cannot be opened
        parts.kit(sources.retriever, chosen)
        notes = replace(sources, skipped=skipped).notes
    answers = spread(map(clean_question, questions), partial(Answerer, ready, chosen), workers)
    return (replace(answer, notes=(*answer.notes, *notes)) for answer in answers)


class Answerer:
    """Answers chunks of questions in a worker process, whose sources stay open."""

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
