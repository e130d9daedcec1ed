"""A server that speaks both OpenAI routes from rules, with faults on demand: a real one, in a process of its own.

    with running_stub() as stub:
        stub.script(Rule("seven", reply="Seven [1]."), Rule(fault="status", status=429, times=2), latency=0.2)
        ... Chat("stub", Server(base_url=stub.url)) ...
        stub.asked()     # the bodies that came, in order

The first rule whose pattern is found in the prompt and which is not used up answers; without one it is `ECHO`.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ECHO = "The tower was lit on 3 May 1824 [1]."
CHUNK = 24  # characters of a streamed piece; more in a reply that would have over MOST_PIECES
MOST_PIECES = 2_000
LINGER = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class Rule:
    """What the server does with a prompt that holds `match` (a regular expression), `times` times (None: always).

    `fault` is None or one of: status, cut (the connection is reset in mid-reply), closed (a stream ends early but in
    good order), json (not JSON), sse (a piece of the stream is not JSON), empty (a body of no bytes), hang (no byte
    ever comes), drip (a byte of comment each 20 ms, for ever), stall (the stream stops in the middle),
    late_error (an error object in the stream), lingers (the stream stays open after its end), slams (it is reset
    there), gzip (a megabyte of blanks, compressed).
    """

    match: str = ""
    reply: str = ECHO
    times: int | None = None
    fault: str | None = None
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    finish: str = "stop"
    reasoning: str = ""
    refusal: str = ""
    usage: bool = True
    rejects: list[str] = field(default_factory=list)  # fields of the body, or the system role, that it does not take
    window: int | None = None  # words of the prompt beyond which it answers "context length exceeded"
    ignores_stream: bool = False
    latency: float = 0.0


# ---------------------------------------------------------------- the server's side


class _State:
    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.latency = 0.0
        self.log: list[dict[str, Any]] = []
        self.models = ["stub"]
        self.cut_off = 0  # replies whose reader went away


STATE = _State()


def _prompt(body: dict[str, Any]) -> str:
    if "messages" in body:
        return "\n".join(str(message["content"]) for message in body["messages"])
    return str(body.get("prompt", ""))


def _rule(prompt: str) -> Rule:
    for rule in STATE.rules:
        if rule.times != 0 and re.search(rule.match, prompt):
            if rule.times is not None:
                rule.times -= 1
            return rule
    return Rule()


def _error(status: int, message: str, **more: Any) -> Any:
    from starlette.responses import JSONResponse

    return JSONResponse({"error": {"message": message, "type": "invalid_request_error", **more}}, status)


def _refused(rule: Rule, body: dict[str, Any], prompt: str) -> Any:
    """An error reply where the rule has one for this request."""
    if "system" in rule.rejects and any(message["role"] == "system" for message in body.get("messages", ())):
        return _error(400, "System role not supported")
    for name in rule.rejects:
        if name in body:
            return _error(400, f"Unsupported parameter: '{name}' is not supported.", param=name)
    words = len(prompt.split())
    if rule.window is not None and words > rule.window:
        text = f"This model's maximum context length is {rule.window} tokens, but the request has {words}."
        return _error(400, text, code="context_length_exceeded")
    if rule.fault == "status":
        from starlette.responses import Response

        text = rule.body if isinstance(rule.body, str) else json.dumps(rule.body or {"error": {"message": "no"}})
        kind = "text/plain" if isinstance(rule.body, str) else "application/json"
        return Response(text, rule.status, rule.headers, media_type=kind)
    return None


def _usage(prompt: str, text: str) -> dict[str, int]:
    return {"prompt_tokens": len(prompt.split()), "completion_tokens": len(text.split())}


def _logprobs(body: dict[str, Any], text: str, chat: bool) -> Any:
    if not body.get("logprobs"):
        return None
    tokens = re.findall(r"\S+\s*|\s+", text)
    if chat:
        count = int(body.get("top_logprobs", 0))
        top = [{"token": f"other{i}", "logprob": -1.0 - i} for i in range(count)]
        return {"content": [{"token": token, "logprob": -0.5, "top_logprobs": top} for token in tokens]}
    top_of = {f"other{i}": -1.0 - i for i in range(int(body["logprobs"]))}
    return {"tokens": tokens, "token_logprobs": [-0.5] * len(tokens), "top_logprobs": [top_of] * len(tokens)}


def _whole(rule: Rule, body: dict[str, Any], chat: bool) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": 0, "finish_reason": rule.finish, "logprobs": _logprobs(body, rule.reply, chat)}
    if not chat:
        return choice | {"text": rule.reply}
    message = {"role": "assistant", "refusal": rule.refusal or None, "content": rule.reply}
    return choice | {"message": message | ({"reasoning_content": rule.reasoning} if rule.reasoning else {})}


def _pieces(rule: Rule, body: dict[str, Any], chat: bool) -> Iterator[dict[str, Any]]:
    """The choices of the stream's events."""
    if rule.reasoning:
        yield {"index": 0, "delta": {"role": "assistant", "reasoning_content": rule.reasoning}}
    if rule.refusal:
        yield {"index": 0, "delta": {"refusal": rule.refusal}}
    size = max(CHUNK, len(rule.reply) // MOST_PIECES)
    for at in range(0, len(rule.reply), size):
        piece = rule.reply[at : at + size]
        said = {"delta": {"content": piece}} if chat else {"text": piece}
        yield {"index": 0, "logprobs": _logprobs(body, piece, chat), **said}
    yield {"index": 0, "finish_reason": rule.finish, **({"delta": {}} if chat else {"text": ""})}


async def _stream(rule: Rule, body: dict[str, Any], chat: bool, usage: Any) -> AsyncIterator[bytes]:
    pieces = list(_pieces(rule, body, chat))
    half = len(pieces) // 2
    for number, piece in enumerate(pieces):
        if number == half and rule.fault in ("cut", "closed", "stall", "sse", "late_error"):
            if rule.fault == "closed":
                return
            if rule.fault == "stall":
                await asyncio.sleep(3600)
            if rule.fault == "sse":
                yield b"data: {this is no JSON\n\n"
            if rule.fault == "late_error":
                yield b'data: {"error": {"message": "the engine died"}}\n\n'
            if rule.fault == "cut":
                raise _Reset
        yield b"data: " + json.dumps({"model": "stub-1", "choices": [piece]}).encode() + b"\n\n"
    if rule.usage and body.get("stream_options", {}).get("include_usage"):
        yield b"data: " + json.dumps({"model": "stub-1", "choices": [], "usage": usage}).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"
    if rule.fault == "lingers":
        await asyncio.sleep(3600)
    if rule.fault == "slams":
        raise _Reset


class _Reset(Exception):
    pass


async def _drip() -> AsyncIterator[bytes]:
    while True:
        yield b": still here\n\n"
        await asyncio.sleep(0.02)


class _Streamed:
    """An ASGI reply that counts readers who go away and can reset the connection."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self.chunks = chunks

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        writing = asyncio.create_task(self._write(receive, send))
        leaving = asyncio.create_task(self._gone(receive))
        done, pending = await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        STATE.cut_off += writing not in done
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)

    async def _write(self, receive: Any, send: Any) -> None:
        try:
            async for chunk in self.chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except _Reset:
            _reset(receive)
            return
        await send({"type": "http.response.body", "body": b""})

    @staticmethod
    async def _gone(receive: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass


def _reset(receive: Any) -> None:
    """Resets the connection as a crashed server's kernel does: uvicorn's `receive` knows the transport."""
    transport = receive.__self__.transport
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)
    transport.abort()


async def _answer(request: Any) -> Any:
    from starlette.responses import JSONResponse, Response

    arrived = time.monotonic()
    body = json.loads(await request.body())
    chat = request.url.path.endswith("/chat/completions")
    prompt = _prompt(body)
    authorization = request.headers.get("authorization", "")
    entry = {"path": request.url.path, "body": body, "authorization": authorization, "at": time.monotonic()}
    entry["headers"] = dict(request.headers)
    STATE.log.append(entry)
    if body.get("model") not in STATE.models:
        return _error(404, f"The model {body.get('model')!r} does not exist.", code="model_not_found")
    rule = _rule(prompt)
    # The latency is that from request to reply: what reading the request took is part of it.
    await asyncio.sleep(max(0.0, arrived + STATE.latency + rule.latency - time.monotonic()))
    if rule.fault == "hang":
        await asyncio.sleep(3600)
    if (refused := _refused(rule, body, prompt)) is not None:
        return refused
    if rule.fault in ("json", "empty", "nested"):
        text = {"json": '{"choices": [{"mess', "empty": "", "nested": "[" * 200_000}[rule.fault]
        return Response(text, rule.status if rule.fault == "nested" else 200, media_type="application/json")
    usage = _usage(prompt, rule.reply)
    if rule.fault == "drip":
        return _Streamed(_drip())
    if body.get("stream") and not rule.ignores_stream and rule.fault != "gzip":
        return _Streamed(_stream(rule, body, chat, usage))
    if rule.fault == "cut":
        _reset(request.receive)
    if rule.fault == "gzip":
        return Response(
            gzip.compress(b" " * 1_000_000), media_type="application/json", headers={"Content-Encoding": "gzip"}
        )
    whole = {"model": "stub-1", "choices": [_whole(rule, body, chat)]}
    return JSONResponse(whole | ({"usage": usage} if rule.usage else {}))


async def _control(request: Any) -> Any:
    """GET gives what was asked; PUT sets rules and latency and forgets what was asked."""
    from starlette.responses import JSONResponse

    if request.method == "PUT":
        given = json.loads(await request.body())
        STATE.rules = [Rule(**rule) for rule in given["rules"]]
        STATE.latency, STATE.models, STATE.log, STATE.cut_off = given["latency"], given["models"], [], 0
    return JSONResponse({"asked": STATE.log, "cut_off": STATE.cut_off})


async def _listed(request: Any) -> Any:
    from starlette.responses import JSONResponse

    return JSONResponse({"object": "list", "data": [{"id": model} for model in STATE.models]})


def serve() -> None:
    """Runs the server on a free port of the loopback interface and says which on standard output."""
    import logging

    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import Route

    logging.disable(logging.CRITICAL)
    routes = [
        Route("/v1/chat/completions", _answer, methods=["POST"]),
        Route("/v1/completions", _answer, methods=["POST"]),
        Route("/v1/models", _listed),
        Route("/control", _control, methods=["GET", "PUT"]),
    ]
    # Only of a socket that says it is TCP does asyncio send small pieces at once.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)  # so that who connects before the server runs waits for it
        print(listening.getsockname()[1], flush=True)
        config = uvicorn.Config(Starlette(routes=routes), log_level="critical", lifespan="off", timeout_keep_alive=60)
        asyncio.run(uvicorn.Server(config).serve([listening]))


# ---------------------------------------------------------------- the caller's side


@dataclass(frozen=True, slots=True)
class Stub:
    """A running server: `url` is its base URL for clients."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def script(self, *rules: Rule, latency: float = 0.0, models: tuple[str, ...] = ("stub",)) -> None:
        """Sets the rules and the seconds before every reply, and forgets what was asked."""
        self._control({"rules": [asdict(rule) for rule in rules], "latency": latency, "models": models})

    def asked(self) -> list[dict[str, Any]]:
        """Each request that came since, as path, body, authorization, headers and second of its arrival."""
        found: list[dict[str, Any]] = self._control()["asked"]
        return found

    def cut_off(self) -> int:
        """How many readers went away before their reply was complete."""
        return int(self._control()["cut_off"])

    def _control(self, given: Any = None) -> dict[str, Any]:
        data = None if given is None else json.dumps(given).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/control", data=data, method="GET" if given is None else "PUT"
        )
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
            state: dict[str, Any] = json.load(answer)
            return state


@contextmanager
def running_stub() -> Iterator[Stub]:
    """A server in a process of its own, ended with the block."""
    environ = {name: value for name, value in os.environ.items() if "OPENAI" not in name}
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).resolve())], stdout=subprocess.PIPE, text=True, env=environ
    )
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        stub = Stub(port)
        yield stub
    finally:
        process.kill()  # hanging replies would keep it from ending by itself
        process.wait(10)
        if process.stdout is not None:
            process.stdout.close()


if __name__ == "__main__":
    serve()
