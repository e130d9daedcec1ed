"""ASGI middleware that every request passes first.

Rules of this file
* A server on loopback answers only to loopback names (against DNS rebinding), and to pages of other origins only if
  they are listed.
* Tokens are compared in constant time. Only the page's files and the probes need none.
* A body is limited while it arrives, whatever its announced length.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import re
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse, Response

from toulmin.errors import ToulminError
from toulmin.formats import answer_json

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

LOG = logging.getLogger("toulmin.server")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})
BODY = 4_000_000  # bytes of a request that is no upload
SLOWEST, LEAST_RATE = 30.0, 10_000  # seconds for a body, and bytes that add a second
MOST_REQUESTS = 1_000  # at once
OF_A_CLIENT = 32  # at once; a browser opens six
ENDING = "The server is stopping; ask again in a moment."
OPENING = "The index is being opened; ask again in a moment."
DEFECT = "This request met a defect of the server; its log has the reason."
_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)
# The folders of a path of this machine; addresses of the web and of our own routes are none.
_FOLDERS = re.compile(r"(?<![\w./~])/(?!/|v1/|mcp\b)(?:[^\s/\"'“”()<>]+/)+")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
}


@dataclass(frozen=True, slots=True)
class Rules:
    """Who may send requests: `hosts` are accepted Host names (None: any), `origins` other pages."""

    token: str | None = None
    hosts: frozenset[str] | None = LOOPBACK
    origins: frozenset[str] = frozenset()
    body: int = BODY
    upload: int = 0
    """Bytes of an upload; 0 forbids uploads."""
    client: int = OF_A_CLIENT
    root: str = ""
    """The path before all routes, which a proxy may leave in a request or take away."""


class RequestRefusal(ToulminError):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.http_status = status


class Guard:
    def __init__(self, app: App, rules: Rules, is_open: Callable[[], bool]) -> None:
        self._app, self._rules, self._is_open = app, rules, is_open
        self._requests = 0
        self._clients: Counter[str] = Counter()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if f"{scope['path']}/".startswith(f"{self._rules.root}/"):
            scope = {**scope, "path": scope["path"].removeprefix(self._rules.root)}
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        origin = headers.get("origin") if headers.get("origin") in self._rules.origins else None
        id = scope["id"] = headers.get("x-request-id", "")
        if not _ID.fullmatch(id):
            id = scope["id"] = secrets.token_urlsafe(9)
        scope["is_begun"] = False
        guarded = _with_headers(send, scope, origin)
        is_tool = scope["path"].startswith("/mcp")
        client = client_of(scope.get("client"))
        self._requests += 1
        self._clients[client] += 1
        try:
            if not scope["path"]:  # else the page's relative addresses would leave out the root
                await Response(status_code=308, headers={"Location": f"{self._rules.root}/"})(scope, receive, guarded)
                return
            if scope["method"] == "OPTIONS" and origin:
                await Response(status_code=204, headers=PREFLIGHT)(scope, receive, guarded)
                return
            self._check(scope, headers)
            self._check_load(scope["path"], client)
            is_upload = scope["method"] == "POST" and scope["path"].rstrip("/") == "/v1/documents"
            body = _limit_body(receive, headers, self._rules.upload if is_upload else self._rules.body)
            # An upload is streamed, as it may be large.
            await self._app(scope, body if is_upload else await _whole(body), guarded)
        except RequestRefusal as refused:
            LOG.info("a request was refused: %(status)d (%(id)s)", {"id": id, "status": refused.http_status})
            await refusal(refused.http_status, str(refused), is_tool)(scope, receive, guarded)
        except asyncio.CancelledError:  # the grace time is over; uvicorn would log a traceback
            if not scope["is_begun"]:
                await refusal(503, ENDING, is_tool)(scope, receive, guarded)
        finally:
            self._requests -= 1
            self._clients -= Counter([client])  # which drops those that are at 0

    def _check(self, scope: MutableMapping[str, Any], headers: MutableMapping[str, str]) -> None:
        host = headers.get("host", "")
        if self._rules.hosts is not None and name_of(host) not in self._rules.hosts:
            known = ", ".join(sorted(self._rules.hosts))
            raise RequestRefusal(421, f"This server answers to {known}, not to {host!r}; allow it with --allow-host.")
        origin = headers.get("origin")
        if origin is not None and origin not in self._rules.origins and origin.partition("://")[2] != host:
            raise RequestRefusal(403, f"Pages of {origin} may not send requests; allow them with --allow-origin.")
        if self._rules.token is not None and _needs_token(scope["path"]):
            scheme, _, token = headers.get("authorization", "").partition(" ")
            is_right = secrets.compare_digest(token.strip().encode(), self._rules.token.encode())
            if scheme.lower() != "bearer" or not is_right:
                raise RequestRefusal(401, "This server needs its token: send it as Authorization: Bearer TOKEN.")

    def _check_load(self, path: str, client: str) -> None:
        if not path.startswith(("/v1/", "/mcp")):
            return
        if not self._is_open():
            raise RequestRefusal(503, OPENING)
        if self._requests > MOST_REQUESTS:
            raise RequestRefusal(503, f"{MOST_REQUESTS:,} requests are running; ask again in a moment.")
        most = self._rules.client
        if client and self._clients[client] > most:
            raise RequestRefusal(429, f"A client may have {most:,} running requests; ask again when one has ended.")


def client_of(peer: tuple[str, int] | None) -> str:
    # Limits count clients by address (IPv6: by network); "" is this machine, which has no limit.
    name = peer[0] if peer else ""
    try:
        address = ipaddress.ip_address(name)
    except ValueError:  # a name from a trusted proxy
        return name
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_loopback:
        return ""
    return str(address) if address.version == 4 else str(ipaddress.ip_network((int(address), 64), strict=False))


def name_of(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0].lower() + "]"
    return host.rpartition(":")[0].lower() if ":" in host else host.lower()


def _needs_token(path: str) -> bool:
    return path.startswith(("/v1/", "/mcp/")) or path in ("/metrics", "/mcp", "/openapi.json")


def _limit_body(receive: Receive, headers: MutableMapping[str, str], most: int) -> Receive:
    announced = headers.get("content-length", "0")
    if announced.isdigit() and int(announced) > most:
        raise RequestRefusal(413, f"A request may have {most:,} bytes here, but announced {int(announced):,}.")
    came, is_whole, began = 0, False, asyncio.get_running_loop().time()

    async def receive_part() -> Message:
        nonlocal came, is_whole
        if is_whole:  # only the disconnect can still come
            return await receive()
        try:
            async with asyncio.timeout_at(began + SLOWEST + came / LEAST_RATE):
                message = await receive()
        except TimeoutError:
            raise RequestRefusal(408, f"The request was too slow: {came:,} bytes so far; send it again.") from None
        came += len(message.get("body", b""))
        if came > most:
            raise RequestRefusal(413, f"A request may have {most:,} bytes here, but more came.")
        is_whole = not message.get("more_body", False)
        return message

    return receive_part


async def _whole(receive: Receive) -> Receive:
    """Reads the whole body first; the result gives it in one message."""
    parts, is_whole = list[bytes](), False
    while not is_whole:
        message = await receive()
        parts.append(message.get("body", b""))
        is_whole = not message.get("more_body", False)  # a disconnect has none
    waiting: list[Message] = [{**message, "body": mended(b"".join(parts))}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def mended(body: bytes) -> bytes:
    """JSON with U+FFFD for each half of a surrogate pair, which no reply could hold; anything else as it is."""
    if b"\\ud" not in body.lower():
        return body
    try:
        return orjson.dumps(answer_json.plain(json.loads(body)))
    except (ValueError, TypeError, RecursionError):
        return body


def _with_headers(send: Send, scope: MutableMapping[str, Any], origin: str | None) -> Send:
    added = {**HEADERS, "X-Request-Id": scope["id"]}
    if scope["path"].startswith("/v1/"):
        added["Cache-Control"] = "no-store"
    if origin is not None:
        added |= {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
        added["Cross-Origin-Resource-Policy"] = "cross-origin"

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            scope["is_begun"] = True
            headers = MutableHeaders(scope=message)
            for name, value in added.items():
                headers.setdefault(name, value)  # a route may have a policy of its own
        await send(message)

    return send_with_headers


def refusal(status: int, message: str, is_tool: bool) -> Response:
    headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "1"}}.get(status)
    # An assistant's client shows people only JSON-RPC.
    rpc = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": message}}
    return JSONResponse(rpc if is_tool else error_document(status, message), status, headers)


def error_document(status: int, message: str, param: str | None = None) -> dict[str, Any]:
    """The format of all errors; OpenAI's clients read it too."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": without_folders(message), "type": kind, "param": param, "code": str(status)}}


def failure_document(error: Exception) -> dict[str, Any]:
    """Of a stream that has begun, which only an event can end; a defect's reason goes to the log."""
    if isinstance(error, ToulminError):
        return error_document(error.http_status, str(error))
    LOG.error("an answer failed by a defect", exc_info=error)
    return error_document(500, DEFECT)


def without_folders(message: str) -> str:
    """The message for a client, who should not see where files of this machine lie."""
    return _FOLDERS.sub("", message)
