"""A server on loopback, in a thread of its own, as long as a test wants it."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from toulmin.build.sources import Sources
from toulmin.build.specs import Own
from toulmin.config import Settings
from toulmin.indexing.store import is_index
from toulmin.prompts.replies import Reply
from toulmin.server.serve import Door, serve
from toulmin.steps import Generate
from toulmin.stores.address import is_shared

PATIENCE = 20.0


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port


@dataclass(frozen=True, slots=True)
class Served:
    """A running server: where it is, and a client of it."""

    url: str
    client: httpx2.Client

    def running(self) -> int:
        found: int = self.client.get("/readyz").json()["running"]
        return found


@contextmanager
def served(place: Path | str, settings: Settings = Settings(), own: Own = Own(), **door: Any) -> Iterator[Served]:
    """A server over these documents, or over this index; its door stands on a free port of loopback."""
    chosen = Door(port=free_port(), **door)
    heard: list[str] = []
    ready, failed = threading.Event(), []

    def tell(address: str) -> None:
        heard.append(address)
        ready.set()

    loop = asyncio.new_event_loop()
    is_kept = is_shared(str(place)) or is_index(Path(place))
    sources = Sources(index=str(place)) if is_kept else Sources(docs=(str(place),))
    task = loop.create_task(serve(sources, settings, chosen, tell, own))

    def run() -> None:
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            failed.append(error)
        finally:
            loop.run_until_complete(asyncio.sleep(0.05))  # connections that were closed last still have to go
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(PATIENCE), "the server did not start"
        if failed:
            raise failed[0]
        headers = {"Authorization": f"Bearer {chosen.token}"} if chosen.token else {}
        with httpx2.Client(base_url=heard[0], headers=headers, timeout=PATIENCE) as client:
            yield Served(heard[0], client)
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the server did not end"
        loop.close()


def until(holds: Callable[[], bool]) -> bool:
    """Waits for what must come about; whether it did."""
    end = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


class Slow:
    """A language model that replies so often and then never again, and remembers who was cancelled."""

    name, concurrency = "slow", 1_000

    def __init__(self, replies: Sequence[str] = ()) -> None:
        self.begun = self.cancelled = 0
        self._replies = list(replies)

    async def generate(self, requests: Sequence[Generate]) -> Sequence[Reply]:
        self.begun += len(requests)
        if len(self._replies) >= len(requests):
            return [Reply(self._replies.pop(0)) for _ in requests]
        try:
            await asyncio.sleep(PATIENCE * 10)
        except asyncio.CancelledError:
            self.cancelled += len(requests)
            raise
        raise AssertionError("nobody waits so long")
