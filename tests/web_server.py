"""A web server in a thread that answers as it is told, badly on demand: for tests of what is fetched from the web.

with running_server() as server:
    server.say("/search", results(("Tower", "Lit in 1824.", "https://example.org/tower")))
    ... SearchServer(server.url) ...
    server.asked     # the paths that came, in order
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Say:
    """A reply; `drips` sends its body a byte each 50 ms, `endless` never ends it, `hangs` sends nothing.

    One that is given `together` waits until so many requests have come, and is status 500 if they do not.
    """

    body: bytes = b""
    kind: str = "application/json"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    drips: bool = False
    hangs: bool = False
    endless: bool = False
    together: int = 0


def results(*found: tuple[Any, Any, Any]) -> Say:
    """SearXNG's reply with these titles, snippets and addresses."""
    items = [{"title": title, "content": text, "url": url} for title, text, url in found]
    return Say(json.dumps({"query": "q", "results": items}).encode())


def page(title: str, body: str) -> Say:
    return Say(f"<html><head><title>{title}</title></head><body>{body}</body></html>".encode(), "text/html")


def redirect(target: str, status: int = 302) -> Say:
    return Say(status=status, headers={"Location": target})


class Server:
    """What is said on which path; `url` is where."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.asked: list[str] = []
        self.queries: list[dict[str, list[str]]] = []
        self.headers: list[dict[str, str]] = []
        self.stopped = threading.Event()
        self._said: dict[str, list[Say]] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def say(self, path: str, *replies: Say) -> None:
        """These replies one after the other, the last one from then on."""
        self._said[path] = list(replies)

    def reply(self, path: str, headers: dict[str, str]) -> Say:
        parts = urlsplit(path)
        self.asked.append(parts.path)
        self.queries.append(parse_qs(parts.query))
        self.headers.append(headers)
        said = self._said.get(parts.path, [Say(b"no", "text/plain", 404)])
        return said.pop(0) if len(said) > 1 else said[0]

    def have_come(self, count: int) -> bool:
        """Whether so many requests have come, or come within half a second."""
        for _ in range(50):
            if len(self.asked) >= count or self.stopped.wait(0.01):
                break
        return len(self.asked) >= count


def _handler(server: Callable[[], Server]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            said = server().reply(self.path, dict(self.headers))
            with suppress(ConnectionError):
                self._send(said)

        def _send(self, said: Say) -> None:
            stopped = server().stopped
            if said.hangs:
                stopped.wait(30)
                return
            self.send_response(said.status if server().have_come(said.together) else 500)
            self.send_header("Content-Type", said.kind)
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.end_headers()
            while said.endless and not stopped.is_set():
                self.wfile.write(b"x" * 65536)
            pieces = [said.body[i : i + 1] for i in range(len(said.body))] if said.drips else [said.body]
            for piece in pieces:
                self.wfile.write(piece)
                if said.drips and stopped.wait(0.05):
                    return

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


@contextmanager
def running_server() -> Iterator[Server]:
    """A server on a free port of the loopback interface, ended with the block."""
    told: list[Server] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(lambda: told[0])) as httpd:
        server = Server(httpd.server_address[1])
        told.append(server)
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.stopped.set()
            httpd.shutdown()
            thread.join()
