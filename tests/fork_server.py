"""Commands in forks of one process that has imported what they need: a start takes 20 ms of a core, not a second.

`toulmin` and `python` return command lines for `subprocess`. The program is `fork_client.py`: it sends its folder,
environment and streams to the server, which forks a child, and ends with the child's exit code or signal. A test of the
start itself (imports, `-m`, entry points, another user) starts a fresh interpreter instead.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent
KILL = signal.SIGUSR1 if hasattr(os, "pidfd_open") else signal.SIGKILL  # the client cannot pass SIGKILL on
MAIN = "from toulmin.cli import main; main()"
# What commands import, as far as it is installed. A thread that an import starts is lost in a fork; these start none.
WARM = """
    numpy tantivy toulmin.cli.log toulmin.cli.serve_command toulmin.sync toulmin.server.serve toulmin.indexing.update
    toulmin.documents.loaders toulmin.documents.html toulmin.documents.records toulmin.prose.files toulmin.prose.html
    toulmin.prose.markdown toulmin.methods.best toulmin.extractive.answering toulmin.extractive.writer
    toulmin.extractive.trained_reader toulmin.judges.embedded toulmin.runtime.onnx_encoder toulmin.retrieval.spelling
    toulmin.datasets.loading toulmin.evaluation.running toulmin.evaluation.scores toulmin.metrics.judging
"""


def toulmin(*words: str) -> list[str]:
    return python(MAIN, *words)


def python(code: str, *words: str, warm: str = WARM) -> list[str]:
    """As `python -c`; a fresh interpreter where the system has no pidfd (macOS, Windows)."""
    if not hasattr(os, "pidfd_open"):
        return [sys.executable, "-c", code, *words]
    client = Path(__file__).with_name("fork_client.py")
    return [sys.executable, "-I", "-S", str(client), _start(warm), code, *words]


@cache
def _start(warm: str) -> str:
    """The address of a server that ends with this process."""
    folder = tempfile.TemporaryDirectory(prefix="forks-")
    address = os.path.join(folder.name, "socket")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TOULMIN_")}
    environ |= {"PYTHONPATH": str(ROOT), "ORT_DISABLE_TELEMETRY": "1"}  # onnxruntime reports its use from a thread
    command = [sys.executable, __file__, address, *warm.split()]
    server = subprocess.Popen(command, cwd=ROOT, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin and server.stdout  # noqa: PT018
    assert server.stdout.readline() == b"ready\n"
    for end in (folder.cleanup, server.wait, server.stdout.close, server.stdin.close):  # the last is called first
        atexit.register(end)
    return address


def _serve(address: str) -> str:
    """In each child, the code to run."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("ready", flush=True)
    while True:
        is_over = sys.stdin in select.select([listener, sys.stdin], [], [])[0]
        with contextlib.suppress(ChildProcessError):  # their processor time counts as that of the tests
            while os.waitpid(-1, 0 if is_over else os.WNOHANG)[0]:
                pass
        if is_over:
            os._exit(0)
        client, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            return _answer(client)
        client.close()


def _answer(client: socket.socket) -> str:
    """Forks the child and waits for it; kills it if the client is killed."""
    data, streams, _, _ = socket.recv_fds(client, 8, len(("stdin", "stdout", "stderr")))
    request = client.makefile("rb").read(int.from_bytes(data, "big"))
    child = os.fork()
    if child == 0:
        client.close()
        return _become(streams, *marshal.loads(request))
    for stream in streams:
        os.close(stream)
    with contextlib.suppress(OSError):
        client.sendall(child.to_bytes(8, "big"))
    end = os.pidfd_open(child)
    if end not in select.select([client, end], [], [])[0]:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(OSError):
        client.sendall(code.to_bytes(8, "big", signed=True))
    os._exit(0)


def _become(streams: list[int], code: str, words: list[str], folder: str, environ: dict[str, str]) -> str:
    """Makes this process what a fresh `python -c` of the client would be."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", 1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["-c", *words]
    sys.path[:2] = ["", *filter(None, environ.get("PYTHONPATH", "").split(os.pathsep)), str(ROOT)]
    importlib.invalidate_caches()
    return code


if __name__ == "__main__":
    for name in sys.argv[2:]:
        with contextlib.suppress(Exception):  # missing libraries raise errors of their own
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    code = compile(_serve(sys.argv[1]), "<string>", "exec")
    sys.modules["__main__"] = module = ModuleType("__main__")
    exec(code, module.__dict__)
