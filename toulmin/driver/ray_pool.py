"""Batches computed by the workers of a cluster, through Ray Data.

* The stream runs in an actor (`_Conductor`), so that a client outside the cluster (`ray://`) works like one inside.
* Ray restarts a lost worker and repeats its batches; the first result counts. A new conductor replaces a lost one.
* Batches are rows in memory, and only workers reserve CPUs, so the pool cannot block a reader.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import pyarrow
import ray
import ray.data
from ray import cloudpickle
from ray.exceptions import RayActorError, RayError

from toulmin.driver.ray_crew import Crew
from toulmin.driver.workers import settle_collector
from toulmin.errors import ToulminError, UsageError, first_line

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[Sequence[Any]], Sequence[Any]]
CALLS = 2  # batches per worker at once, so that no batch waits for the slowest question of another
_remote: Any = ray.remote
_CONDUCTORS = 3  # lost in a row, without a finished batch in between, before we give up
_ASKING = 64  # concurrent calls of a conductor: one hands out rows, the others are `is_stopped` of workers
_BLOCKS = 10_000  # with more, Ray Data spends its time on counting them


def pack_for_workers(part: str, value: Any) -> bytes:
    """Raises `UsageError`, naming the part, if the value cannot be pickled."""
    try:
        return pack(value)
    except Exception as error:  # pickling calls the object's own code
        raise UsageError(
            f"The {part} cannot be sent to the workers of a cluster: {first_line(error)} Use a built-in one, one"
            " that can be pickled, or run without --on."
        ) from error


class Pool:
    """Each worker unpacks and calls `make` once, then computes batches in several threads."""

    def __init__(self, make: bytes, crew: Crew) -> None:
        self._make, self._crew = make, crew

    async def first(self, of: Callable[[Any], R]) -> R:
        task = _remote(num_cpus=self._crew.cpus, num_gpus=self._crew.gpus)(_answer_question)
        try:
            return unpack(await _fetch(task.remote(self._make, pack_for_workers("question", of))))  # type: ignore[no-any-return]
        except RayError as error:
            raise cluster_error(error) from error

    async def results(
        self, batches: Sequence[Sequence[T]], is_over: Callable[[], bool] = lambda: False
    ) -> AsyncGenerator[tuple[int, Sequence[Any]], None]:
        """Yields each batch's index and results as it ends; once `is_over`, no further batch starts.

        Raises the work's errors, and `ToulminError` when no worker is left.
        """
        left = {place: pack((place, list(batch))) for place, batch in enumerate(batches)}
        lost = 0
        while left:
            stream = _Stream(self._make, list(left.values()), self._crew)
            try:
                async for place, batch_results in stream.results(is_over):
                    if left.pop(place, None) is not None and batch_results is not None:
                        lost = 0
                        yield place, batch_results
            except RayActorError as error:
                lost += 1
                if lost >= _CONDUCTORS:
                    raise ToulminError(
                        f"The cluster lost the conductor of the work {lost} times in a row: {first_line(error)} Check"
                        " what ends its processes, and that each machine has toulmin; finished work is kept."
                    ) from error
            except RayError as error:
                raise cluster_error(error) from error
            finally:
                stream.end()
            if is_over():
                return


class _Stream:
    def __init__(self, make: bytes, batches: list[bytes], crew: Crew) -> None:
        conductor = _remote(num_cpus=0, max_concurrency=_ASKING)(_Conductor)
        self._conductor: Any = conductor.remote(make, batches, crew)
        self._is_stopped = False

    async def results(self, is_over: Callable[[], bool]) -> AsyncIterator[tuple[int, Sequence[Any] | None]]:
        while (row := await _fetch(self._conductor.following.remote())) is not None:
            yield unpack(row)
            if not self._is_stopped and is_over():
                self._is_stopped = True
                self._conductor.stop.remote()

    def end(self) -> None:
        with suppress(RayError):
            ray.kill(self._conductor)


def pack(value: Any) -> bytes:
    return bytes(cloudpickle.dumps(value))  # type: ignore[no-untyped-call]


async def _fetch(ref: Any) -> Any:
    return await asyncio.wrap_future(ref.future())


def unpack(row: bytes) -> Any:
    """Raises the worker's error."""
    value = cloudpickle.loads(row)
    if isinstance(value, ToulminError):
        raise value
    return value


# ---------------------------------------------------------------- on the cluster


class _Conductor:
    def __init__(self, make: bytes, batches: list[bytes], crew: Crew) -> None:
        self._is_stopped = False
        here = ray.get_runtime_context().current_actor
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        context.target_max_block_size = 1  # so that each row leaves when it is ready
        rows = ray.data.from_items([{"row": row} for row in batches], override_num_blocks=min(len(batches), _BLOCKS))
        worked = rows.map_batches(
            _Worker,
            fn_constructor_args=(make, here),
            batch_size=1,
            batch_format="pyarrow",
            num_cpus=crew.cpus,
            num_gpus=crew.gpus or None,
            compute=ray.data.ActorPoolStrategy(
                size=min(crew.workers, len(batches)),
                max_concurrent_calls_per_actor=CALLS,
                max_tasks_in_flight_per_actor=CALLS + 1,
                enable_true_multi_threading=True,
            ),
        )
        self._tables = iter(worked.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0))
        self._ready: list[bytes] = []

    def following(self) -> bytes | None:
        while not self._ready:
            table: Any = next(self._tables, None)
            if table is None:
                return None
            self._ready = [row.as_py() for row in table.column("row")]
        return self._ready.pop(0)

    def stop(self) -> None:
        self._is_stopped = True

    def is_stopped(self) -> bool:
        return self._is_stopped


class _Worker:
    def __init__(self, make: bytes, conductor: Any) -> None:
        self._conductor = conductor
        self._work: Work | None = None
        try:
            self._work = _make_work(make)
        except ToulminError as error:
            self._refusal = error

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        rows = [self._row(*cloudpickle.loads(row.as_py())) for row in table.column("row")]
        return pyarrow.table({"row": pyarrow.array(rows, pyarrow.binary())})

    def _row(self, place: int, batch: Sequence[Any]) -> bytes:
        if self._work is None:
            return pack(self._refusal)
        if self._is_over():
            return pack((place, None))
        try:
            return pack((place, self._work(batch)))
        except ToulminError as error:
            return pack(error)

    def _is_over(self) -> bool:
        try:
            return bool(ray.get(self._conductor.is_stopped.remote()))
        except RayActorError:  # nobody is left to receive results
            return True


def _make_work(make: bytes) -> Work:
    try:
        made = cloudpickle.loads(make)
    except Exception as error:  # a missing module, or another version of one
        raise UsageError(
            f"A worker of the cluster could not unpack its work: {first_line(error)} Every machine of the"
            " cluster needs the same version of toulmin, and your own modules where its workers can import them."
        ) from error
    work: Work = made()
    settle_collector()
    return work


def _answer_question(make: bytes, question: bytes) -> bytes:
    try:
        return pack(cloudpickle.loads(question)(_make_work(make)))
    except ToulminError as error:
        return pack(error)


def cluster_error(error: RayError) -> ToulminError:
    cause = getattr(error, "cause", None) or error
    return ToulminError(f"A worker of the cluster failed: {type(cause).__name__}: {first_line(cause)}")
