"""The verbs of `toulmin`, run to their end; each takes what its namesake in `toulmin.aio` takes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from toulmin import aio, build
from toulmin.config import Settings
from toulmin.data import Answer
from toulmin.run.workers import chunks, spread

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


ask = _blocking(aio.ask)
check = _blocking(aio.check)
search = _blocking(aio.search)
index = _blocking(aio.index)


def stream(question: str, **options: Any) -> Iterator[Answer]:
    """Every draft as a whole answer as soon as it is there, the finished answer last; options as in `ask`."""
    with asyncio.Runner() as runner:
        snapshots = aio.stream(question, **options)
        while True:
            try:
                yield runner.run(anext(snapshots))  # type: ignore[arg-type]
            except StopAsyncIteration:
                return


def ask_all(
    questions: Iterable[str],
    *,
    docs: aio.Docs | None = None,
    index: str | os.PathLike[str] | None = None,
    workers: int = 1,
    settings: Settings | None = None,
    **options: Any,
) -> Iterator[Answer]:
    """The answer to each question, in order, many at a time over one index.

    With more than one of `workers`, that many processes share the questions (parts bound by the processor gain from
    it); a script then needs the usual `if __name__ == "__main__":` guard. Questions are read only as answers come.
    """
    chosen = aio.settled(settings, aio.settings_of(options))
    found, _ = build.indexed(aio.sources(docs, index, None, None), chosen)
    make = partial(build.Answerer, found, chosen)
    if workers > 1:
        return spread(questions, make, workers)
    answer = make()
    return (answered for part in chunks(questions, 64) for answered in answer(part))
