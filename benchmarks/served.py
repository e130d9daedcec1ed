"""`toulmin serve` in a process of its own, as a person starts it."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx2

from toulmin.indexing.update import update

_PATIENCE = 300.0  # seconds until it takes questions, and until it has ended


@dataclass(frozen=True, slots=True)
class Address:
    """Where it listens, without a slash at the end, and its process."""

    url: str
    pid: int


class Server:
    """The command with these arguments, which can be ended and started again; its port stays the same."""

    def __init__(self, *arguments: str, log: IO[bytes] | None = None, environment: Mapping[str, str] = {}) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self._command = [str(Path(sys.executable).with_name("toulmin")), "serve", "--port", str(port), *arguments]
        self._log, self._environment = log, {**os.environ, **environment}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> float:
        """The seconds until it takes questions. Raises SystemExit if it does not start."""
        began = time.monotonic()
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=self._log, env=self._environment
        )
        while time.monotonic() - began < _PATIENCE and self._process.poll() is None:
            try:
                if httpx2.get(f"{self.url}/readyz", timeout=_PATIENCE).is_success:
                    return time.monotonic() - began
            except httpx2.TransportError:
                pass
            time.sleep(0.1)
        self._process.kill()
        raise SystemExit("The server did not start; its log says why.")

    def end(self, sign: signal.Signals = signal.SIGTERM) -> tuple[int, float]:
        """Its exit code, and the seconds that it took to end; one that does not end is killed (-9)."""
        assert self._process is not None
        began = time.monotonic()
        self._process.send_signal(sign)
        try:
            code = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        return code, time.monotonic() - began


@contextmanager
def server_with_index(
    folder: Path, docs: Path, token: str, *arguments: str, form: str = "--index"
) -> Iterator[tuple[Server, int]]:
    """A server, not yet started, with all that it keeps in the folder, and the number of its documents.

    It serves an index of them or (`--docs`) follows them, and logs into `folder/server.log`. This process may open as
    many files as the system allows.
    """
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    documents = update(folder / "index", [docs]).documents
    homes = {f"XDG_{kind.upper()}_HOME": str(folder / kind) for kind in ("state", "cache")}
    with (folder / "server.log").open("ab") as log:
        environment = {**homes, "TOULMIN_TOKEN": token}
        place = folder / "index" if form == "--index" else docs
        yield Server(form, str(place), *arguments, log=log, environment=environment), documents


@contextmanager
def serving(*arguments: str) -> Iterator[Address]:
    """The command with these arguments on a free port, until the block ends. Raises SystemExit if it does not start."""
    server = Server(*arguments)
    server.start()
    try:
        yield Address(server.url, server.pid)
    finally:
        server.end()
