"""A Ray cluster to work on: one of this machine for as long as it is needed, or one that runs already."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from toulmin.driver.ray_crew import Crew, Node, Where, crew
from toulmin.errors import ModelError

# Nothing tells anybody that this ran; and what Ray says while it works is for its log files.
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_DEDUP_LOGS": "0",
}
os.environ.update({name: value for name, value in _QUIET.items() if name not in os.environ})

try:
    import ray
    import ray.data
    from ray._private import ray_constants
    from ray._private import worker as ray_worker
except ImportError as absent:
    raise ModelError(
        "Working on a cluster needs Ray, but ray[data] is not installed; run: pip install 'toulmin[scale]'"
    ) from absent


@contextmanager
def connected(where: Where) -> Iterator[Crew]:
    """The workers to have on that cluster, which is connected until the end, and ended then if it was begun here.

    A process that is connected to Ray already stays so: its own cluster is used, whatever `where.on` says. Raises
    `ModelError` where the cluster cannot be reached or begun, and `UsageError` as `where.crew` does.
    """
    is_ours = not ray.is_initialized()
    with _silent():
        if is_ours:
            _connect(where)
        try:
            yield crew(_nodes(), where)
        finally:
            if is_ours:
                ray.shutdown()


@contextmanager
def _silent() -> Iterator[None]:
    """Keeps Ray's remarks on lost workers out of standard output, which is the command's; no option of Ray's does.

    What was lost is worked out again, and Ray's log files tell of it.
    """
    kept = ray_worker.print_to_stdstream
    ray_worker.print_to_stdstream = lambda *_, **__: None
    try:
        yield
    finally:
        ray_worker.print_to_stdstream = kept


def _connect(where: Where) -> None:
    kept = dict(os.environ)
    try:
        with _on_loopback() if where.address == "local" else nullcontext():
            ray.init(where.address, **_options(where))
    except Exception as error:  # RuntimeError, ValueError, ConnectionError, RayError and grpc's own
        raise ModelError(
            f"The Ray cluster {where.on} cannot be used: {_first_line(error)} Start it (ray start), or name another."
        ) from error
    finally:
        _restore(kept)


def _options(where: Where) -> Mapping[str, Any]:
    """How Ray is asked: quietly, and a cluster of this machine for this machine alone."""
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    if where.address != "local":
        return quiet
    return {**quiet, "include_dashboard": False}


@contextmanager
def _on_loopback() -> Iterator[None]:
    """Begins a cluster that only this machine can reach, as Ray does by itself where it has no clusters of several.

    Ray listens on every interface otherwise, and whoever reaches it may run anything; an address of 127.0.0.1 that is
    asked for, it replaces. What is set here is what RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 sets.
    """
    kept = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = kept


def _restore(kept: Mapping[str, str]) -> None:
    """Takes back what Ray writes into this process's environment, which is its caller's."""
    for name in [name for name in os.environ if name.startswith("RAY_") and name not in kept]:
        del os.environ[name]


def _nodes() -> list[Node]:
    """The machines that are there now."""
    found = [node["Resources"] for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    return [Node(float(one.get("CPU", 0)), float(one.get("GPU", 0))) for one in found]


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).split("\n")[0]
