"""Starts and stops the server."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import secrets
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import uvicorn
from platformdirs import user_state_path
from starlette.routing import BaseRoute
from uvicorn.config import LOGGING_CONFIG

from toulmin.build.sources import Sources
from toulmin.build.specs import Own
from toulmin.config import Settings
from toulmin.data import content_id
from toulmin.errors import SourceError, UsageError
from toulmin.server.counters import Figures
from toulmin.server.desk import Desk, Shelf
from toulmin.server.engine import Engine
from toulmin.server.guard import LOOPBACK, Rules
from toulmin.server.routes import application
from toulmin.server.uploads import MOST_BYTES, Uploads
from toulmin.stores.address import is_shared

GRACE = 10.0  # seconds that running answers have to end when the server stops
LEAST_TOKEN = 16  # characters
MOST_CONNECTIONS = 1_000


@dataclass(frozen=True, slots=True)
class Door:
    """Where the server listens and whom it admits; `hosts` and `origins` add to its own."""

    host: str = "127.0.0.1"
    port: int = 8420
    token: str | None = None
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()

    def rules(self) -> Rules:
        """Raises `UsageError` for a short token, or none where other machines connect."""
        if self.token is not None and len(self.token) < LEAST_TOKEN:
            raise UsageError(
                f"A token should have {LEAST_TOKEN} characters or more, not {len(self.token)}; for example:"
                f" {secrets.token_urlsafe(24)}"
            )
        if not self.is_local and self.token is None:
            raise UsageError(
                f"{self.host} can be reached by other machines; set a token with TOULMIN_TOKEN or"
                " --token-file, or leave --host as it is."
            )
        own_names = frozenset({self.host.lower()}) | (LOOPBACK if self.is_local else frozenset())
        anywhere = self.host in ("0.0.0.0", "::") and not self.hosts
        names = None if anywhere else own_names | {name.lower() for name in self.hosts}
        return Rules(self.token, names, frozenset(self.origins), upload=MOST_BYTES if self.token else 0)

    @property
    def is_local(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/"


async def serve(
    sources: Sources, settings: Settings, door: Door, ready: Callable[[str], None], parts: Own = Own()
) -> None:
    """Serves until interrupted; calls `ready` with the URL once it listens.

    `parts` replace those in the settings. Raises `UsageError` for an unsafe door, `SourceError` for unusable
    sources or address, `ModelError` for models that do not load.
    """
    rules = door.rules()
    async with _desk(sources, settings, rules, parts) as desk, _tools(desk) as beside:
        is_set_up = bool(logging.getLogger("uvicorn").handlers)
        config = uvicorn.Config(
            application(desk, _uploads(sources, settings, rules), beside),
            host=door.host,
            port=door.port,
            lifespan="off",
            log_level="warning",
            log_config=None if is_set_up else LOGGING_CONFIG,
            access_log=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=round(GRACE),
        )
        await _listen(_Server(config), door, ready)


async def serve_tools(sources: Sources, settings: Settings) -> None:
    """Serves MCP over standard streams until the input ends."""
    from toulmin.server.mcp_tools import tools

    async with _desk(sources, settings, Rules(), Own()) as desk:
        await tools(desk).run_stdio_async()


@asynccontextmanager
async def _desk(sources: Sources, settings: Settings, rules: Rules, parts: Own) -> AsyncIterator[Desk]:
    engine, shelf = Engine(sources, settings, parts), Shelf(_shelf_of(sources, settings))
    try:
        await engine.start()
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
    from toulmin.server.mcp_tools import Http

    http = Http(desk)
    async with http.serving():
        yield [http.route()]


class _Server(uvicorn.Server):
    """Does not pass signals on, so that everything closes in order."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A second SIGINT or SIGTERM does not wait for answers."""
        loop, kinds = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
        with suppress(NotImplementedError, RuntimeError, ValueError):  # on Windows and in threads, the caller's task
            for kind in kinds:
                loop.add_signal_handler(kind, self.handle_exit, kind, None)
        try:
            yield
        finally:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                for kind in kinds:
                    loop.remove_signal_handler(kind)


async def _listen(server: uvicorn.Server, door: Door, ready: Callable[[str], None]) -> None:
    task = asyncio.create_task(server.serve())
    while not server.started and not task.done():
        await asyncio.sleep(0.02)
    if server.started:
        ready(door.address)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        server.should_exit = True
        await task
        raise
    except SystemExit as stopped:  # uvicorn exits where it cannot listen
        raise SourceError(
            f"Port {door.port} of {door.host} cannot be listened on; another program may use it. Name another --port."
        ) from stopped


def _uploads(sources: Sources, settings: Settings, rules: Rules) -> Uploads | None:
    """None without a token, or where the sources are no index in a local folder."""
    place = sources.index or settings.index
    is_own = (sources.index is not None or sources.is_open) and not is_shared(place)
    return Uploads(Path(place), settings) if rules.upload and is_own else None


def _shelf_of(sources: Sources, settings: Settings) -> Path:
    named = sources.docs or (sources.index or settings.index,)
    place = [path if is_shared(path) else str(Path(path).resolve()) for path in named]
    return user_state_path("toulmin") / "answers" / f"{content_id(*place)}.sqlite"
