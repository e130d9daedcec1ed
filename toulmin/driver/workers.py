"""Spreads work over the processors of one machine."""

from __future__ import annotations

import gc
import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from toulmin.errors import ToulminError
from toulmin.text.language import chunks

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[Sequence[Any]], Sequence[Any]]

_work: Work | None = None  # set once, when this worker process starts


def spread(
    items: Iterable[T], make: Callable[[], Callable[[Sequence[T]], Sequence[R]]], workers: int, chunk: int = 16
) -> Iterator[R]:
    """The result of each item, in order, computed by `workers` processes; items are read lazily.

    Each process calls `make` once for the function that computes a chunk; `make` and the items must be picklable. The
    calling script needs the `if __name__ == "__main__":` guard.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_start, initargs=(make,)) as pool:
        pending: deque[Future[Sequence[R]]] = deque()
        try:
            for part in chunks(items, chunk):
                pending.append(pool.submit(_do_work, part))
                if len(pending) > 2 * workers:
                    yield from pending.popleft().result()
            while pending:
                yield from pending.popleft().result()
        except BrokenProcessPool as error:
            raise ToulminError(
                "A worker process ended unexpectedly, perhaps for lack of memory. Use fewer workers."
            ) from error
        finally:
            for future in pending:
                future.cancel()


def _start(make: Callable[[], Work]) -> None:
    global _work
    _work = make()
    settle_collector()


def settle_collector() -> None:
    """Makes garbage collection rarer once a worker's parts are loaded; it took a third of the time."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


def _do_work(part: Sequence[Any]) -> Sequence[Any]:
    assert _work is not None
    return _work(part)
