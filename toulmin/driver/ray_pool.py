"""Batches worked out by the workers of a cluster, through Ray Data.

Rules of this file
* The stream of Ray Data runs on the cluster, in an actor of its own (`_Conductor`), not in this process: so a client
  that is no part of the cluster (`ray://`) does the same as one that is, and what Ray says is said there.
* A batch is one row and comes back as one. A worker that is lost is begun anew by Ray and gets its batches again; of a
  batch that came back twice the first is taken, and what has not come back when a conductor is lost goes to another.
* Batches are rows at hand, not files to be read, and everything but the workers asks for no CPU: there is no reader
  that a pool of workers could starve.
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
from toulmin.errors import ToulminError, UsageError

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[Sequence[Any]], Sequence[Any]]
CALLS = 2  # batches that a worker has in hand at once, so that none waits for the slowest question of another
_remote: Any = ray.remote
_CONDUCTORS = 3  # lost in a row, without one batch in between, before the work is given up
_ASKING = 64  # calls that a conductor answers at once: one hands out rows, the others are workers' short questions
_BLOCKS = 10_000  # more than so many, and Ray Data spends its time on counting them


def sent(part: str, value: Any) -> bytes:
    """The value as it goes to the workers; raises `UsageError` where it cannot, naming the part."""
    try:
        return packed(value)
    except Exception as error:  # whatever somebody's own object raises
        raise UsageError(
            f"The {part} cannot be sent to the workers of a cluster: {_first_line(error)} Name one of ours, pass one"
            " that can be pickled, or run without --on."
        ) from error


class Pool:
    """Workers that each make their work once, by `make`, and then give the results of one batch after another.

    `make` is as `sent` gave it. What it makes is called by several threads at once.
    """

    def __init__(self, make: bytes, crew: Crew) -> None:
        self._make, self._crew = make, crew

    async def first(self, of: Callable[[Any], R]) -> R:
        """What `of` says of the work of one worker, who is there for that alone."""
        asked = _remote(num_cpus=self._crew.cpus, num_gpus=self._crew.gpus)(_said)
        try:
            return read(await _got(asked.remote(self._make, sent("question", of))))  # type: ignore[no-any-return]
        except RayError as error:
            raise failed(error) from error

    async def results(
        self, batches: Sequence[Sequence[T]], is_over: Callable[[], bool] = lambda: False
    ) -> AsyncGenerator[tuple[int, Sequence[Any]], None]:
        """The results of each batch with its place, as they are ready; once `is_over`, no other batch is begun.

        What was begun is still worked out. Raises what the work raises, and `ToulminError` where nobody is left who
        could do it.
        """
        left = {place: packed((place, list(batch))) for place, batch in enumerate(batches)}
        lost = 0
        while left:
            conducted = _Conducted(self._make, list(left.values()), self._crew)
            try:
                async for place, found in conducted.results(is_over):
                    if left.pop(place, None) is not None and found is not None:
                        lost = 0
                        yield place, found
            except RayActorError as error:
                lost += 1
                if lost >= _CONDUCTORS:
                    raise ToulminError(
                        f"The cluster lost what conducts the work {lost} times in a row: {_first_line(error)} Look for"
                        " what ends its processes, and whether each machine has toulmin; what is done is kept."
                    ) from error
            except RayError as error:
                raise failed(error) from error
            finally:
                conducted.end()
            if is_over():
                return


class _Conducted:
    """One stream over batches, as this process sees it."""

    def __init__(self, make: bytes, batches: list[bytes], crew: Crew) -> None:
        conductor = _remote(num_cpus=0, max_concurrency=_ASKING)(_Conductor)
        self._conductor: Any = conductor.remote(make, batches, crew)
        self._is_stopped = False

    async def results(self, is_over: Callable[[], bool]) -> AsyncIterator[tuple[int, Sequence[Any] | None]]:
        """Each batch's place and results, None for one that was not begun."""
        while (row := await _got(self._conductor.following.remote())) is not None:
            yield read(row)
            if not self._is_stopped and is_over():
                self._is_stopped = True
                self._conductor.stop.remote()

    def end(self) -> None:
        """Ends the stream, and its workers with it."""
        with suppress(RayError):
            ray.kill(self._conductor)


def packed(value: Any) -> bytes:
    """The value as bytes, for another process of ours."""
    return bytes(cloudpickle.dumps(value))  # type: ignore[no-untyped-call]


async def _got(ref: Any) -> Any:
    return await asyncio.wrap_future(ref.future())


def read(row: bytes) -> Any:
    """What a worker sent: results, or the error that it ended with."""
    found = cloudpickle.loads(row)
    if isinstance(found, ToulminError):
        raise found
    return found


# ---------------------------------------------------------------- on the cluster


class _Conductor:
    """Runs the stream, hands out one row after another, and tells the workers when no other is to be begun."""

    def __init__(self, make: bytes, batches: list[bytes], crew: Crew) -> None:
        self._is_stopped = False
        here = ray.get_runtime_context().current_actor
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        context.target_max_block_size = 1  # of several rows in a block each leaves when it is ready
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
        """The next row that is ready, None after the last."""
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
    """One worker: its work, made once, or why it could not be made, and a row of results for a row of a batch."""

    def __init__(self, make: bytes, conductor: Any) -> None:
        self._conductor = conductor
        self._work: Work | None = None
        try:
            self._work = _made(make)
        except ToulminError as error:
            self._refusal = error

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        found = [self._row(*cloudpickle.loads(row.as_py())) for row in table.column("row")]
        return pyarrow.table({"row": pyarrow.array(found, pyarrow.binary())})

    def _row(self, place: int, batch: Sequence[Any]) -> bytes:
        if self._work is None:
            return packed(self._refusal)
        if self._is_over():
            return packed((place, None))
        try:
            return packed((place, self._work(batch)))
        except ToulminError as error:
            return packed(error)

    def _is_over(self) -> bool:
        try:
            return bool(ray.get(self._conductor.is_stopped.remote()))
        except RayActorError:  # nobody is left to hand results to
            return True


def _made(make: bytes) -> Work:
    """The work, in this process; raises `UsageError` where what was sent cannot be read here."""
    try:
        made = cloudpickle.loads(make)
    except Exception as error:  # a module that is not there, another version of one
        raise UsageError(
            f"A worker of the cluster could not read what was sent to it: {_first_line(error)} Every machine of the"
            " cluster needs the same version of toulmin, and your own modules where its workers can import them."
        ) from error
    work: Work = made()
    settle_collector()
    return work


def _said(make: bytes, question: bytes) -> bytes:
    try:
        return packed(cloudpickle.loads(question)(_made(make)))
    except ToulminError as error:
        return packed(error)


def failed(error: RayError) -> ToulminError:
    """What Ray raised, as an error of ours."""
    cause = getattr(error, "cause", None) or error
    return ToulminError(f"A worker of the cluster failed: {type(cause).__name__}: {_first_line(cause)}")


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).split("\n")[0]
