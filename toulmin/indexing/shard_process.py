"""Workers that are local processes."""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

from toulmin.errors import SourceError, ToulminError
from toulmin.indexing.sharding import Call, Shard

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_PATIENCE_SECONDS = 20.0
_GONE = (EOFError, OSError)


class Process:
    """A worker in a process; a script that uses one needs `if __name__ == "__main__":`."""

    def __init__(self, make: Callable[[], Shard]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._encoded = context.Array("q", 2)
        self._process = context.Process(target=_work, args=(make, other, self._encoded), daemon=True)
        self._process.start()
        other.close()

    def send(self, calls: Sequence[Call]) -> None:
        with suppress(*_GONE):  # its last message can still be received
            self._pipe.send(calls)

    def receive(self) -> tuple[int, Any]:
        try:
            reply = self._pipe.recv()
        except _GONE as error:
            self._process.join(_PATIENCE_SECONDS)
            raise SourceError(
                f"A process that wrote a part of the index ended (exit code {self._process.exitcode}). Is memory"
                " short, or does the script that started it lack `if __name__ == '__main__':`? Nothing was changed;"
                " index again."
            ) from error
        if isinstance(reply, BaseException):
            raise reply
        counted: tuple[int, Any] = reply
        return counted

    def is_done(self, seconds: float) -> bool:
        return self._pipe.poll(seconds)

    def encoding_progress(self) -> tuple[int, int]:
        return self._encoded[0], self._encoded[1]

    def close(self) -> None:
        self._pipe.close()
        self._process.join(_PATIENCE_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _work(make: Callable[[], Shard], pipe: Connection, encoded: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the reading process is interrupted too, and closes the pipe
    # A worker makes many small values and no cycles; the garbage collector would scan them over and over.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    with suppress(*_GONE):
        try:
            _serve(make(), pipe, encoded)
        except ToulminError as error:
            pipe.send(error)
        except _GONE:
            raise
        except Exception as error:
            pipe.send(RuntimeError(f"{type(error).__name__}: {error}"))
            raise


def _serve(shard: Shard, pipe: Connection, encoded: Any) -> None:
    def note(done: int, total: int) -> None:
        encoded[:] = (done, total)

    shard.on_encoded = note
    waiting: Queue[Sequence[Call] | None] = Queue()
    Thread(target=_take_in, args=(pipe, waiting), daemon=True).start()
    try:
        while (calls := waiting.get()) is not None:
            pipe.send(shard.do(calls))
    finally:
        shard.leave()


def _take_in(pipe: Connection, waiting: Queue[Sequence[Call] | None]) -> None:
    """Reads calls while the shard waits for the disk, so the sender, which limits the backlog, is not blocked."""
    with suppress(*_GONE):
        while True:
            waiting.put(pipe.recv())
    waiting.put(None)
