"""Starts and stops the server."""

from __future__ import annotations

import asyncio
import ctypes
import ipaddress
import logging
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import h11
import uvicorn
from platformdirs import user_state_path
from starlette.routing import BaseRoute
from uvicorn.config import LOGGING_CONFIG
from uvicorn.protocols.http.h11_impl import H11Protocol

from toulmin.build.sources import Sources, index_of
from toulmin.build.specs import Own
from toulmin.config import Settings
from toulmin.data import content_id
from toulmin.errors import SourceError, UsageError, cause_of
from toulmin.models.server import is_loopback
from toulmin.server.counters import Figures
from toulmin.server.desk import Desk
from toulmin.server.engine import Engine
from toulmin.server.guard import LOOPBACK, OF_A_CLIENT, Rules
from toulmin.server.routes import application
from toulmin.server.shelf import Shelf
from toulmin.server.uploads import MOST_BYTES, Uploads
from toulmin.stores.address import is_shared

LEAST_TOKEN = 16  # characters
MOST_CONNECTIONS = 4_000
CROWD = 500  # connections without a request; beyond it each has only a second
_M_ARENA_MAX = -8
_WIND_UP = 1.0  # seconds
HEADER_SECONDS, CROWDED_SECONDS = 10.0, 1.0  # for the headers of a request, from the connection or their first byte


@dataclass(frozen=True, slots=True)
class Door:
    """Where the server listens and whom it admits; `hosts` and `origins` are additional."""

    host: str = "127.0.0.1"
    port: int = 8420
    token: str | None = None
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    grace: int = 5  # seconds to end
    client: int = OF_A_CLIENT  # running requests of one address
    proxies: Sequence[str] = ()  # whose X-Forwarded-For is trusted
    root: str = ""  # the path under which a proxy publishes the server

    def rules(self) -> Rules:
        """Raises `UsageError` for a short token, or without one if other machines can connect."""
        if self.token is not None and len(self.token) < LEAST_TOKEN:
            raise UsageError(
                f"A token needs at least {LEAST_TOKEN} characters, not {len(self.token)}; for example:"
                f" {secrets.token_urlsafe(24)}"
            )
        if not self.is_local and self.token is None:
            raise UsageError(
                f"Other machines can reach {self.host}; set a token with TOULMIN_TOKEN or --token-file, or leave out"
                " --host."
            )
        if self.client < 1:
            raise UsageError(f"--per-client should be at least 1, not {self.client}.")
        try:
            _ = [ipaddress.ip_network(proxy) for proxy in self.proxies]
        except ValueError as error:
            raise UsageError(f"--trust-proxy should be an address or a network such as 10.0.0.0/8: {error}.") from error
        own_names = frozenset({self.host.lower()}) | (LOOPBACK if self.is_local else frozenset())
        anywhere = self.host in ("0.0.0.0", "::") and not self.hosts
        names = None if anywhere else own_names | {name.lower() for name in self.hosts}
        root = "".join(f"/{part}" for part in self.root.split("/") if part)
        is_own = self.is_local and not (self.proxies or self.hosts or self.origins or root)  # nobody else comes in
        upload = MOST_BYTES if self.token or is_own else 0
        return Rules(self.token, names, frozenset(self.origins), upload=upload, client=self.client, root=root)

    @contextmanager
    def listening(self) -> Iterator[list[socket.socket]]:
        """A socket for each address of the host, all of one port. Raises `SourceError`."""
        with ExitStack() as opened:
            sockets: list[socket.socket] = []
            port = self.port
            try:
                for family, *_, place in socket.getaddrinfo(self.host, port, type=socket.SOCK_STREAM):
                    sockets.append(opened.enter_context(socket.create_server((place[0], port), family=family)))
                    port = sockets[0].getsockname()[1]
            except (OSError, OverflowError) as error:
                cause = cause_of(error).partition(" (")[0].rstrip(".")  # without the address, which comes twice
                raise SourceError(
                    f"Cannot listen on port {port} of {self.host}: {cause}. Name another --port; with"
                    " --port 0 a free one is chosen."
                ) from error
            yield sockets

    @property
    def is_local(self) -> bool:
        return is_loopback(self.host)

    def address(self, port: int) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{port}{self.rules().root}/"


async def serve(
    sources: Sources, settings: Settings, door: Door, ready: Callable[[str], None], parts: Own = Own()
) -> None:
    """Serves until interrupted; calls `ready` with the URL once it listens.

    Raises `UsageError` for an unsafe door, `SourceError` for
    unusable sources or address, `ModelError` for models that do not load.
    """
    # glibc gives each thread an arena that keeps its largest file's memory; two arenas are enough.
    with suppress(AttributeError, OSError, TypeError):  # of another system
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)
    rules = door.rules()
    with door.listening() as sockets:
        async with _desk(sources, settings, rules, parts) as desk, _tools(desk) as beside:
            config = _config(door, application(desk, _uploads(sources, settings, rules), beside))
            address = door.address(sockets[0].getsockname()[1])
            await _listen(_Server(config, desk), desk, sockets, lambda: ready(address))


def _config(door: Door, app: Any) -> uvicorn.Config:
    is_set_up = bool(logging.getLogger("uvicorn").handlers)
    return uvicorn.Config(
        app,
        lifespan="off",
        log_level="warning",
        log_config=None if is_set_up else LOGGING_CONFIG,
        access_log=False,
        server_header=False,
        proxy_headers=bool(door.proxies),
        forwarded_allow_ips=list(door.proxies),
        http=_Connection,
        timeout_graceful_shutdown=max(1, door.grace),
    )


async def serve_tools(sources: Sources, settings: Settings) -> None:
    """Serves MCP over standard streams until the input ends."""
    from toulmin.server.mcp_tools import serve_streams

    async with _desk(sources, settings, Rules(), Own()) as desk:
        await desk.engine.start()
        await serve_streams(desk)


@asynccontextmanager
async def _desk(sources: Sources, settings: Settings, rules: Rules, parts: Own) -> AsyncIterator[Desk]:
    engine, shelf = Engine(sources, settings, parts), _shelf(sources, settings)
    try:
        yield Desk(engine, shelf, rules, Figures(lambda: engine.running))
    finally:
        await engine.stop()
        shelf.close()


@asynccontextmanager
async def _tools(desk: Desk) -> AsyncIterator[Sequence[BaseRoute]]:
    """No route if the library is not installed."""
    if find_spec("mcp") is None:
        yield ()
        return
    from toulmin.server.mcp_tools import open_routes

    try:
        async with open_routes(desk) as routes:
            yield routes
    except BaseExceptionGroup as group:  # the library wraps what ends it
        raise group.exceptions[0] from None


class _Connection(H11Protocol):
    # Ends unless the headers of a request come in time: clients that drip headers on many connections would shut out
    # everybody.
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def send_400_response(self, msg: str) -> None:
        # Invalid bytes follow a request: this connection gets no further reply.
        if self.cycle is not None:
            self.cycle.disconnected = True
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:  # a request is here
            if self._deadline is not None:
                self._deadline.cancel()
            self._deadline = None
        elif self._deadline is None:
            is_crowded = len(self.connections) - len(self.tasks) > CROWD
            seconds = CROWDED_SECONDS if is_crowded else HEADER_SECONDS
            self._deadline = self.loop.call_later(seconds, self.transport.abort)


class _Server(uvicorn.Server):
    """Handles signals itself, so that everything closes in order."""

    def __init__(self, config: uvicorn.Config, desk: Desk) -> None:
        super().__init__(config)
        self._desk = desk

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        grace = self.config.timeout_graceful_shutdown or 0
        # Cancelled answers need a moment to end their streams in order before the rest is cut off.
        ending = asyncio.get_running_loop().call_later(0.8 * grace, self._desk.cancel_all)
        try:
            await super().shutdown(sockets)
        finally:
            ending.cancel()
        if cut_off := list(self.server_state.tasks):  # they notify their clients
            await asyncio.wait(cut_off, timeout=_WIND_UP)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # A second signal does not wait for answers.
        loop, kinds = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
        # On Windows and in threads the caller handles signals.
        with suppress(NotImplementedError, RuntimeError, ValueError):
            for kind in kinds:
                loop.add_signal_handler(kind, self.handle_exit, kind, None)
        try:
            yield
        finally:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                for kind in kinds:
                    loop.remove_signal_handler(kind)


async def _listen(server: _Server, desk: Desk, sockets: list[socket.socket], ready: Callable[[], None]) -> None:
    task, following = asyncio.create_task(server.serve(sockets)), None
    while not server.started and not task.done():
        await asyncio.sleep(0.02)
    try:
        if server.started:
            await desk.engine.start()  # meanwhile only the probes and the page work
            ready()
            following = asyncio.create_task(desk.rechecks.follow())
        await asyncio.shield(task)
    except BaseException:
        server.should_exit = True
        await task
        raise
    finally:
        if following is not None:
            following.cancel()


def _uploads(sources: Sources, settings: Settings, rules: Rules) -> Uploads | None:
    """None where they are forbidden, or if the sources are no index in a local folder."""
    place = index_of(sources, settings) if rules.upload and settings.uploads_mb else None
    return Uploads(Path(place), settings) if place and not is_shared(place) else None


def _shelf(sources: Sources, settings: Settings) -> Shelf:
    place = index_of(sources, settings) or settings.index
    name = content_id(place if is_shared(place) else str(Path(place).resolve()))
    path = user_state_path("toulmin") / "answers" / f"{name}.sqlite"
    return Shelf(path, size=settings.answers_mb * 1_000_000)
