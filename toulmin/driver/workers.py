"""Spreads work over processes of one machine: one kit a process, chunks of records in, results out in order.

The embedded parts are bound by the processor, so several processes answer faster than one; a remote model needs none.
"""

from __future__ import annotations

import gc
import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from toulmin.errors import ToulminError

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[Sequence[Any]], Sequence[Any]]

_work: Work | None = None  # of this worker process, set once when it starts


def spread(
    items: Iterable[T], make: Callable[[], Callable[[Sequence[T]], Sequence[R]]], workers: int, chunk: int = 16
) -> Iterator[R]:
    """The result of each item, in order, worked out by `workers` processes in chunks of `chunk` items.

    `make` is called once in each process and gives the function that turns a chunk into its results; both it and the
    items must be picklable. Items are read only as places become free. A script that calls this needs the usual
    `if __name__ == "__main__":` guard.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_start, initargs=(make,)) as pool:
        pending: deque[Future[Sequence[R]]] = deque()
        try:
            for part in chunks(items, chunk):
                pending.append(pool.submit(_worked, part))
                if len(pending) > 2 * workers:
                    yield from pending.popleft().result()
            while pending:
                yield from pending.popleft().result()
        except BrokenProcessPool as error:
            raise ToulminError(
                "A worker process ended unexpectedly; was it short of memory? Use fewer workers."
            ) from error
        finally:
            for future in pending:
                future.cancel()


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of `size`, the last one shorter."""
    part: list[T] = []
    for item in items:
        part.append(item)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def _start(make: Callable[[], Work]) -> None:
    global _work
    _work = make()
    settle_collector()


def settle_collector() -> None:
    """Lets this process's collector look less often, once a worker has what it works with.

    Work is trees of small values without cycles: at Python's own thresholds the collector would walk what is kept for
    later (indexes, read passages) again and again, for a third of the time.
    """
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


def _worked(part: Sequence[Any]) -> Sequence[Any]:
    assert _work is not None
    return _work(part)
