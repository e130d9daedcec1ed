"""Ray actors that each write one shard of an index, whose folder all machines share."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import ray
from ray import cloudpickle
from ray.exceptions import GetTimeoutError, RayActorError, RayError

from toulmin.driver.ray_crew import Crew, Home
from toulmin.driver.ray_pool import cluster_error, pack, pack_for_workers, unpack
from toulmin.driver.workers import settle_collector
from toulmin.errors import ToulminError, UsageError

T = TypeVar("T")
_remote: Any = ray.remote
_PATIENCE_SECONDS = 60.0
_TIMES = 3  # attempts at an update that loses workers


class Lost(ToulminError):
    """A worker ended unexpectedly."""


def retry(update: Callable[[], T]) -> tuple[T, int]:
    """Repeats the update if a worker is lost, then raises `Lost`; gives its result and the number of losses."""
    for lost in range(_TIMES - 1):
        with suppress(Lost):
            return update(), lost
    return update(), _TIMES - 1


def actor_factory(crew: Crew, shards: int) -> Callable[[Callable[[], Any]], Actor]:
    """A function that starts a shard's worker. Raises `UsageError` for too few GPUs."""
    share = min(1.0, crew.workers / shards)
    if crew.gpus and share < 1:
        raise UsageError(
            f"Each of the {shards} shards has a worker of its own, with {crew.gpus:g} GPUs; the cluster has room for"
            f" {crew.workers}. Give each worker a smaller share with --gpus-per-worker, or add machines."
        )
    cpus = max(0.01, int(100 * crew.cpus * share) / 100)  # rounded down: Ray would wait forever for more than there is
    progress = _remote(num_cpus=0)(_Progress).remote()
    return partial(Actor, cpus=cpus, gpus=crew.gpus, progress=progress)


class Actor:
    """A worker, as `index.sharding.Hand` describes it."""

    def __init__(self, make: Callable[[], Any], *, cpus: float, gpus: float, progress: Any) -> None:
        self._told, self._name = progress, str(id(self))
        made = _remote(num_cpus=cpus, num_gpus=gpus)(_Shard)
        self._actor: Any = made.remote(pack_for_workers("index", make), Home(), progress, self._name)
        self._waiting: deque[Any] = deque()

    def send(self, calls: Sequence[tuple[str, tuple[Any, ...]]]) -> None:
        self._waiting.append(self._actor.do.remote(pack(calls)))

    def receive(self) -> tuple[int, Any]:
        """See `Hand`. Raises `Lost` if the worker ended."""
        try:
            result: tuple[int, Any] = unpack(ray.get(self._waiting.popleft()))
        except RayActorError as error:
            raise Lost(
                "The cluster repeatedly lost a worker that wrote a part of the index; nothing was changed. Find out"
                " what ends its processes, and check that each machine has toulmin and the folder of the index."
            ) from error
        except RayError as error:
            raise cluster_error(error) from error
        return result

    def is_done(self, seconds: float) -> bool:
        return bool(ray.wait([self._waiting[0]], timeout=seconds)[0])

    def encoding_progress(self) -> tuple[int, int]:
        counts: tuple[int, int] = ray.get(self._told.of.remote(self._name))
        return counts

    def close(self) -> None:
        with suppress(RayError, GetTimeoutError):
            ray.get(self._actor.leave.remote(), timeout=_PATIENCE_SECONDS)
        with suppress(RayError):
            ray.kill(self._actor)


# ---------------------------------------------------------------- on the cluster


class _Progress:
    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int]] = {}

    def note(self, name: str, done: int, total: int) -> None:
        self._counts[name] = (done, total)

    def of(self, name: str) -> tuple[int, int]:
        return self._counts.get(name, (0, 0))


class _Shard:
    def __init__(self, make: bytes, home: Home, progress: Any, name: str) -> None:
        self._shard: Any = None
        self._refusal: ToulminError | None = None
        try:
            home.enter()
            self._shard = cloudpickle.loads(make)()
        except ToulminError as error:
            self._refusal = error
            return
        self._shard.on_encoded = lambda done, total: progress.note.remote(name, done, total)
        settle_collector()

    def do(self, calls: bytes) -> bytes:
        return pack(self._result_of(calls))

    def _result_of(self, calls: bytes) -> Any:
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
