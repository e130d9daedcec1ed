"""`toulmin serve` in a process of its own, as a person starts it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

_PATIENCE = 60.0  # seconds until it takes questions


@dataclass(frozen=True, slots=True)
class Served:
    """Where it listens, without a slash at the end, and its process."""

    url: str
    pid: int


@contextmanager
def served(*arguments: str) -> Iterator[Served]:
    """The command with these arguments on a free port, until the block ends. Raises SystemExit if it does not start."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [str(Path(sys.executable).with_name("toulmin")), "serve", "--port", str(port), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        _await_ready(url, process)
        yield Served(url, process.pid)
    finally:
        process.terminate()
        process.wait(30)


def _await_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx2.get(f"{url}/readyz").is_success:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.1)
    raise SystemExit("The server did not start; it says why above.")
