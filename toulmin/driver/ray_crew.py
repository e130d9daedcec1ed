"""On which cluster something is worked out, by how many workers, and how many fit there. Nothing here knows Ray."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toulmin.errors import UsageError

LOCAL = "ray"  # a cluster of this machine alone, begun for the work and ended after it
FORMS = (
    "ray (a cluster of this machine, for as long as the work takes), ray://HOST:PORT (a cluster somewhere, through its"
    " client port, usually 10001), ray:auto or ray:HOST:PORT (a cluster that this machine belongs to)"
)
# Of a CPU, what each worker takes where there are as many of them as CPUs: Ray Data must find something left.
CROWDED = 0.9


@dataclass(frozen=True, slots=True)
class Where:
    """A cluster as `--on` names it, with how many workers (None: as many as fit) of how many GPUs each.

    Raises `UsageError` for what names none, and for numbers that cannot be.
    """

    on: str
    workers: int | None = None
    gpus: float = 0.0

    def __post_init__(self) -> None:
        _address(self.on)
        if self.workers is not None and self.workers < 1:
            raise UsageError(f"workers counts from 1, not {self.workers}.")
        if self.gpus < 0 or (self.gpus > 1 and self.gpus != int(self.gpus)):
            raise UsageError(f"The GPUs of a worker are a share of one or a whole number, not {self.gpus:g}.")

    @property
    def address(self) -> str:
        """The cluster's address in Ray's own words."""
        return _address(self.on)


def _address(on: str) -> str:
    if on == LOCAL:
        return "local"
    if on.startswith("ray://") and len(on) > len("ray://"):
        return on
    kind, _, address = on.partition(":")
    if kind == LOCAL and address and not address.startswith("/"):
        return address
    raise UsageError(f"There is no cluster called {on!r}; name {FORMS}.")


@dataclass(frozen=True, slots=True)
class Node:
    """What a machine of the cluster has for everybody."""

    cpus: float
    gpus: float = 0.0


@dataclass(frozen=True, slots=True)
class Crew:
    """How many workers there are, and what Ray sets aside for each."""

    workers: int
    cpus: float = 1.0
    gpus: float = 0.0


def crew(nodes: Sequence[Node], where: Where) -> Crew:
    """The workers that are wanted, or as many as fit with a CPU left over (and at least one).

    Raises `UsageError` where more are wanted than the cluster has CPUs, or GPUs, for: Ray would wait for a machine
    that never comes, and say nothing.
    """
    cpus = sum(int(node.cpus) for node in nodes)
    most = sum(_room(node, where.gpus) for node in nodes)
    if most == 0 or (where.workers or 0) > most:
        wanted = f"{where.workers or 1} worker{'s' if (where.workers or 1) > 1 else ''}"
        wanted += f" with {where.gpus:g} GPUs each" if where.gpus else ""
        has = f"{cpus} CPUs and {sum(node.gpus for node in nodes):g} GPUs on {len(nodes)} machines"
        raise UsageError(
            f"The cluster has {has}, room for {most} of these workers, not for {wanted}. Ask for fewer with --workers,"
            " or add machines."
        )
    workers = where.workers or max(1, min(most, cpus - 1))
    return Crew(workers, 1.0 if workers < cpus else CROWDED, where.gpus)


def _room(node: Node, gpus: float) -> int:
    """How many workers a machine has room for: one a CPU, and no more than its GPUs allow."""
    if not gpus:
        return int(node.cpus)
    by_gpu = int(node.gpus / gpus + 1e-9) if gpus >= 1 else int(node.gpus) * int(1 / gpus + 1e-9)
    return min(int(node.cpus), by_gpu)
