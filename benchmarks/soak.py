"""A soak of the server: mixed clients for a long time, while it is killed and started again on the same folders.

    python benchmarks/soak.py --minutes 60 [--docs FOLDER] [--rate 1.0] [--seed 0] [--work FOLDER]

`toulmin serve` runs in a process of its own over a copy of the folder (default: the demo's). Clients come at random
moments, `--rate` a second: good ones that ask, search, check, send files and edit those of the folder; others that go
away in the middle of a stream, read slowly or never, send half a request, garbage, or files and drafts made to hurt
(`soak_clients.py`). During the first half of the time the server is ended every few minutes under this load, by SIGKILL
and by SIGTERM in turn; the second half is one life, since only a long one shows what grows. What is held throughout:

* Every answer is to its own question, comes once and is kept once; after each start the kept ones are as they were.
* A file whose upload was acknowledged is there after a kill, once, and found; one whose deletion was is not.
* An edited file is found by its new text, and no longer by its old one, within a minute (the table has the times).
* A request fails only while the server is being ended or opened; no status is 5xx but 503; nothing is logged as a
  traceback; a stream is cut off by a kill alone; SIGTERM ends the process with code 0.
* After the first quarter of the long life the server's memory, open handles and threads do not grow: the line through
  the samples rises by less than a twentieth of its height (threads and handles: or less than five). Over less than ten
  minutes that is printed, but not held.

Exits with 1 if one of these does not hold. `--work` keeps the log of the server and all samples.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import linear_regression, median
from typing import NamedTuple

import httpx2
from headings import heading
from processes import resident, status, tree
from served import Server, server_with_index
from soak_clients import (
    ASKERS,
    CLIENTS,
    Client,
    Refusal,
    Torn,
    World,
    Wrong,
    digest,
    is_found,
    list_files,
)

from toulmin import demo

TOKEN = "a-token-for-the-soak"
AT_ONCE, ASKING = 40, 8  # clients, and those that wait for answers; more are turned away by the soak itself
PATIENCE = 600.0  # seconds for a reply, as long as an answer may take
EVERY = 2.0  # seconds between two samples
SETTLE = 300.0  # seconds for the last clients to end
CHECKED = 30  # answers that are read again after each start
ENDS = 30.0  # seconds within which SIGTERM ends the server
GROWTH, JUDGED = 0.05, 10.0  # of its height, over so many minutes at least
TICKS = os.sysconf("SC_CLK_TCK")


# ---------------------------------------------------------------- what the server takes


class Sample(NamedTuple):
    """The server at one moment; memory in MB, resident, times in seconds."""

    at: float
    life: int
    memory: float
    handles: int
    threads: int
    children: int
    children_memory: float
    requests: int


def sample(pid: int, at: float, life: int, requests: int) -> Sample:
    """Raises OSError if the process has ended."""
    children = tree(pid)[1:]
    memory, threads = status(pid)
    handles = len(os.listdir(f"/proc/{pid}/fd"))
    return Sample(at, life, memory, handles, threads, len(children), sum(map(resident, children)), requests)


# ---------------------------------------------------------------- the soak


@dataclass
class Soak:
    """A run of the soak, and what it has seen."""

    server: Server
    world: World
    rate: float
    began: float = field(default_factory=time.monotonic)
    life: int = 0
    is_up: bool = False
    moment: int = 0  # counts the ends and the starts
    signs: list[signal.Signals] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    probes: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    lives: list[str] = field(default_factory=list)

    @property
    def at(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.began

    def fault(self, words: str) -> None:
        """Notes what must not be, and says it at once."""
        self.faults.append(f"{self.at:7.1f} s, life {self.life}: {words}")
        print(f"! {self.faults[-1]}", file=sys.stderr, flush=True)

    # ------------------------------------------------------------ clients

    async def send_clients(self) -> None:
        """Starts clients at random moments until it is cancelled; then waits for those that are there."""
        running: dict[asyncio.Task[None], Client] = {}
        kinds, weights = list(CLIENTS), list(CLIENTS.values())
        try:
            while True:
                await asyncio.sleep(self.world.draw.expovariate(self.rate))
                client = self.world.draw.choices(kinds, weights)[0]
                asking = sum(client in ASKERS for client in running.values())
                if len(running) >= AT_ONCE or (client in ASKERS and asking >= ASKING):
                    self.counts["clients turned away by the soak"] += 1
                    continue
                task = asyncio.create_task(self.run(client))
                running[task] = client
                task.add_done_callback(running.pop)
        finally:
            if running:
                _, late = await asyncio.wait([*running], timeout=SETTLE)
                for task in late:
                    task.cancel()
                    self.fault(f"a client did not end in {SETTLE:.0f} s: {task.get_coro()}")

    async def run(self, client: Client) -> None:
        """One client; what it must not see is a fault."""
        name, moment, was_up, began = client.__name__, self.moment, self.is_up, time.monotonic()
        self.counts["clients"] += 1
        try:
            await client(self.world)
            self.seconds[name].append(time.monotonic() - began)
        except Wrong as error:
            self.fault(f"{name}: {error}")
        except Refusal as error:
            self._judge_refusal(name, error, is_calm=was_up and moment == self.moment)
        except (Torn, httpx2.TransportError, OSError, EOFError, asyncio.IncompleteReadError) as error:
            self._judge_cut(name, error, was_up, self.signs[moment // 2 :] if moment != self.moment else [])
        except Exception as error:
            self.fault(f"{name}: {error!r}")

    def _judge_refusal(self, name: str, error: Refusal, is_calm: bool) -> None:
        self.counts[f"status {error.status}"] += 1
        if error.status == 503:  # too much at once, or the index is being opened
            return
        if error.status >= 500 or is_calm:
            self.fault(f"{name}: {error}")

    def _judge_cut(self, name: str, error: Exception, was_up: bool, signs: Sequence[signal.Signals]) -> None:
        if was_up and not signs:
            self.fault(f"{name}: {error!r} while the server was up")
        elif isinstance(error, Torn) and was_up and signal.SIGKILL not in signs:
            self.fault(f"{name}: {error} by SIGTERM")
        self.counts["requests cut by an end"] += 1

    # ------------------------------------------------------------ watching

    async def watch(self) -> None:
        """Samples the server, and asks whether it lives, until it is cancelled."""
        while True:
            await asyncio.sleep(EVERY)
            if not self.is_up:
                continue
            try:
                self.samples.append(sample(self.server.pid, self.at, self.life, self.counts["clients"]))
            except OSError:  # it is being ended
                continue
            await self.probe()

    async def probe(self) -> None:
        """How long `/healthz` takes."""
        moment, began = self.moment, time.monotonic()
        try:
            reply = await self.world.http.get("/healthz")
            self.probes.append(time.monotonic() - began)
            if reply.status_code != 200:
                self.fault(f"/healthz says {reply.status_code}")
        except httpx2.TransportError as error:
            if moment == self.moment:
                self.fault(f"/healthz: {error!r}")

    # ------------------------------------------------------------ ends and starts

    async def start(self) -> None:
        """Starts the server again, or for the first time."""
        seconds = await asyncio.to_thread(self.server.start)
        self.life += 1
        self.moment += 1
        self.is_up = True
        self.lives.append(f"started in {seconds:.1f} s")

    async def end(self, sign: signal.Signals) -> None:
        """Ends the server under load."""
        self.is_up = False
        self.moment += 1
        self.signs.append(sign)
        code, seconds = await asyncio.to_thread(self.server.end, sign)
        self.lives[-1] += f", {sign.name} ended it in {seconds:.1f} s with {code}"
        if sign == signal.SIGTERM and (code != 0 or seconds > ENDS):
            self.fault(f"SIGTERM ended the server after {seconds:.1f} s with code {code}")

    async def verify(self, most: int) -> None:
        """Holds kept answers (so many of them), uploads and deletions against the ledger."""
        ledger, moment = self.world.ledger, self.moment
        try:
            ids = list(ledger.answers)
            for id in {*ids[-most // 2 :], *self.world.draw.sample(ids, min(len(ids), most // 2))}:
                document = await self.world.json("GET", f"/v1/answers/{id}")
                self.counts["kept answers read again"] += 1
                if digest(document) != ledger.answers[id]:
                    self.fault(f"the kept answer {id} is another than that which was sent")
            await self._verify_uploads()
        except (Refusal, httpx2.TransportError) as error:
            if moment == self.moment and getattr(error, "status", 0) != 503:
                self.fault(f"after the start: {error}")

    async def _verify_uploads(self) -> None:
        ledger = self.world.ledger
        before = {tag: state for tag, state in ledger.uploads.items() if tag not in ledger.busy}
        numbers = await list_files(self.world)
        for tag, state in before.items():
            if state not in ("kept", "gone") or tag in ledger.busy or ledger.uploads[tag] != state:
                continue
            if (count := len(numbers[tag])) != (state == "kept"):
                self.fault(f"the file {tag}, which is {state}, is listed {count} times")
            if state == "kept" and not await is_found(self.world, tag) and ledger.uploads[tag] == "kept":
                self.fault(f"the file {tag}, which is kept, is not found")
            self.counts["files looked for"] += 1
        for name, tag in list(ledger.live.items()):
            if name not in ledger.busy and not await is_found(self.world, tag) and ledger.live.get(name) == tag:
                self.fault(f"the edited file {name} is not found")

    async def live(self, seconds: float, sign: signal.Signals | None) -> None:
        """A life under load, held against the ledger at its start; without a sign it goes on."""
        began = time.monotonic()
        await self.verify(CHECKED)
        await asyncio.sleep(max(0.0, seconds - (time.monotonic() - began)))
        if sign is not None:
            await self.end(sign)


def plan(minutes: float, draw: random.Random) -> list[tuple[float, signal.Signals | None]]:
    """The lives, in seconds and by what each is ended: short ones during the first half, then a long one."""
    half, usual = 30 * minutes, min(180.0, max(25.0, 5 * minutes))
    lives: list[tuple[float, signal.Signals | None]] = []
    while (left := half - sum(seconds for seconds, _ in lives)) > usual / 2:
        sign = signal.SIGTERM if len(lives) % 2 else signal.SIGKILL
        lives.append((min(left, usual * draw.uniform(0.5, 1.5)), sign))
    return [*lives, (half, None)]


async def soak(run: Soak, minutes: float) -> None:
    """The whole run."""
    lives = plan(minutes, run.world.draw)
    await run.start()
    page = await run.world.json("GET", "/v1/documents", params={"limit": 200})
    run.world.titles = [row["title"] for row in page["documents"] if row["title"]]
    beside = [asyncio.create_task(run.send_clients()), asyncio.create_task(run.watch())]
    for number, (seconds, sign) in enumerate(lives):
        if number:
            await run.start()
        await run.live(seconds, sign)
    await settle(run, beside)


async def settle(run: Soak, beside: list[asyncio.Task[None]]) -> None:
    """No more clients; what is left, what is kept, and a last end."""
    for task in beside:
        task.cancel()
    await asyncio.gather(*beside, return_exceptions=True)
    running = 1
    for _ in range(60):
        if not (running := (await run.world.json("GET", "/readyz"))["running"]):
            break
        await asyncio.sleep(1)
    if running:
        run.fault(f"{running} answers are still worked on a minute after the last client")
    await run.verify(1_500)
    run.samples.append(sample(run.server.pid, run.at, run.life, run.counts["clients"]))
    await run.end(signal.SIGTERM)


# ---------------------------------------------------------------- what is left of it


def count_kept(run: Soak, state: Path) -> None:
    """Each acknowledged answer once in the file of served answers, and no question twice."""
    tags: Counter[str] = Counter()
    for path in state.rglob("answers/*.sqlite"):
        with closing(sqlite3.connect(path)) as file:
            rows = file.execute("SELECT document FROM answers WHERE id NOT LIKE 'resp_%'")
            documents = [json.loads(row[0]) for row in rows]
            (verdict,) = file.execute("PRAGMA integrity_check").fetchone()
        if verdict != "ok":
            run.fault(f"the file of answers is damaged: {verdict}")
        for document in documents:
            asked = document.get("asked") or document["question"]
            tags[asked.rpartition("(")[2].rstrip(")")] += 1
    tags.pop("", None)
    doubled = [tag for tag, count in tags.items() if count > 1 and tag.isdigit()]
    lost = [tag for tag in list(run.world.ledger.tags)[-1_000:] if not tags[tag]]
    for words, doubtful in (("kept twice", doubled), ("not kept", lost)):
        if doubtful:
            run.fault(f"{len(doubtful)} answers are {words}: {', '.join(doubtful[:5])}")


FOLDERS = re.compile(r"(?<=[\s\"'(])/(?:[\w.+-]+/)+")  # of a machine: they say nothing of a run


def read_log(run: Soak, log: Path) -> Counter[str]:
    """Lines above `info` by what they say; a traceback is a fault."""
    kinds: Counter[str] = Counter()
    for line in FOLDERS.sub("", log.read_text("utf-8", "replace")).splitlines():
        try:
            row = json.loads(line)
            level, words = str(row["level"]), f"{row['logger']}: {str(row['message'])[:70]}"
        except (ValueError, KeyError, TypeError):
            row, level, words = {}, "no log line", line[:90]
        if "exception" in row or "Traceback" in line:
            run.fault(f"logged with a traceback: {words}; ...{str(row.get('exception', line))[-200:]!r}")
        if level != "info":
            kinds[f"{level} {words}"] += 1
    return kinds


class Slope(NamedTuple):
    """A figure over the long life after its first quarter: its median, what it rises an hour, and over that time."""

    name: str
    median: float
    hourly: float
    rise: float
    most: float
    minutes: float

    @property
    def is_growing(self) -> bool:
        """Never of a few minutes, in which caches fill."""
        return self.minutes >= JUDGED and self.rise > max(GROWTH * self.median, 5)


def slopes(samples: Sequence[Sample]) -> list[Slope]:
    """Of memory, handles and threads."""
    life = [moment for moment in samples if moment.life == samples[-1].life]
    start = life[0].at + (life[-1].at - life[0].at) / 4
    later = [moment for moment in life if moment.at >= start]
    if len(later) < 3:
        return []
    hours = [moment.at / 3600 for moment in later]
    rows = []
    for name in ("memory", "handles", "threads"):
        values = [float(getattr(moment, name)) for moment in later]
        slope, _ = linear_regression(hours, values)
        rows.append(
            Slope(name, median(values), slope, slope * (hours[-1] - hours[0]), max(values), 60 * (hours[-1] - hours[0]))
        )
    return rows


def print_samples(samples: Sequence[Sample]) -> None:
    """Some twenty of them, with the largest of those between."""
    print("| minute | life | memory MB | handles | threads | children | their memory MB | clients so far |")
    print("|---|---|---|---|---|---|---|---|")
    step = max(1, len(samples) // 20)
    for first in range(0, len(samples), step):
        part = samples[first : first + step]
        last, most = part[-1], [max(column) for column in zip(*part, strict=True)]
        print(
            f"| {last.at / 60:.1f} | {last.life} | {last.memory:.0f} | {most[3]} | {most[4]} | {most[5]}"
            f" | {most[6]:.0f} | {last.requests:,} |"
        )


def print_times(run: Soak) -> None:
    """How long each kind of client took."""
    print("\n| client | times | median s | 95 % | most |\n|---|---|---|---|---|")
    for name, times in sorted(run.seconds.items()):
        times = sorted(times)
        row = f"{median(times):.2f} | {times[int(0.95 * len(times))]:.2f} | {times[-1]:.2f}"
        print(f"| {name} | {len(times):,} | {row} |")
    probes = sorted(run.probes)
    print(f"| /healthz | {len(probes):,} | {median(probes):.3f} | {probes[int(0.95 * len(probes))]:.3f}", end="")
    print(f" | {probes[-1]:.2f} |")


def report(run: Soak, kinds: Counter[str]) -> None:
    """The figures, and the verdict."""
    print_samples(run.samples)
    print_times(run)
    print("\nLives: " + "; ".join(f"{n}: {life}" for n, life in enumerate(run.lives, start=1)) + ".")
    uploads = Counter(run.world.ledger.uploads.values())
    print(f"Answers acknowledged: {len(run.world.ledger.answers):,}. Files: {dict(uploads)}.")
    print("Counts: " + ", ".join(f"{name} {count:,}" for name, count in sorted(run.counts.items())) + ".")
    print(
        "Logged above info: " + ("; ".join(f"{count} x {words}" for words, count in kinds.most_common()) or "nothing")
    )
    for slope in slopes(run.samples):
        print(
            f"{slope.name} after the first quarter of the last life: median {slope.median:.0f}, most {slope.most:.0f},"
            f" {slope.hourly:+.1f} an hour, {slope.rise:+.1f} over that time"
        )
        if slope.is_growing:
            run.fault(f"{slope.name} grows by {slope.rise:.1f}")
    for fault in run.faults[:40]:
        print(f"FAULT {fault}")
    print(f"Verdict: {f'{len(run.faults)} faults' if run.faults else 'everything held'}.\n```")


async def run_all(server: Server, folder: Path, chosen: argparse.Namespace) -> Soak:
    """The soak with a client of HTTP."""
    # The server closes a quiet line after five seconds; a request that is sent just then would fail.
    limits = httpx2.Limits(max_connections=4 * AT_ONCE, keepalive_expiry=2.0)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(base_url=server.url, headers=headers, timeout=PATIENCE, limits=limits) as http:
        draw = random.Random(chosen.seed)
        world = World(server.url, TOKEN, http, draw, folder, tools=find_spec("mcp") is not None)
        run = Soak(server, world, chosen.rate)
        await soak(run, chosen.minutes)
        return run


def main() -> None:
    """Runs the soak in a folder of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--docs", type=Path, default=demo.FOLDER)
    parser.add_argument("--rate", type=float, default=1.0, help="clients a second")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, help="a folder that keeps the log and the samples (default: none is kept)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        place = chosen.work or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        docs = shutil.copytree(chosen.docs, place / "docs", dirs_exist_ok=True)
        with server_with_index(place, docs, TOKEN, "--log-level", "info", form="--docs") as (server, documents):
            settings = f"{documents} documents, {chosen.rate} clients a second, seed {chosen.seed}."
            print(heading("soak.py", settings) + "\n", flush=True)
            run = asyncio.run(run_all(server, docs, chosen))
        count_kept(run, place / "state")
        report(run, read_log(run, place / "server.log"))
        if chosen.work:
            (place / "samples.jsonl").write_text("".join(json.dumps(moment._asdict()) + "\n" for moment in run.samples))
    raise SystemExit(bool(run.faults))


if __name__ == "__main__":
    main()
