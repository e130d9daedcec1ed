"""Connects to a Ray cluster: a temporary one on this machine, or a running one."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from toulmin.driver.ray_crew import Crew, Node, Where, crew
from toulmin.errors import ModelError, missing_libraries

# No usage reports; messages go only to Ray's log files.
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
    raise missing_libraries("A cluster", absent, "scale", "ray[data]") from absent


@contextmanager
def join_cluster(where: Where) -> Iterator[Crew]:
    """Connects to the cluster; one started here is stopped at the end. A process already connected keeps its cluster.

    Raises `ModelError` if the cluster cannot be used, and `UsageError` as `crew` does.
    """
    is_ours = not ray.is_initialized()
    with _replacing(ray_worker, "print_to_stdstream", lambda *_, **__: None):  # its messages about lost workers
        if is_ours:
            _connect(where)
        try:
            yield crew(_nodes(), where)
        finally:
            if is_ours:
                ray.shutdown()


@contextmanager
def _replacing(module: Any, name: str, value: Any) -> Iterator[None]:
    kept = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, kept)


def _connect(where: Where) -> None:
    kept = dict(os.environ)
    # Otherwise Ray listens on every interface, where anyone may run code, even if asked for 127.0.0.1.
    on_loopback = _replacing(ray_constants, "ENABLE_RAY_CLUSTER", False)
    try:
        with on_loopback if where.address == "local" else nullcontext():
            try:
                ray.init(where.address, **_options(where))
            except ConnectionAbortedError:  # on a busy machine the server's process for this client may come too late
                ray.init(where.address, **_options(where))
    except Exception as error:  # RuntimeError, ValueError, ConnectionError, RayError and errors of grpc
        raise ModelError(
            f"The Ray cluster {where.on} cannot be used: {_reason(error)} Start it (ray start), or name another."
        ) from error
    finally:
        for name in [name for name in os.environ if name.startswith("RAY_") and name not in kept]:
            del os.environ[name]


def _reason(error: BaseException) -> str:
    first, *others = str(error).strip().splitlines() or [type(error).__name__]
    return f"{first} {others[-1].strip()}" if first.endswith(":") and others else first


def _options(where: Where) -> Mapping[str, Any]:
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    return {**quiet, "include_dashboard": False} if where.address == "local" else quiet


def _nodes() -> list[Node]:
    resources = [node["Resources"] for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    return [Node(float(counts.get("CPU", 0)), float(counts.get("GPU", 0))) for counts in resources]
