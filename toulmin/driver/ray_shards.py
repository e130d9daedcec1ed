"""Workers of shards that are actors of a Ray cluster: each writes one shard of an index, on whichever machine.

The folder of the index must be the same for all of them. What a worker has not committed is lost with it; then the
update is begun anew, as `again` says.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import ray
from ray import cloudpickle
from ray.exceptions import GetTimeoutError, RayActorError, RayError

from toulmin.driver.home import Home
from toulmin.driver.ray_crew import Crew
from toulmin.driver.ray_pool import failed, packed, read, sent
from toulmin.driver.workers import settle_collector
from toulmin.errors import ToulminError, UsageError

T = TypeVar("T")
_remote: Any = ray.remote
_PATIENCE_SECONDS = 60.0
_TIMES = 3  # that an update is begun, where workers are lost


class Lost(ToulminError):
    """A worker ended, with its machine or alone."""


def again(update: Callable[[], T]) -> tuple[T, int]:
    """What the update gives, begun anew where a worker is lost, and how often it was. Raises `Lost` in the end."""
    for lost in range(_TIMES - 1):
        with suppress(Lost):
            return update(), lost
    return update(), _TIMES - 1


def hiring(crew: Crew, shards: int) -> Callable[[Callable[[], Any]], Actor]:
    """How an update of so many shards gets its workers, one each.

    Raises `UsageError` where more GPUs would be needed than there are.
    """
    share = min(1.0, crew.workers / shards)
    if crew.gpus and share < 1:
        raise UsageError(
            f"Each of the {shards} shards has a worker of its own, with {crew.gpus:g} GPUs; the cluster has room for"
            f" {crew.workers}. Give each worker a smaller share with --gpus-per-worker, or add machines."
        )
    cpus = max(0.01, int(100 * crew.cpus * share) / 100)  # less than there is, never more: Ray would wait for it
    told = _remote(num_cpus=0)(_Told).remote()
    return partial(Actor, cpus=cpus, gpus=crew.gpus, told=told)


class Actor:
    """The worker, as `corpus.sharding.Hand`."""

    def __init__(self, make: Callable[[], Any], *, cpus: float, gpus: float, told: Any) -> None:
        self._told, self._name = told, str(id(self))
        made = _remote(num_cpus=cpus, num_gpus=gpus)(_Shard)
        self._actor: Any = made.remote(sent("index", make), Home(), told, self._name)
        self._waiting: deque[Any] = deque()

    def send(self, calls: Sequence[tuple[str, tuple[Any, ...]]]) -> None:
        """Gives it calls; see `Hand`."""
        self._waiting.append(self._actor.do.remote(packed(calls)))

    def receive(self) -> tuple[int, Any]:
        """What the first lot of calls gave; see `Hand`. Raises `Lost` for a worker that ended."""
        try:
            found: tuple[int, Any] = read(ray.get(self._waiting.popleft()))
        except RayActorError as error:
            raise Lost(
                "The cluster lost a worker that wrote a part of the index, again and again; nothing was changed. Look"
                " for what ends its processes, and whether each machine has toulmin and the folder of the index."
            ) from error
        except RayError as error:
            raise failed(error) from error
        return found

    def is_done(self, seconds: float) -> bool:
        """Whether `receive` need not wait."""
        return bool(ray.wait([self._waiting[0]], timeout=seconds)[0])

    def encoding_progress(self) -> tuple[int, int]:
        """How many passages it has encoded, of how many."""
        counts: tuple[int, int] = ray.get(self._told.of.remote(self._name))
        return counts

    def close(self) -> None:
        """Ends it; what is not committed is undone."""
        with suppress(RayError, GetTimeoutError):
            ray.get(self._actor.leave.remote(), timeout=_PATIENCE_SECONDS)
        with suppress(RayError):
            ray.kill(self._actor)


# ---------------------------------------------------------------- on the cluster


class _Told:
    """How many passages each worker has encoded, of how many; workers themselves are busy with it."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int]] = {}

    def note(self, name: str, done: int, total: int) -> None:
        self._counts[name] = (done, total)

    def of(self, name: str) -> tuple[int, int]:
        return self._counts.get(name, (0, 0))


class _Shard:
    """A shard in the making, or why it cannot be made."""

    def __init__(self, make: bytes, home: Home, told: Any, name: str) -> None:
        self._shard: Any = None
        self._refusal: ToulminError | None = None
        try:
            home.enter()
            self._shard = cloudpickle.loads(make)()
        except ToulminError as error:
            self._refusal = error
            return
        self._shard.on_encoded = lambda done, total: told.note.remote(name, done, total)
        settle_collector()

    def do(self, calls: bytes) -> bytes:
        return packed(self._done(calls))

    def _done(self, calls: bytes) -> Any:
        if self._refusal is not None:
            return self._refusal
        try:
            return self._shard.do(cloudpickle.loads(calls))
        except ToulminError as error:
            self._refusal = error
            return error

    def leave(self) -> None:
        if self._shard is not None:
            self._shard.leave()
