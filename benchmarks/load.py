"""The server under load, on loopback: `toulmin serve` in a process of its own, over an index of `pool_corpus`.

    python benchmarks/load.py [--seconds 60] [--clients 64] [--index DIR] [--first]     --first: the last part alone

Once the idle server has made the vectors of all passages:

1. `wrk` (https://github.com/wg/wrk; Debian's package of that name) sends dev questions from so many connections, first
   to /v1/search, then to /v1/answers with the embedded writer: errors, median, 99th percentile, and the server's memory
   after ten seconds and at its largest later.
2. Eight connections search while clients that asked for streams never read them: how much the others' median rises,
   the middle one of five ratios of neighbouring runs.
3. 500 streams are cancelled: by their clients going away, half of them before and half after the first event; what is
   still at work then, and until when.
4. Before all this, the first sentence that a judge supports, in streams asked one after another: milliseconds from
   the request.

The load tool and the server share the machine, so requests a second are few; what counts is that nothing fails.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import data
import httpx2
from processes import resident
from served import serving

from toulmin.indexing.store import is_index
from toulmin.indexing.update import update

WARM = 10.0  # seconds after which memory should have its size
QUIET_CLIENTS, NEVER_READ, ROUNDS = 8, 4, 5
STREAMS, BESIDE, WOUND_UP = 500, 50, 30.0
SCRIPT = """
local bodies = {}
for line in io.lines("%s") do bodies[#bodies + 1] = line end
local turn = 0
request = function()
  turn = turn %% #bodies + 1
  return wrk.format("POST", "%s", {["Content-Type"] = "application/json"}, bodies[turn])
end
"""
_UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


@dataclass(frozen=True, slots=True)
class Load:
    """What the load tool saw; times in milliseconds."""

    rate: float
    median: float
    p99: float
    errors: str


@dataclass(frozen=True, slots=True)
class Server:
    """A running server, and the questions that it is asked."""

    url: str
    pid: int
    questions: list[str]

    @property
    def memory(self) -> float:
        """Its resident memory in MB."""
        return resident(self.pid)

    @property
    def running(self) -> int:
        """How many answers it works on."""
        count: int = httpx2.get(f"{self.url}/readyz").json()["running"]
        return count


# ---------------------------------------------------------------- the load tool


def wrk(server: Server, path: str, bodies: list[dict[str, Any]], clients: int, seconds: float) -> Load:
    """That many connections, each with the next body as soon as the last was answered."""
    with tempfile.TemporaryDirectory() as place:
        lines, script = Path(place) / "bodies.jsonl", Path(place) / "script.lua"
        lines.write_text("".join(json.dumps(body) + "\n" for body in bodies), "utf-8")
        script.write_text(SCRIPT % (lines, path), "utf-8")
        limits = ["-t1", f"-c{clients}", f"-d{seconds:.0f}s", "--timeout", "60s"]
        command = ["wrk", *limits, "--latency", "-s", str(script), server.url]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    errors = [line.strip() for line in output.splitlines() if "Socket errors" in line or "Non-2xx" in line]
    rate = re.search(r"Requests/sec:\s+([\d.]+)", output)
    assert rate is not None, output
    return Load(float(rate[1]), _percentile(output, 50), _percentile(output, 99), "; ".join(errors) or "none")


def _percentile(output: str, share: int) -> float:
    match = re.search(rf"{share}%\s+([\d.]+)(us|ms|s|m)\b", output)
    assert match is not None, output
    return float(match[1]) * _UNITS[match[2]]


class Memory(threading.Thread):
    """Looks at the server's memory twice a second until it is ended."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self._server, self._over = server, threading.Event()
        self.seen: list[tuple[float, float]] = []

    def run(self) -> None:
        """Notes seconds and MB."""
        began = time.monotonic()
        while not self._over.wait(0.5):
            self.seen.append((time.monotonic() - began, self._server.memory))

    def end(self) -> tuple[float, float]:
        """MB after the first seconds, and the most later."""
        self._over.set()
        self.join()
        later = [size for at, size in self.seen if at >= WARM] or [self.seen[-1][1]]
        return later[0], max(later)


def press(server: Server, path: str, bodies: list[dict[str, Any]], clients: int, seconds: float) -> None:
    """One line of the table."""
    memory = Memory(server)
    memory.start()
    load = wrk(server, path, bodies, clients, seconds)
    early, most = memory.end()
    print(
        f"{path:14} {clients} clients, {seconds:.0f} s: {load.rate:.0f} a second, median {load.median:.0f} ms,"
        f" 99 % {load.p99:.0f} ms ({load.p99 / load.median:.1f} times), errors: {load.errors};"
        f" memory {early:.0f} MB after {WARM:.0f} s, {most:.0f} MB at most later ({most / early - 1:+.1%})",
        flush=True,
    )


# ---------------------------------------------------------------- clients that are no good


@contextmanager
def never_reading(server: Server, count: int) -> Iterator[None]:
    """Clients that ask for streamed reports again and again, one after another on a line, and never read a byte."""
    address = httpx2.URL(server.url)
    clients = []
    for n in range(count):
        body = json.dumps({"question": server.questions[n], "style": "report", "stream": True}).encode()
        head = f"POST /v1/answers HTTP/1.1\r\nHost: {address.netloc.decode()}\r\nContent-Length: {len(body)}\r\n"
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_024)
        client.connect((address.host, address.port or 80))
        client.sendall(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
        clients.append(client)
    try:
        yield
    finally:
        for client in clients:
            client.close()


def beside_never_readers(server: Server, seconds: float) -> None:
    """How much others wait longer for a search while some clients never read."""
    bodies = [{"query": question} for question in server.questions]
    ratios = []
    for _ in range(ROUNDS):
        alone = wrk(server, "/v1/search", bodies, QUIET_CLIENTS, seconds).median
        with never_reading(server, NEVER_READ):
            time.sleep(2.0)  # their answers are done by then: what is measured is that they are not read
            ratios.append(wrk(server, "/v1/search", bodies, QUIET_CLIENTS, seconds).median / alone)
    listed = ", ".join(f"{ratio:.2f}" for ratio in sorted(ratios))
    print(f"beside {NEVER_READ} clients that never read, searches take {median(ratios):.2f} times as long ({listed})")


async def cancel_streams(server: Server) -> None:
    """Streams whose clients go away; what is left of their work."""
    limits = httpx2.Limits(max_connections=BESIDE)
    async with httpx2.AsyncClient(base_url=server.url, timeout=60, limits=limits) as client:
        turns = asyncio.Semaphore(BESIDE)

        async def question(n: int) -> None:
            asked = {"question": server.questions[n % len(server.questions)], "style": "report", "stream": True}
            async with turns, client.stream("POST", "/v1/answers", json=asked) as reply:
                if n % 2:
                    await anext(reply.aiter_lines())

        await asyncio.gather(*(question(n) for n in range(STREAMS)))
    began = time.monotonic()
    at_once = server.running
    while (left := server.running) and time.monotonic() - began < WOUND_UP:
        await asyncio.sleep(0.02)
    print(
        f"{STREAMS} cancelled streams: {at_once} at work when the last had gone, {left} of them"
        f" {time.monotonic() - began:.2f} s later"
    )


# ---------------------------------------------------------------- the first sentence


def first_sentences(server: Server, count: int) -> None:
    """From a request to the first draft that holds a supported claim."""
    times, none = [], 0
    with httpx2.Client(base_url=server.url, timeout=60) as client:
        for question in server.questions[:count]:
            milliseconds = _first_supported(client, question)
            times += [milliseconds] if milliseconds is not None else []
            none += milliseconds is None
    times.sort()
    print(
        f"first supported sentence of {len(times)} streams: median {median(times):.0f} ms,"
        f" 95 % {times[int(0.95 * len(times))]:.0f} ms, at most {times[-1]:.0f} ms; {none} had none"
    )


def _first_supported(client: httpx2.Client, question: str) -> float | None:
    began = time.perf_counter()
    with client.stream("POST", "/v1/answers", json={"question": question, "stream": True}) as reply:
        for line in reply.iter_lines():
            if line.startswith("data: ") and '"label":"supported"' in line:
                return 1e3 * (time.perf_counter() - began)
    return None


def wait_for_vectors(server: Server) -> None:
    """Until every passage has one: an idle server makes them ahead."""
    while not (made := httpx2.get(f"{server.url}/v1/documents").json()["encoded"]) or made["done"] < made["total"]:
        time.sleep(1)


def main() -> None:
    """Runs all parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--index", type=Path, help="an index of pool_corpus (default: one is made)")
    parser.add_argument("--first", action="store_true", help="only time first sentences")
    chosen = parser.parse_args()
    if shutil.which("wrk") is None and not chosen.first:
        raise SystemExit("The load tool `wrk` is not there; install it (on Debian: apt-get install wrk).")
    questions = [row["question"] for row in data.rows("pool_questions", "dev")]
    with tempfile.TemporaryDirectory() as place:
        index = chosen.index or Path(place) / "index"
        if not is_index(index):
            update(index, [data.path("pool_corpus")])
        with serving("--index", str(index)) as process:
            server = Server(process.url, process.pid, questions)
            first_sentences(server, 100)
            if chosen.first:
                return
            wait_for_vectors(server)
            press(server, "/v1/search", [{"query": each} for each in questions], chosen.clients, chosen.seconds)
            press(server, "/v1/answers", [{"question": each} for each in questions], chosen.clients, chosen.seconds)
            beside_never_readers(server, chosen.seconds / 6)
            asyncio.run(cancel_streams(server))


if __name__ == "__main__":
    main()
