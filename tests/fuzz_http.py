"""HTTP from both sides: what model servers reply, and what clients ask of ours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import unquote

from fuzz_parsers import Parser, folder, rows, written
from pydantic import ValidationError

from toulmin.build.sources import Sources
from toulmin.build.specs import Own
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.errors import ToulminError
from toulmin.indexing.update import update
from toulmin.models.received import Broken, MalformedReply, ReplyBuilder, TooLarge
from toulmin.models.remote import Chat, Completions
from toulmin.models.server import Server
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import AnswerPrompt
from toulmin.server.counters import Figures
from toulmin.server.desk import Desk
from toulmin.server.engine import Engine
from toulmin.server.guard import Rules
from toulmin.server.routes import application
from toulmin.server.shelf import Shelf
from toulmin.server.uploads import MOST_BYTES, Uploads
from toulmin.steps import Generate

PROMPT = AnswerPrompt("When was the tower lit?", (Passage.of("The tower was lit on 3 May 1824.", "Kettle Rock"),))


class Wire:
    """A model server that sends the bytes as they are, whatever is asked."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._data = b""
        self._server = self._loop.run_until_complete(asyncio.start_server(self._send, "127.0.0.1", 0))
        self._port = self._server.sockets[0].getsockname()[1]
        self._known: dict[int, Chat | Completions] = {}

    async def _send(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(self._data)
        writer.close()

    def models(self, data: bytes) -> None:
        """The first byte chooses the route, whether it streams, and whether it is held to a schema."""
        how, self._data = data[0] % 8 if data else 0, data[1:]
        self._loop.run_until_complete(self._ask(self._model(how)))

    def _model(self, how: int) -> Chat | Completions:
        if how not in self._known:  # a client takes 50 ms to be made
            url = f"http://127.0.0.1:{self._port}/v1"
            local = Server(url, retries=0, timeout=5, stream=bool(how & 2), structured=bool(how & 4))
            self._known[how] = (Completions if how & 1 else Chat)("fuzz", local)
        return self._known[how]

    async def _ask(self, model: Chat | Completions) -> None:
        asked = [Generate(PROMPT, sample=n) for n in range(2)]
        for got in await model.generate(asked):
            if isinstance(got, Reply):
                PROMPT.read(got.text)


def received(data: bytes) -> None:
    """Events of a stream, one a line."""
    whole = ReplyBuilder()
    for line in data.split(b"\n"):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        whole.add(event)
    whole.add_whole({})


class Served:
    """The server as an application, over an index of one text; a request is its line, heads, and body."""

    def __init__(self) -> None:
        place = folder() / "served"
        update(
            place / "index", [written("served/docs/lamp.txt", b"The lamp was lit in 1871. Three keepers lived there.")]
        )
        plain = Settings(judge="lexical", reader="lexical", index=str(place / "index"))
        self._loop = asyncio.new_event_loop()
        engine = Engine(Sources(index=str(place / "index")), plain, Own())
        self._loop.run_until_complete(engine.start())
        desk = Desk(engine, Shelf(place / "answers.sqlite"), Rules(hosts=None, upload=MOST_BYTES), Figures(lambda: 0))
        self._app = application(desk, Uploads(place / "index", plain))

    def request(self, data: bytes) -> None:
        """Raises `AssertionError` for a status of a defect."""
        self._loop.run_until_complete(asyncio.wait_for(self._request(data), 20))

    async def _request(self, data: bytes) -> None:
        top, _, body = data.partition(b"\n\n")
        line, *heads = top.split(b"\n")
        method, _, target = line.decode("latin-1").partition(" ")
        path, _, query = target.partition("?")
        pairs = [head.partition(b":") for head in heads]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method.upper()[:20] or "GET",
            "scheme": "http",
            "path": unquote("/" + path.lstrip("/"), errors="replace"),
            "raw_path": path.encode(),
            "query_string": query.encode("latin-1"),
            "root_path": "",
            "headers": [(name.strip().lower(), value.strip()) for name, _, value in pairs]
            + [(b"host", b"localhost"), (b"content-length", str(len(body)).encode())],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])
        statuses: list[int] = []

        async def receive() -> dict[str, Any]:
            for message in messages:
                return message
            await asyncio.sleep(60)
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        await self._app(scope, receive, send)
        if statuses[:1] in ([], [500]):
            raise AssertionError(f"the status was {statuses}")


def requests() -> list[bytes]:
    asks = {
        "/v1/answers": {
            "question": "When was the lamp lit?",
            "method": "direct",
            "k": 2,
            "options": {"a": 1},
            "history": [],
        },
        "/v1/search": {"query": "lamp", "k": 3},
        "/v1/check": {
            "text": "It was lit in 1871 [1].",
            "passages": [{"text": "Lit in 1871.", "title": "a", "id": "b"}],
        },
        "/v1/chat/completions": {"model": "best", "messages": [{"role": "user", "content": "When?"}], "stream": True},
        "/v1/responses": {
            "model": "best",
            "input": [{"role": "user", "content": [{"type": "input_text", "text": "When?"}]}],
        },
    }
    form = (
        "POST /v1/documents\nContent-Type: multipart/form-data; boundary=q\n\n--q\r\nContent-Disposition: form-data;"
        ' name="file"; filename="a.txt"\r\n\r\nThe lamp.\r\n--q--\r\n'
    )
    posts = [f"POST {path}\nContent-Type: application/json\n\n{json.dumps(body)}" for path, body in asks.items()]
    gets = [
        f"GET {path}\nAccept: */*\n\n" for path in ("/v1/documents?limit=1", "/healthz", "/metrics", "/", "/v1/methods")
    ]
    gets.append("GET /healthz\nOrigin: http://[\nX-Request-Id: a\n\n")
    return [text.encode() for text in (*posts, *gets, "DELETE /v1/documents/a%2Fb\n\n", form)]


EVENT = {"choices": [{"index": 0, "delta": {"content": "Lit [1].", "reasoning": "x"}, "finish_reason": "stop"}]}
LOGPROBS = {"content": [{"token": "a", "logprob": -0.1, "top_logprobs": [{"token": "b", "logprob": -1}]}]}
WHOLE = {
    "model": "m",
    "usage": {"prompt_tokens": 3, "completion_tokens": 1},
    "choices": [{"message": {"content": "x"}, "logprobs": LOGPROBS}],
}
HEAD = "HTTP/1.1 {}\r\nContent-Type: {}\r\nConnection: close\r\n\r\n{}"
STRUCTURED = {"choices": [{"text": '{"claims": []}', "finish_reason": "length"}]}
REPLIES = {
    2: HEAD.format("200 OK", "text/event-stream", f"data: {json.dumps(EVENT)}\n\ndata: [DONE]\n\n"),
    0: HEAD.format("200 OK", "application/json", json.dumps(WHOLE)),
    4: HEAD.format("200 OK", "application/json", json.dumps(STRUCTURED)),
    1: HEAD.format("400 Bad", "application/json", '{"error": {"message": "context length", "code": "x"}}'),
    3: HEAD.format("429 No", "application/json\r\nRetry-After: 1", '{"error": "slow", "detail": []}'),
}
wire, served = cache(Wire), cache(Served)
PARSERS: dict[str, Callable[[], Parser]] = {
    "received": lambda: Parser(received, [rows(EVENT), rows(WHOLE)], (MalformedReply, Broken, TooLarge)),
    "wire": lambda: Parser(wire().models, [bytes([how]) + text.encode() for how, text in REPLIES.items()]),
    "request": lambda: Parser(served().request, requests(), (ToulminError, ValidationError)),
}
