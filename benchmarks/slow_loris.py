"""Good clients beside 2,000 connections that never finish a header, and beside 200 hostile files that are being read.

    python benchmarks/slow_loris.py [--seconds 60] [--clients 20] [--connections 2000] [--files 200] [--docs FOLDER]

Each good client searches, and every thirtieth time asks a question, with three seconds or so between two requests, so
that two cores can do it; `/healthz` is asked twice a second. First alone, then beside the slow connections (from a
process of their own, which gives way to others: in life it is another machine; one that the server ends is opened
again), alone once more, then while the files of `soak_clients.HOSTILE`, each some bytes different, are read: fifty
an upload, one upload after another. What they take is compared with the mean of the two times alone. Exits with 1 if a
good request fails, or if `/healthz` takes over a second or the median question over twice its usual time while the
files are read.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import httpx2
from headings import heading
from served import Server, server_with_index
from soak_clients import HOSTILE, Refusal, World, Wrong, ask, search

from toulmin import demo

TOKEN = "a-token-for-the-soak"
PATIENCE = 600.0
BYTE_EVERY, AGAIN = 0.5, 3.0  # seconds between two bytes, and until one that was ended is opened again
QUESTION_EVERY = 30  # requests of a good client
AN_UPLOAD = 50  # files, as many as the server takes
HEAD = b"GET /v1/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


@dataclass
class Phase:
    """What good clients saw during a time: seconds by kind of request, and what failed."""

    name: str
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: list[str] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def time(self, kind: str, request: Callable[[], Awaitable[object]]) -> None:
        """One request; also one that is begun in this time and ends later."""
        began = time.monotonic()
        try:
            await request()
        except (Wrong, Refusal, httpx2.TransportError) as error:
            self.failures.append(f"{kind}: {error!r}")
        self.seconds[kind].append(time.monotonic() - began)

    def middle(self, kind: str) -> float:
        """The median."""
        return median(self.seconds[kind]) if self.seconds[kind] else float("nan")


async def be_good(world: World, phase: Phase) -> None:
    """A client as people are, until the phase is over."""
    number = world.draw.randrange(QUESTION_EVERY)
    while not phase.over.is_set():
        await asyncio.sleep(world.draw.uniform(2, 4))
        number += 1
        kind = search if number % QUESTION_EVERY else ask
        await phase.time(kind.__name__, lambda kind=kind: kind(world))  # type: ignore[misc]


async def look_after(world: World, phase: Phase) -> None:
    """Asks whether the server lives, until the phase is over."""
    while not phase.over.is_set():
        await asyncio.sleep(0.5)
        await phase.time("healthz", lambda: world.json("GET", "/healthz"))


async def run_phase(name: str, world: World, clients: int, beside: Awaitable[object]) -> Phase:
    """Good clients for as long as what is beside them lasts."""
    phase = Phase(name)
    good = [asyncio.create_task(be_good(world, phase)) for _ in range(clients)]
    good.append(asyncio.create_task(look_after(world, phase)))
    try:
        await beside
    finally:
        phase.over.set()
        await asyncio.gather(*good)
    middles = ", ".join(f"{kind} {phase.middle(kind):.2f} s" for kind in phase.seconds)
    print(f"{name}: {middles}; {len(phase.failures)} failures", file=sys.stderr, flush=True)
    return phase


# ---------------------------------------------------------------- what is beside them


async def be_slow(url: str, count: int) -> None:
    """So many connections that send a header a byte at a time; says when they are there, and what became of them."""
    address, opened, ended = httpx2.URL(url), 0, 0

    async def drip(turn: float) -> None:
        nonlocal opened, ended
        await asyncio.sleep(turn)
        while True:
            try:
                _, writer = await asyncio.open_connection(address.host, address.port)
                opened += 1
                if opened == count:
                    print("all are there", flush=True)
                writer.write(HEAD)
                while True:
                    await asyncio.sleep(BYTE_EVERY)
                    writer.write(b"x")
                    await writer.drain()
            except OSError:
                ended += 1
                await asyncio.sleep(AGAIN)

    os.nice(5)
    drips = [asyncio.create_task(drip(2 * n / count)) for n in range(count)]
    await asyncio.to_thread(sys.stdin.read)  # until who started this closes it
    print(json.dumps({"opened": opened, "ended": ended}), flush=True)
    for task in drips:
        task.cancel()


async def beside_slow(url: str, count: int, seconds: float) -> str:
    """Runs them in a process of their own; what became of them."""
    pipe = asyncio.subprocess.PIPE
    command = [sys.executable, __file__, "--slow", url, "--connections", str(count)]
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdout is not None
    await process.stdout.readline()
    await asyncio.sleep(seconds)
    out, _ = await process.communicate(b"")  # which ends its input
    counts = json.loads(out)
    return f"{counts['opened']:,} connections were opened, of which the server ended {counts['ended']:,}"


async def send_hostile(world: World, count: int) -> str:
    """The files, one upload after another; how many were read and left out."""
    kinds, names, read, skipped, began = sorted(HOSTILE), [], 0, 0, time.monotonic()
    for number in range(count):
        kind = kinds[number % len(kinds)]
        names.append((f"{number}-{kind}", HOSTILE[kind] + (b"%d" % number) * (not kind.endswith(("x", "t")))))
    for first in range(0, count, AN_UPLOAD):
        files = [("file", file) for file in names[first : first + AN_UPLOAD]]
        report = await world.json("POST", "/v1/documents", files=files, timeout=7_200)
        read, skipped = read + len(report["read"]), skipped + len(report["skipped"])
    return f"{count} hostile files in {time.monotonic() - began:.0f} s: {read} read, {skipped} left out and named"


# ---------------------------------------------------------------- the whole


async def measure(world: World, chosen: argparse.Namespace) -> tuple[list[Phase], list[str]]:
    """The four phases, and what was beside them."""
    page = await world.json("GET", "/v1/documents", params={"limit": 200})
    world.titles = [row["title"] for row in page["documents"] if row["title"]]
    notes: list[str] = []

    async def note(work: Awaitable[str]) -> None:
        notes.append(await work)

    await run_phase("warm", world, chosen.clients, asyncio.sleep(chosen.seconds / 4))
    slow = note(beside_slow(world.url, chosen.connections, chosen.seconds))
    phases = [
        await run_phase("alone", world, chosen.clients, asyncio.sleep(chosen.seconds)),
        await run_phase(f"{chosen.connections:,} slow connections", world, chosen.clients, slow),
        await run_phase("alone again", world, chosen.clients, asyncio.sleep(chosen.seconds)),
    ]
    if chosen.files:
        hostile = note(send_hostile(world, chosen.files))
        phases.append(await run_phase(f"{chosen.files} hostile files", world, chosen.clients, hostile))
    return phases, notes


def report(phases: list[Phase], notes: list[str]) -> list[str]:
    """Prints the table; what does not hold."""
    usual = {kind: (phases[0].middle(kind) + phases[2].middle(kind)) / 2 for kind in phases[0].seconds}
    wrong = []
    print("| beside | request | times | median s | of usual | 95 % | most |\n|---|---|---|---|---|---|---|")
    for phase in phases:
        for kind, times in sorted(phase.seconds.items()):
            times = sorted(times)
            ratio = phase.middle(kind) / usual[kind]
            row = f"{phase.middle(kind):.3f} | {ratio:.2f} | {times[int(0.95 * len(times))]:.3f} | {times[-1]:.3f}"
            print(f"| {phase.name} | {kind} | {len(times):,} | {row} |")
        wrong += [f"{phase.name}: {failure}" for failure in phase.failures]
    for phase in phases[3:]:
        if max(phase.seconds["healthz"]) > 1:
            wrong.append(f"{phase.name}: /healthz took {max(phase.seconds['healthz']):.2f} s")
        if phase.middle("ask") > 2 * usual["ask"]:
            wrong.append(f"{phase.name}: a question took {phase.middle('ask') / usual['ask']:.2f} of its usual time")
    print("\n" + "; ".join(notes) + ".")
    for words in wrong[:20]:
        print(f"FAULT {words}")
    print(f"Verdict: {f'{len(wrong)} faults' if wrong else 'everything held'}.\n```")
    return wrong


async def run_all(server: Server, chosen: argparse.Namespace) -> tuple[list[Phase], list[str]]:
    """The phases with a client of HTTP."""
    limits = httpx2.Limits(max_connections=4 * chosen.clients, keepalive_expiry=2.0)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(base_url=server.url, headers=headers, timeout=PATIENCE, limits=limits) as http:
        return await measure(World(server.url, TOKEN, http, random.Random(0), chosen.docs), chosen)


def main() -> None:
    """Measures over an index of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--connections", type=int, default=2_000)
    parser.add_argument("--files", type=int, default=200, help="hostile files; 0 leaves that part out")
    parser.add_argument("--docs", type=Path, default=demo.FOLDER)
    parser.add_argument("--slow", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.slow:
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        with suppress(asyncio.CancelledError):
            asyncio.run(be_slow(chosen.slow, chosen.connections))
        return
    with (
        tempfile.TemporaryDirectory() as name,
        server_with_index(Path(name), chosen.docs, TOKEN) as (server, documents),
    ):
        settings = f"{documents} documents, {chosen.clients} good clients, {chosen.seconds:.0f} s a phase."
        print(heading("slow_loris.py", settings) + "\n", flush=True)
        server.start()
        try:
            phases, notes = asyncio.run(run_all(server, chosen))
        finally:
            server.end()
    raise SystemExit(bool(report(phases, notes)))


if __name__ == "__main__":
    main()
