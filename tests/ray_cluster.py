"""A Ray cluster of nodes with one CPU each on loopback, as `ray start` makes them, for tests and benchmarks.

The first one says that it has a GPU, as a cluster does that has some: Ray counts them and looks for none.
"""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping

# Before Ray is imported, which reads it then: such a cluster lets nobody in who does not know the token.
os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": os.environ.get("RAY_AUTH_TOKEN", secrets.token_hex(32))}


class Cluster:
    """Nodes that were added; `on` names the cluster as `--on` does, `client` through its client port."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # short: a socket's name has 107 characters at most
        self._environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": self.folder}
        self._environment |= environment or {}
        self._nodes: list[subprocess.Popen[bytes]] = []
        self.port, self._client_port = _free_ports(2)
        self.on = f"ray:127.0.0.1:{self.port}"
        self.client = f"ray://127.0.0.1:{self._client_port}"

    def add(self) -> None:
        """Starts a node and waits until it is there."""
        head = ["--head", f"--port={self.port}", f"--ray-client-server-port={self._client_port}"]
        role = (
            [f"--address=127.0.0.1:{self.port}"]
            if self._nodes
            else [*head, "--include-dashboard=false", "--num-gpus=1"]
        )
        start = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1", *role]
        start += ["--node-ip-address=127.0.0.1", "--disable-usage-stats"]
        with open(f"{self.folder}/node{len(self._nodes)}.log", "wb") as log:
            node = subprocess.Popen(start, env=self._environment, stdout=log, stderr=log, start_new_session=True)
        self._nodes.append(node)
        until(self._is_there, 120)

    def _is_there(self) -> bool:
        """Whether every node is; this process stays connected, for the next question is quicker then."""
        import ray

        if not ray.is_initialized():
            try:
                ray.init(f"127.0.0.1:{self.port}", log_to_driver=False, logging_level=logging.ERROR)
            except (ConnectionError, RuntimeError):
                return False
        return sum(node["Alive"] for node in ray.nodes()) >= len(self._nodes)  # type: ignore[no-untyped-call]

    def end(self) -> None:
        """Ends every node, at once: asked nicely it drains for half a minute. What it started ends with it."""
        import ray

        ray.shutdown()
        for node in reversed(self._nodes):
            os.killpg(node.pid, signal.SIGKILL)
            node.wait()


def until(holds: Callable[[], bool], seconds: float) -> None:
    """Waits until it holds; raises `TimeoutError` after so long."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"{seconds:g} s were not enough")
        time.sleep(0.05)


def _free_ports(count: int) -> list[int]:
    found = [socket.socket() for _ in range(count)]
    for one in found:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in found]
    for one in found:
        one.close()
    return ports
