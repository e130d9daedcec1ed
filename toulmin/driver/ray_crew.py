"""The cluster, the number of workers that fit, and their folder. Nothing here imports Ray."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from toulmin import __version__
from toulmin.errors import UsageError

LOCAL = "ray"  # a temporary cluster of this machine alone
FORMS = (
    "ray (a cluster of this machine, for as long as the work takes), ray://HOST:PORT (a cluster somewhere, through its"
    " client port, usually 10001), ray:auto or ray:HOST:PORT (a cluster that this machine belongs to)"
)
# The share of a CPU for each worker if there is one for every CPU: Ray Data needs the rest.
CROWDED = 0.9


@dataclass(frozen=True, slots=True)
class Where:
    """A cluster as `--on` names it; without `workers` as many as fit. Raises `UsageError`."""

    on: str
    workers: int | None = None
    gpus: float = 0.0

    def __post_init__(self) -> None:
        _ = self.address
        if self.workers is not None and self.workers < 1:
            raise UsageError(f"workers should be at least 1, not {self.workers}.")
        if self.gpus < 0 or (self.gpus > 1 and self.gpus != int(self.gpus)):
            raise UsageError(f"A worker's GPUs should be a share of one GPU or a whole number, not {self.gpus:g}.")

    @property
    def address(self) -> str:
        if self.on == LOCAL:
            return "local"
        if self.on.startswith("ray://") and len(self.on) > len("ray://"):
            return self.on
        kind, _, address = self.on.partition(":")
        if kind == LOCAL and address and not address.startswith("/"):
            return address
        raise UsageError(f"There is no cluster called {self.on!r}; name {FORMS}.")


class Node(NamedTuple):
    cpus: float
    gpus: float = 0.0


class Crew(NamedTuple):
    """`cpus` and `gpus` are what Ray reserves for each worker."""

    workers: int
    cpus: float = 1.0
    gpus: float = 0.0


def crew(nodes: Sequence[Node], where: Where) -> Crew:
    """By default as many workers as fit with one CPU left, at least one.

    Raises `UsageError` if they do not fit: Ray would wait forever.
    """
    cpus = sum(int(node.cpus) for node in nodes)
    most = sum(_room(node, where.gpus) for node in nodes)
    if most == 0 or (where.workers or 0) > most:
        wanted = f"{where.workers or 1} worker{'s' if (where.workers or 1) > 1 else ''}"
        wanted += f" with {where.gpus:g} GPUs each" if where.gpus else ""
        has = f"{cpus} CPUs and {sum(node.gpus for node in nodes):g} GPUs on {len(nodes)} machines"
        raise UsageError(
            f"The cluster has {has}, room for {most} of these workers, not for {wanted}. Set fewer with --workers,"
            " or add machines."
        )
    workers = where.workers or max(1, min(most, cpus - 1))
    return Crew(workers, 1.0 if workers < cpus else CROWDED, where.gpus)


def _room(node: Node, gpus: float) -> int:
    if not gpus:
        return int(node.cpus)
    by_gpu = int(node.gpus / gpus + 1e-9) if gpus >= 1 else int(node.gpus) * int(1 / gpus + 1e-9)
    return min(int(node.cpus), by_gpu)


# ---------------------------------------------------------------- the folder and version of a worker


@dataclass(frozen=True, slots=True)
class Home:
    folder: Path = field(default_factory=Path.cwd)
    version: str = __version__

    def enter(self) -> None:
        """Changes the folder; raises `UsageError` if this machine has another version."""
        if self.version != __version__:
            raise UsageError(
                f"A machine of the cluster has toulmin {__version__}, but {self.version} sent the work; install the"
                " same version on all of them."
            )
        with suppress(OSError):  # without the folder, reading a relative path raises a clear error
            os.chdir(self.folder)
