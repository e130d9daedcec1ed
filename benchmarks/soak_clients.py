"""The clients of `soak.py`, good and bad, and the ledger of what the server told them.

Each question carries a number that no other has, so that a reply shows whose it is. A client that sees something wrong
raises `Wrong`; what may happen to a request while the server is ended is told apart by who calls the client.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import re
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from hostile_parts import formatted, forms, long_line, swollen  # type: ignore[import-not-found,unused-ignore]
from kinds_parts import odt, xlsx, zipped  # type: ignore[import-not-found,unused-ignore]
from pdf_writer import lines, pdf  # type: ignore[import-not-found,unused-ignore]
from test_foreign_bytes import word_file  # type: ignore[import-not-found,unused-ignore]

FORMS = ("What is {}?", "How does {} work?", "Who made {}, and when?", "What is said about {}?", "Why does {} matter?")
UPLOADS = 12  # that stay; beyond these one is deleted for each that comes
FOLLOWED = 60.0  # seconds within which an edited file is searched as it is
CLOSES = 60.0  # seconds within which the server ends who sends half a request
Document = dict[str, Any]


class Wrong(Exception):
    """The server did what it must not do."""


class Refusal(Exception):
    """An error's status where none was expected."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text[:300]}")
        self.status = status


class Torn(Exception):
    """A stream that had begun was cut off."""


@dataclass
class Ledger:
    """What the server acknowledged."""

    answers: dict[str, str] = field(default_factory=dict)  # id of an answer -> digest of its document
    tags: dict[str, str] = field(default_factory=dict)  # number of a question -> id of its answer
    uploads: dict[str, str] = field(default_factory=dict)  # number of a file -> sent, kept, leaving, gone
    live: dict[str, str] = field(default_factory=dict)  # name of an edited file -> the number in its text
    busy: set[str] = field(default_factory=set)  # files that a client is at

    def keep(self, document: Document, tag: str) -> None:
        """Notes a finished answer. Raises `Wrong` for another's answer, or one that came before."""
        id, asked = document["id"], document.get("asked") or document["question"]
        if tag not in asked:
            raise Wrong(f"the answer to question {tag} is to {asked!r}")
        if id in self.answers or tag in self.tags:
            raise Wrong(f"the answer {id} to question {tag} came twice")
        self.answers[id], self.tags[tag] = digest(document), id


@dataclass
class World:
    """The server as its clients know it."""

    url: str
    token: str
    http: httpx2.AsyncClient
    draw: random.Random
    folder: Path  # whose documents are served
    titles: list[str] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    tools: bool = False
    numbers: int = 1_000_000

    def tag(self) -> str:
        """A number that no other request has."""
        self.numbers += 1
        return str(self.numbers)

    def question(self) -> tuple[str, str]:
        """Such a number, and a question that carries it."""
        tag = self.tag()
        return tag, f"{self.draw.choice(FORMS).format(self.draw.choice(self.titles))} ({tag})"

    async def json(self, method: str, path: str, expected: int = 200, **more: Any) -> Any:
        """The reply's document. Raises `Refusal` for another status."""
        reply = await self.http.request(method, path, **more)
        if reply.status_code != expected:
            raise Refusal(reply.status_code, f"{method} {path}: {reply.text}")
        return reply.json() if reply.content else None


def digest(document: Document) -> str:
    """Equal for equal documents."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def letters(text: str) -> str:
    """A text without signs, as it is in every dialect."""
    return re.sub(r"[\W_]", "", text)


# ---------------------------------------------------------------- good clients that ask


async def ask(world: World) -> None:
    """A question and its whole answer."""
    tag, question = world.question()
    style = world.draw.choice(("long", "short", "list"))
    world.ledger.keep(await world.json("POST", "/v1/answers", json={"question": question, "style": style}), tag)


async def ask_on(world: World) -> None:
    """A question after another whose answer is kept."""
    tag, _ = world.question()
    if not world.ledger.answers:
        return
    id = world.draw.choice(list(world.ledger.answers))
    earlier = await world.json("GET", f"/v1/answers/{id}")
    turn = {"question": earlier["question"], "answer": earlier["text"][:2_000], "id": id}
    asked = {"question": f"When was it made? ({tag})", "history": [turn]}
    world.ledger.keep(await world.json("POST", "/v1/answers", json=asked), tag)


async def stream(world: World) -> None:
    """A question whose drafts are read as they come."""
    tag, question = world.question()
    events = [event async for event in _events(world, "/v1/answers", {"question": question})]
    _keep_stream(world, events, tag)


def _keep_stream(world: World, events: list[tuple[str, str]], tag: str) -> None:
    names = [name for name, _ in events]
    if names[:1] != ["begun"] or set(names[1:-1]) - {"draft"}:
        raise Wrong(f"the stream of question {tag} has the events {names}")
    if names[-1] in ("cancelled", "failed"):
        raise Refusal(409, f"the stream of question {tag} ended with {events[-1]}")
    if names[-1] != "done":
        raise Wrong(f"the stream of question {tag} has no end but {names[-1]}")
    id, documents = json.loads(events[0][1])["id"], [json.loads(data) for _, data in events[1:]]
    if any(tag not in (document.get("asked") or document["question"]) for document in documents):
        raise Wrong(f"the stream of question {tag} has drafts of another")
    if documents[-1]["id"] != id:
        raise Wrong(f"the stream {id} ended with the answer {documents[-1]['id']}")
    world.ledger.keep(documents[-1], tag)


async def _events(world: World, path: str, asked: Document) -> AsyncIterator[tuple[str, str]]:
    """Names and data; raises `Torn` if the stream is cut off after its first event."""
    name, begun = "", False
    try:
        async with world.http.stream("POST", path, json={**asked, "stream": True}) as reply:
            if reply.status_code != 200:
                raise Refusal(reply.status_code, (await reply.aread()).decode())
            async for line in reply.aiter_lines():
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    begun = True
                    yield name, line[6:]
                    name = ""
    except httpx2.TransportError as error:
        if begun:
            raise Torn(f"{path}: {error!r}") from error
        raise


async def chat(world: World) -> None:
    """A question in OpenAI's form."""
    tag, question = world.question()
    asked = {"model": "best", "messages": [{"role": "user", "content": question}]}
    reply = await world.json("POST", "/v1/chat/completions", json=asked)
    message = reply["choices"][0]["message"]
    await _keep_text(world, tag, reply["id"].removeprefix("chatcmpl-"), message.get("content") or "")


async def chat_stream(world: World) -> None:
    """The same as a stream."""
    tag, question = world.question()
    asked = {"model": "best", "messages": [{"role": "user", "content": question}]}
    data = [event async for _, event in _events(world, "/v1/chat/completions", asked)]
    if data[-1] != "[DONE]" or data.count("[DONE]") != 1:
        raise Wrong(f"the stream of question {tag} ends with {data[-1]}")
    chunks = [json.loads(line) for line in data[:-1]]
    if "error" in chunks[-1]:
        raise Refusal(int(chunks[-1]["error"]["code"]), str(chunks[-1]))
    text = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks)
    await _keep_text(world, tag, chunks[0]["id"].removeprefix("chatcmpl-"), text)


async def respond_stream(world: World) -> None:
    """OpenAI's responses as a stream."""
    tag, question = world.question()
    events = [event async for event in _events(world, "/v1/responses", {"model": "best", "input": question})]
    documents = [json.loads(data) for _, data in events]
    if [document["sequence_number"] for document in documents] != list(range(len(documents))):
        raise Wrong(f"the events of question {tag} are not numbered in order")
    if events[-1][0] == "response.failed":
        raise Refusal(409, events[-1][1])
    if events[-1][0] != "response.completed":
        raise Wrong(f"the stream of question {tag} ends with {events[-1][0]}")
    text = "".join(event["delta"] for event in documents if event["type"] == "response.output_text.delta")
    await _keep_text(world, tag, documents[-1]["response"]["id"].removeprefix("resp_"), text)


async def _keep_text(world: World, tag: str, id: str, text: str) -> None:
    """Compares what another dialect said with the kept answer."""
    kept = await world.json("GET", f"/v1/answers/{id}")
    if kept["status"] == "answered" and (
        any(letters(claim["text"]) not in letters(text) for claim in kept["claims"])
        or len(letters(text)) > 1.05 * len(letters(kept["text"])) + 20
    ):
        raise Wrong(f"question {tag} was told {text!r}, but kept is {kept['text']!r}")
    world.ledger.keep(kept, tag)


async def check(world: World) -> None:
    """A text with a passage that proves it."""
    tag = world.tag()
    claim = f"The lamp of Port Quorl was lit {tag} times."
    asked = {"text": f"{claim[:-1]} [1].", "passages": [{"text": claim}]}
    answer = await world.json("POST", "/v1/check", json=asked)
    if [tag in claim["text"] for claim in answer["claims"]] != [True]:
        raise Wrong(f"the check of {tag} is of {answer['claims']}")


async def search(world: World) -> None:
    """A search, and one of the passages that it found."""
    tag = world.tag()
    query = f"{world.draw.choice(world.titles)} {tag}"
    hits = await world.json("POST", "/v1/search", json={"query": query, "k": 5})
    if tag not in hits["query"]:
        raise Wrong(f"the search {tag} was answered with that for {hits['query']!r}")
    for hit in hits["hits"][:1]:
        id = hit["passage"]["id"]
        with suppress_gone():
            passage = await world.json("GET", f"/v1/passages/{id}")
            if passage["passage"]["id"] != id:
                raise Wrong(f"passage {id} came as {passage['passage']['id']}")


class suppress_gone:
    """What was deleted between two requests is a 404."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        return isinstance(error, Refusal) and error.status == 404


async def look(world: World) -> None:
    """What the page and a supervisor ask for."""
    for path in world.draw.sample(("/", "/v1/methods", "/v1/models", "/v1/answers", "/openapi.json", "/metrics"), 2):
        reply = await world.http.get(path)
        if reply.status_code != 200:
            raise Refusal(reply.status_code, f"{path}: {reply.text}")


async def tool(world: World) -> None:
    """An assistant's question over the Model Context Protocol."""
    if not world.tools:
        return
    tag, question = world.question()
    params = {"name": "ask", "arguments": {"question": question}}
    asked = {"jsonrpc": "2.0", "id": int(tag), "method": "tools/call", "params": params}
    headers = {"Accept": "application/json, text/event-stream"}
    reply = await world.http.post("/mcp", json=asked, headers=headers)
    if reply.status_code != 200:
        raise Refusal(reply.status_code, f"/mcp: {reply.text}")
    parts = [line[6:] for line in reply.text.splitlines() if line.startswith("data: {")] or [reply.text]
    results = [message for message in map(json.loads, parts) if "result" in message or "error" in message]
    if [message["id"] for message in results] != [int(tag)]:
        raise Wrong(f"the tool's call {tag} was replied with {reply.text[:300]!r}")
    result = results[0].get("result", {})
    if "structuredContent" not in result:
        raise Refusal(409, f"the tool's call {tag} failed: {results[0]}")
    id = result["structuredContent"]["id"]
    world.ledger.keep(await world.json("GET", f"/v1/answers/{id}"), tag)


# ---------------------------------------------------------------- good clients that send files


def _note(tag: str) -> str:
    return f"The lantern of Port Quorl {tag} was lit in 1824 by Ann Pell. It stands on a rock by the sea."


KINDS: dict[str, Callable[[str], bytes]] = {
    ".txt": lambda text: text.encode(),
    ".html": lambda text: f"<h1>Port Quorl</h1><p>{text}".encode(),
    ".pdf": lambda text: bytes(pdf([lines(*text.split(". "))])),
    ".odt": lambda text: bytes(odt(f"<text:p>{text}</text:p>")),
}


async def upload(world: World) -> None:
    """A file that is found as soon as it was taken; one of those before it is deleted."""
    tag, kind = world.tag(), world.draw.choice(list(KINDS))
    name, uploads = f"note-{tag}{kind}", world.ledger.uploads
    uploads[tag] = "sent"
    with _at(world, tag):
        files = [("file", (name, KINDS[kind](_note(tag))))]
        report = await world.json("POST", "/v1/documents", files=files)
        if report != {"read": [name], "skipped": []}:
            raise Wrong(f"the file {name} was replied to with {report}")
        uploads[tag] = "kept"
        if not await is_found(world, tag):
            raise Wrong(f"the file {name} is not found after it was taken")
    kept = [old for old, state in uploads.items() if state == "kept" and old not in world.ledger.busy]
    if len(kept) > UPLOADS:
        await _delete(world, world.draw.choice(kept))


async def edit(world: World) -> None:
    """A file of the served folder that is written, changed or deleted; searches then know it as it is."""
    live, busy, tag = world.ledger.live, world.ledger.busy, world.tag()
    free = [name for name in live if name not in busy]
    name = world.draw.choice(free) if len(live) > UPLOADS and free else f"live-{tag}.txt"
    with _at(world, name):
        old = live.pop(name, None)
        if old is not None and world.draw.random() < 0.4:
            (world.folder / name).unlink()
        else:
            (world.folder / name).write_text(_note(tag), "utf-8")
            live[name] = tag
        end = time.monotonic() + FOLLOWED
        while await is_found(world, tag) is not (name in live) or (old is not None and await is_found(world, old)):
            if time.monotonic() > end:
                raise Wrong(f"the file {name} is not searched as it is, after {FOLLOWED:.0f} s")
            await asyncio.sleep(0.2)


class _at:
    """While a client is at a file, nobody else is."""

    def __init__(self, world: World, tag: str) -> None:
        self._busy, self._tag = world.ledger.busy, tag

    def __enter__(self) -> None:
        self._busy.add(self._tag)

    def __exit__(self, *error: object) -> None:
        self._busy.discard(self._tag)


async def _delete(world: World, tag: str) -> None:
    with _at(world, tag):
        numbers = (await list_files(world))[tag]
        if len(numbers) != 1:
            raise Wrong(f"the file {tag} is listed {len(numbers)} times")
        world.ledger.uploads[tag] = "leaving"
        await world.json("DELETE", f"/v1/documents/{numbers[0]}", expected=204)
        world.ledger.uploads[tag] = "gone"
        if await is_found(world, tag):
            raise Wrong(f"the file {tag} is found after it was deleted")


async def list_files(world: World) -> dict[str, list[int]]:
    """For each file that a client ever sent the numbers of its documents."""
    numbers: dict[str, list[int]] = {tag: [] for tag in list(world.ledger.uploads)}
    offset, total = 0, 1
    while offset < total:
        page = await world.json("GET", "/v1/documents", params={"offset": offset, "limit": 200})
        for row in page["documents"]:
            match = re.search(r"note-(\d+)\.", row["path"] or "")
            if match and match[1] in numbers and row["number"] not in numbers[match[1]]:
                numbers[match[1]].append(row["number"])
        offset, total = offset + 200, page["total"]
    return numbers


async def is_found(world: World, tag: str) -> bool:
    """Whether a search finds the file with this number."""
    hits = await world.json("POST", "/v1/search", json={"query": f"lantern of Port Quorl {tag}", "k": 20})
    return any(f"Quorl {tag}" in hit["passage"]["text"] for hit in hits["hits"])


# ---------------------------------------------------------------- bad clients


def make_hostile() -> dict[str, bytes]:
    """Files that are made to hurt who reads them, by name."""
    return {
        "deep.pdf": forms(24),
        "self.pdf": forms(0),
        "line.pdf": long_line(40_000),
        "broken.pdf": b"%PDF-1.4 nothing",
        "unclosed.html": formatted(4_500),
        "misclosed.html": formatted(4_500, "</i>"),
        "swollen.docx": swollen(megabytes=210),
        "nested.odt": odt("<text:span>" * 20_000 + "</text:span>" * 20_000),
        "flat.odt": odt("<text:p>" + "a" * (18 << 20) + "</text:p>"),
        "far.xlsx": xlsx({"s": '<row><c r="XFD1" t="s"><v>0</v></c></row>' * 40_000}, ["<t>far</t>"]),
        "part.odt": zipped({"content.bin": "0" * (210 << 20)}),
        "noise.txt": random.Random(0).randbytes(50_000),
        "empty.txt": b"",
        "run.exe": b"MZ",
    }


async def upload_hostile(world: World) -> None:
    """One of them; the report has its name."""
    name = world.draw.choice(list(HOSTILE))
    content = HOSTILE[name] + (world.tag().encode() if name.endswith((".pdf", ".html")) else b"")
    report = await world.json("POST", "/v1/documents", files=[("file", (name, content))])
    names = [*report["read"], *(row["name"] for row in report["skipped"])]
    if names != [name]:
        raise Wrong(f"the hostile file {name} was replied to with {report}")


def make_drafts() -> dict[str, bytes]:
    """Word documents, the first one good."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "draft.docx")
        bodies = f"<w:p><w:r><w:t>{_note('0')}</w:t></w:r></w:p>", "<w:p/>" * 4_000_000
        made = [word_file(path, body).read_bytes() for body in bodies]
    return {"good": made[0], "wide": made[1], "swollen": swollen(megabytes=210), "broken": b"PK"}


async def check_draft(world: World) -> None:
    """One of them, which is checked or refused in words."""
    name = world.draw.choice(list(DRAFTS))
    reply = await world.http.post("/v1/check/document", content=DRAFTS[name], params={"format": "json"})
    if reply.status_code != 200 and (name == "good" or reply.status_code != 422):
        raise Refusal(reply.status_code, f"the draft {name}: {reply.text}")


async def go_away(world: World) -> None:
    """Reads the beginning of a stream and goes away."""
    _, question = world.question()
    left = world.draw.randint(0, 3)
    async for _ in _events(world, "/v1/answers", {"question": question, "style": "report"}):
        left -= 1
        if left < 0:
            return


async def cancel(world: World) -> None:
    """Begins a stream and cancels its answer by id; the stream ends in order."""
    tag, question = world.question()
    names = []
    async for name, data in _events(world, "/v1/answers", {"question": question, "style": "report"}):
        if name == "begun":
            reply = await world.http.delete(f"/v1/answers/{json.loads(data)['id']}")
            if reply.status_code not in (204, 404):
                raise Refusal(reply.status_code, reply.text)
        names.append(name)
    if names[-1] not in ("cancelled", "done"):
        raise Wrong(f"the cancelled stream of question {tag} ends with {names[-1]}")


async def read_slowly(world: World) -> None:
    """Reads a stream some bytes at a time, and the whole of it in the end; or never reads at all."""
    tag, question = world.question()
    body = json.dumps({"question": question, "style": "report", "stream": True}).encode()
    async with _connection(world, 1_024) as (reader, writer):
        writer.write(_head(world, "POST", "/v1/answers", len(body)) + body)
        if world.draw.random() < 0.3:
            await asyncio.sleep(20)
            return
        received = b""
        for _ in range(40):
            received += await reader.read(200)
            await asyncio.sleep(0.25)
        received += await reader.read()
    if not received.startswith(b"HTTP/1.1 200"):
        raise Refusal(int(received[9:12] or b"0"), received.decode(errors="replace"))
    parts = [part for part in received.decode().partition("\r\n\r\n")[2].split("\n\n") if part.startswith("event: ")]
    events = [(part.partition("\n")[0][7:], part.partition("data: ")[2]) for part in parts]
    if events[-1][0] in ("begun", "draft"):
        raise Torn(f"the slowly read stream of question {tag}")
    _keep_stream(world, events, tag)


def _head(world: World, method: str, path: str, length: int, version: str = "1.0") -> bytes:
    """The headers of a request; a reply in HTTP 1.0 is not chunked."""
    sent = [f"{method} {path} HTTP/{version}", "Host: 127.0.0.1", f"Authorization: Bearer {world.token}"]
    return "\r\n".join([*sent, "Content-Type: application/json", f"Content-Length: {length}", "", ""]).encode()


@asynccontextmanager
async def _connection(
    world: World, buffer: int = 65_536
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    address, line = httpx2.URL(world.url), socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    line.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(line, (address.host, address.port))
    except OSError:
        line.close()
        raise
    reader, writer = await asyncio.open_connection(sock=line, limit=buffer)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def send_half_headers(world: World) -> None:
    """Headers that never end, a byte at a time; the server ends them."""
    async with _connection(world) as (reader, writer):
        dripping = asyncio.ensure_future(_drip(writer, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "))
        try:
            with suppress(ConnectionError):  # the server cuts off who still sends
                await asyncio.wait_for(reader.read(), CLOSES)
        except TimeoutError:
            raise Wrong(f"half-sent headers were not ended in {CLOSES:.0f} s") from None
        finally:
            dripping.cancel()


async def _drip(writer: asyncio.StreamWriter, start: bytes) -> None:
    writer.write(start)
    with suppress(ConnectionError):
        while True:
            await asyncio.sleep(0.5)
            writer.write(b"x")
            await writer.drain()


async def send_half_body(world: World) -> None:
    """A body of which half comes; the server replies 408, or ends it."""
    path = world.draw.choice(("/v1/answers", "/v1/documents", "/mcp"))
    async with _connection(world) as (reader, writer):
        head = _head(world, "POST", path, 1_000, "1.1")
        if path == "/v1/documents":
            head = head.replace(b"application/json", b"multipart/form-data; boundary=x")
        writer.write(head + b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nThe lamp')
        if world.draw.random() < 0.3:
            return
        try:
            reply = await asyncio.wait_for(reader.read(), CLOSES)
        except TimeoutError:
            raise Wrong(f"a half-sent body was not ended in {CLOSES:.0f} s") from None
    if reply and not reply.startswith(b"HTTP/1.1 408"):
        raise Refusal(int(reply[9:12]), reply.decode(errors="replace"))


MALFORMED = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /\r\n\r\n",
    b"\r\n\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nno colon\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
    b"GET /../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    b"GET /%2e%2e/%00/%ff HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    b"GET /v1/answers/\xff HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    b"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
    b"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
    b"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
    b"GET /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    b"CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: attacker.example\r\nConnection: close\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 30,
)
MISFITS: tuple[tuple[str, str, bytes], ...] = (
    ("POST", "/v1/answers", b"["),
    ("POST", "/v1/answers", b"[" * 100_000),
    ("POST", "/v1/answers", b'{"question": "\xff"}'),
    ("POST", "/v1/answers", b'{"question": ""}'),
    ("POST", "/v1/answers", b'{"question": "\\ud800", "style": "none"}'),
    ("POST", "/v1/answers", b'{"question": "Who?", "method": "bst"}'),
    ("POST", "/v1/answers", b'{"question": "Who?", "k": 1e999}'),
    ("POST", "/v1/answers", b'{"question": "' + b"x" * 200_000 + b'"}'),
    ("POST", "/v1/answers", b"x" * 5_000_000),
    ("POST", "/v1/chat/completions", b'{"model": "best", "messages": []}'),
    ("POST", "/v1/responses", b'{"model": 5}'),
    ("POST", "/v1/check", b'{"text": "a", "passages": [{"text": ""}]}'),
    ("POST", "/v1/search", b'{"query": "a", "k": 0}'),
    ("POST", "/v1/documents", b"no form"),
    ("POST", "/mcp", b'{"jsonrpc": "1.0"}'),
    ("PUT", "/v1/answers", b""),
    ("TRACE", "/healthz", b""),
    ("DELETE", "/v1/documents/999999999", b""),
    ("DELETE", "/v1/uploads/..", b""),
    ("GET", "/v1/documents?offset=-1", b""),
    ("GET", "/v1/passages/nothing", b""),
    ("GET", "/v1/nothing", b""),
)


async def send_garbage(world: World) -> None:
    """Bytes that are no request, or hardly one; whatever comes back, it is no error of the server's."""
    async with _connection(world) as (reader, writer):
        writer.write(world.draw.choice(MALFORMED))
        with suppress(TimeoutError, ConnectionError):
            reply = await asyncio.wait_for(reader.read(), 15)
            for status in re.findall(rb"^HTTP/1\.1 (5\d\d)", reply, re.MULTILINE):
                raise Refusal(int(status), reply.decode(errors="replace"))


async def send_misfit(world: World) -> None:
    """A request that asks for what there is not; the reply says so."""
    method, path, body = world.draw.choice(MISFITS)
    headers = {"Content-Type": "application/json"}
    if world.draw.random() < 0.2:
        headers["Authorization"] = "Bearer wrong"
    try:
        reply = await world.http.request(method, path, content=body, headers=headers)
    except httpx2.WriteError:  # where the server closes while we still send
        return
    if not 400 <= reply.status_code < 500:
        raise Refusal(reply.status_code, f"{method} {path} {body[:80]!r}: {reply.text}")


HOSTILE, DRAFTS = make_hostile(), make_drafts()
Client = Callable[[World], Awaitable[None]]
# How often each comes, of all that come.
CLIENTS: dict[Client, int] = {
    ask: 14,
    ask_on: 5,
    stream: 12,
    chat: 6,
    chat_stream: 6,
    respond_stream: 5,
    tool: 5,
    check: 6,
    search: 14,
    look: 6,
    upload: 6,
    edit: 6,
    upload_hostile: 2,
    check_draft: 3,
    go_away: 6,
    cancel: 3,
    read_slowly: 4,
    send_half_headers: 4,
    send_half_body: 4,
    send_garbage: 6,
    send_misfit: 8,
}
ASKERS = frozenset({ask, ask_on, stream, chat, chat_stream, respond_stream, tool, go_away, cancel, read_slowly})
