"""Requests to one server: streams, retries, limits."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import httpx2
import stamina

from toulmin import __version__
from toulmin.errors import BudgetEnded
from toulmin.models.failures import Failure, FailureContext
from toulmin.models.received import Broken, MalformedReply, ReplyBuilder, TooLarge
from toulmin.models.server import Server, is_loopback

_EVENTS = "text/event-stream"
_REST = 0.1  # seconds for what follows the last event
_CONNECT = 10.0  # seconds
_LONGEST_PAUSE = 30.0
_MOST_OF_AN_EVENT = 16_000_000  # bytes; some servers send all of a reply as one
_MOST_BYTES = 100_000_000  # of one reply; a stream takes about a hundred times the size of its text
_JITTER = 0.25  # seconds, at most, added to a Retry-After so that waiting requests do not all return at once
_RETRY = "model %(model)s: try %(try)d after a wait of %(wait).1f s; %(reason)s"
_FOREIGN = (httpx2.HTTPError, httpx2.StreamError, MalformedReply, Broken, TooLarge, ValueError, RecursionError)

LOG = logging.getLogger("toulmin.models")


class Client:
    """The connections to one server; belongs to one event loop."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._turn = asyncio.Lock()
        self._places = asyncio.Semaphore(server.concurrency)
        self._made: list[httpx2.AsyncClient] = []
        self._free: list[httpx2.AsyncClient] = []

    async def close(self) -> None:
        for connection in self._made:
            await connection.aclose()

    async def turn(self) -> None:
        """Starts simultaneous requests one after the other."""
        # Otherwise the event loop would prepare all requests before it sends the first, and the server would idle.
        async with self._turn:
            await asyncio.sleep(0)

    @contextmanager
    def _connection(self) -> Iterator[httpx2.AsyncClient]:
        # Each connection has its own pool: a shared one examines every idle connection for each request, which took a
        # quarter of all CPU time with 32 of them.
        if not self._free:
            self._free.append(_make_connection(self._server))
            self._made.append(self._free[-1])
        connection = self._free.pop()
        try:
            yield connection
        finally:
            self._free.append(connection)

    async def models(self) -> tuple[str, ...]:
        """The models that the server lists; raises `Failure`."""
        asked = FailureContext(self._server, "list", "")
        try:
            async with asyncio.timeout(min(self._server.timeout, self._server.idle_timeout)):
                with self._connection() as connection:
                    response = await connection.get("models")
            if not response.is_success:
                raise asked.refusal(response)
            return tuple(str(entry["id"]) for entry in response.json()["data"] or ())
        except TimeoutError:
            raise asked.cut() from None
        except (*_FOREIGN, KeyError, TypeError) as error:
            raise asked.failure_from(error) from None

    async def ask(self, route: str, body: Mapping[str, Any], asked: FailureContext) -> ReplyBuilder:
        """The complete reply, after retries; raises `Failure`."""
        # Waiting for a free place does not count towards the timeout.
        asked.check_key()
        tries: list[ReplyBuilder] = []
        try:
            async with self._places:
                received = await self._in_time(route, body, asked, tries)
        except Failure as failure:
            failure.cut = tries
            raise
        received.cut = tries[:-1]
        return received

    async def _in_time(
        self, route: str, body: Mapping[str, Any], asked: FailureContext, tries: list[ReplyBuilder]
    ) -> ReplyBuilder:
        last, failed_at = None, 0.0
        clock = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(self._server.timeout) as total:
                async for attempt in self._attempts(total):
                    with attempt:
                        if last is not None:
                            fields = {"model": asked.model, "try": attempt.num, "wait": round(clock() - failed_at, 3)}
                            LOG.warning(_RETRY, fields | {"reason": str(last)})
                        asked.tries.begin()
                        try:
                            tries.append(ReplyBuilder(asked.tries.hear))
                            await self._try_once(route, body, asked, tries[-1])
                            return tries[-1]
                        except Failure as failure:
                            last, failed_at = failure, clock()
                            if failure.again and attempt.num <= self._server.retries:
                                asked.tries.check()  # nothing is to be waited for in vain
                            raise
        except BudgetEnded as ended:
            raise BudgetEnded(f"{ended} Before that: {last}" if last else str(ended)) from None
        except TimeoutError:
            before = f" Before that: {last}" if last else ""
            limit = f"{self._server.timeout:g} s"
            raise Failure(asked.describe(f"gave no complete reply within {limit} (timeout).{before}")) from None
        raise AssertionError("stamina ends with a reply or an error")

    def _attempts(self, total: asyncio.Timeout) -> Any:
        def pause(error: Exception) -> bool | float:
            if not isinstance(error, Failure) or not error.again or error.after is None:
                return isinstance(error, Failure) and error.again
            ends = total.when() or 0.0
            wait = error.after + random.uniform(0, _JITTER)
            return wait if asyncio.get_running_loop().time() + wait < ends else False

        first = self._server.pause
        return stamina.retry_context(
            on=pause,
            attempts=self._server.retries + 1,
            timeout=None,
            wait_initial=first,
            wait_max=_LONGEST_PAUSE,
            wait_jitter=first,
        )

    async def _try_once(
        self, route: str, body: Mapping[str, Any], asked: FailureContext, received: ReplyBuilder
    ) -> None:
        try:
            with self._connection() as connection:
                async with connection.stream("POST", route, json=body) as response:
                    if not response.is_success:
                        await response.aread()
                        raise asked.refusal(response)
                    if _EVENTS in response.headers.get("content-type", ""):
                        await _follow(response, received)
                    else:  # the server does not stream
                        received.add_whole(json.loads(await response.aread()))
        except _FOREIGN as error:
            raise asked.failure_from(error) from None
        if not received.is_complete:
            raise asked.cut()


async def _follow(response: httpx2.Response, received: ReplyBuilder) -> None:
    """Reads to the end of the body, so that the connection can be reused."""
    loop, is_done = asyncio.get_running_loop(), False
    try:
        async with asyncio.timeout(None) as rest:
            async for event in httpx2.EventSource(response, _MOST_OF_AN_EVENT):
                if event.data.startswith("[DONE]"):
                    is_done = True
                    rest.reschedule(loop.time() + _REST)
                elif not is_done:
                    received.add(event.json())
    except (TimeoutError, httpx2.HTTPError):
        if not is_done:
            raise


async def _limit_bytes(response: httpx2.Response) -> None:
    response.headers.pop("content-encoding", None)  # nothing is unpacked, which has no bound; see Accept-Encoding
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _StreamWithLimit(response.stream)


class _StreamWithLimit(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > _MOST_BYTES:
                raise TooLarge
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


# Reading the trusted authorities takes longer than everything else about a client.
_ssl_context = cache(httpx2.create_ssl_context)


# Whom OpenAI's own server charges; its users set these variables.
_PAYER = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}


def _make_connection(server: Server) -> httpx2.AsyncClient:
    # No header meant for another server, and no redirects.
    idle = server.idle_timeout
    headers = {"Accept-Encoding": "identity", "User-Agent": f"toulmin/{__version__}"}
    if server.key:
        headers["Authorization"] = f"Bearer {server.key.reveal()}"
    if server.is_openai:
        headers |= {header: os.environ[variable] for header, variable in _PAYER.items() if variable in os.environ}
    return httpx2.AsyncClient(
        base_url=server.base_url,
        headers=headers,
        timeout=httpx2.Timeout(idle, connect=min(idle, _CONNECT), pool=None),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=1),
        follow_redirects=False,
        verify=_ssl_context(),
        trust_env=not is_loopback(server.host_name),  # no proxy sees what stays on this machine
        event_hooks={"response": [_limit_bytes]},
    )
