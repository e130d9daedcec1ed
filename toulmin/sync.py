"""The verbs of `toulmin`, run to their end; each takes what its namesake in `toulmin.aio` takes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from toulmin import aio, config
from toulmin.build import assembly, opening
from toulmin.config import Settings
from toulmin.data import Answer
from toulmin.driver.workers import spread
from toulmin.errors import UsageError

P = ParamSpec("P")
T = TypeVar("T")


def _blocking(verb: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The verb without `await`; inside a running event loop (a notebook) it works in a thread of its own."""

    @wraps(verb)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if not _in_event_loop():
            return asyncio.run(verb(*args, **kwargs))
        with ThreadPoolExecutor(max_workers=1) as thread:
            return thread.submit(lambda: asyncio.run(verb(*args, **kwargs))).result()

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


ask = _blocking(aio.ask)
check = _blocking(aio.check)
search = _blocking(aio.search)
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
    docs: opening.Docs | None = None,
    index: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    **options: Any,
) -> Iterator[Answer]:
    if workers < 1:
        raise UsageError(f"workers counts processes from 1, not {workers}.")
    chosen = config.settled(settings, config.settings_of(options))
    assembly.job("?", chosen)
    ready, skipped = opening.indexed(opening.named(docs, index, None, None), chosen)
    with opening.opened(ready, chosen) as found:  # what cannot be opened is told here, not by a worker
        assembly.kit(found.retriever, chosen)
        notes = opening.Opened(found.retriever, skipped, found.remarks).notes
    answers = spread(map(opening.checked_question, questions), partial(assembly.Answerer, ready, chosen), workers)
    return (replace(answer, notes=(*answer.notes, *notes)) for answer in answers)
