"""Server-sent events for clients that read slowly or disconnect."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, MutableMapping
from contextlib import aclosing, suppress
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect
from starlette.responses import Response

from toulmin.server.guard import Receive, Send

T = TypeVar("T")
UNREAD = 60.0  # seconds without reading after which a client counts as disconnected
QUIET = 15.0  # seconds of silence after which a comment keeps the stream alive


def event(name: str | None, data: bytes) -> bytes:
    """One event; `data` is one line."""
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + data + b"\n\n"


class Events(Response):
    """Ends the iterator if the client disconnects or reads nothing for `UNREAD` seconds."""

    def __init__(self, events: AsyncIterator[bytes]) -> None:
        super().__init__(media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._events = events

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        with suppress(ClientDisconnect):
            await while_connected(self._send_events(send), receive)

    async def _send_events(self, send: Send) -> None:
        async with aclosing(_with_heartbeats(self._events)) as events:  # type: ignore[type-var]
            async for part in events:
                async with asyncio.timeout(UNREAD):
                    await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _with_heartbeats(events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Adds a comment after every `QUIET` seconds of silence."""
    following = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait({following}, timeout=QUIET)
            if not done:
                yield b": still here\n\n"
                continue
            part = following.result()
            if part is None:
                return
            yield part
            following = asyncio.ensure_future(anext(events, None))
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await events.aclose()  # type: ignore[attr-defined]


async def while_connected(work: Awaitable[T], receive: Receive) -> T:
    """The result. If the client disconnects first, cancels the work and raises `ClientDisconnect`."""
    task = asyncio.ensure_future(work)
    disconnect = asyncio.ensure_future(_wait_for_disconnect(receive))
    try:
        await asyncio.wait({task, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientDisconnect
    except TimeoutError:  # the client read nothing for too long
        raise ClientDisconnect from None
    finally:
        for future in (task, disconnect):
            future.cancel()
        await asyncio.gather(task, disconnect, return_exceptions=True)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
