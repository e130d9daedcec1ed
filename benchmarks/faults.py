"""Kills and faults: whatever stops a command, the same command goes on, and ends as if nothing had happened.

    python benchmarks/faults.py --minutes 30 [--only moments calls full reading clock changing many nobody] [--seed 1]

    moments    SIGKILL at random moments
    calls      SIGKILL at each system call that renames, syncs, links or writes (Debian's strace injects it)
    full       a disk that is full from each such call on (strace), and at each page of a small one (as root)
    reading    search, ask, check and run on a full and on a read-only disk (as root)
    clock      a clock that goes back by an hour (`time.time` and `time.time_ns` are shifted in the process)
    changing   files rewritten, cut, replaced and deleted while they are read
    many       a folder of 200,000 small files
    nobody     an unprivileged user: unreadable files, a folder that is not its own, no home (as root)

The commands are children of this process, which has imported everything, so that a start takes milliseconds.
After each kill the same command is run again, and what
a user then sees (passages, ranks and scores of searches, vectors; answers without their times; scores with their
reasons; of the server, what it had acknowledged) must equal what a command that nobody touched leaves. `moments`
has half of the minutes, `calls` and `full` a quarter each; the other parts take as long as they take.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
from fault_conditions import changing, clock, full, many, nobody, reading
from fault_trials import Case, Child, Table, cases, places, serving, trace
from headings import heading


def until(seconds: float, of: Sequence[Any]) -> Iterator[Any]:
    """One after the other, over and over, for so long; each once at least."""
    end = time.monotonic() + seconds
    for n, item in enumerate(cycle(of)):
        if n >= len(of) and time.monotonic() > end:
            return
        yield item


# ---------------------------------------------------------------- kills


def moments(table: Table, all_cases: Sequence[Case], ground: Path, draw: random.Random, seconds: float) -> None:
    servers = {"server": server_killed, "live folder": live_killed}
    outcomes = {name: list[str]() for name in (*(case.name for case in all_cases), *servers)}
    for case in until(seconds, [*all_cases, *servers]):
        if isinstance(case, str):
            outcomes[case].append(servers[case](ground, draw))
            continue
        case.begin()
        child = Child(case.act).go()
        time.sleep(draw.uniform(0, 1.1 * case.whole[1]))
        child.kill(whole=draw.random() < 0.5)
        if child.end().code is None:
            outcomes[case.name].append(case.outcome())
    for name, listed in outcomes.items():
        table.kills += len(listed)
        table.row("moments", name, listed, ["equal"])


def calls(table: Table, all_cases: Sequence[Case], ground: Path, draw: random.Random, seconds: float) -> None:
    log, outcomes = ground / "strace", {case.name: list[str]() for case in all_cases}
    places_to_stop = [(case, *place) for case in all_cases for place in places(case, log, 12)]
    draw.shuffle(places_to_stop)
    end = time.monotonic() + seconds
    for case, name, number in places_to_stop:
        if time.monotonic() > end:
            break
        case.begin()
        child = Child(case.act)
        with trace(child, log, "-e", f"inject={name}:signal=SIGKILL:when={number}"):
            child.go().end()
        if "killed by SIGKILL" in log.read_text("utf-8", "replace"):
            outcomes[case.name].append(case.outcome())
    for name, listed in outcomes.items():
        table.kills += len(listed)
        table.row(
            "calls", name, listed, ["equal"], f" (of {sum(case.name == name for case, *_ in places_to_stop)} places)"
        )


def server_killed(ground: Path, draw: random.Random) -> str:
    """Uploads and questions until a kill; then a new server must have what the first one acknowledged."""
    trial, state = ground / "served", ground / "state"
    for folder in (trial, state):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ground / "old-index", trial)
    uploads, answers = list[str](), dict[str, Any]()
    with serving(trial / "index", state) as (child, client):
        killer = Child(partial(_kill_later, child.pid, draw.uniform(0.05, 1.5))).go()
        with suppress(httpx2.TransportError):
            for n in cycle(range(100)):
                word = f"upload{n}x{draw.randrange(10**6)}"
                file = (f"{word}.txt", f"The bell of {word} rings at night.".encode())
                client.post("/v1/documents", files=[("file", file)]).raise_for_status()
                uploads.append(word)
                reply = client.post("/v1/answers", json={"question": "Which keeper is number3?"}).raise_for_status()
                answers[reply.json()["id"]] = reply.json()
        killer.end()
    with serving(trial / "index", state) as (_, client):
        for word in uploads:
            hits = client.post("/v1/search", json={"query": word, "k": 3}).json()["hits"]
            if not any(word in hit["passage"]["text"] for hit in hits):
                return f"LOST an upload of {len(uploads)}"
        for id, answer in answers.items():
            if client.get(f"/v1/answers/{id}").json() != answer:
                return f"LOST an answer of {len(answers)}"
    return "equal"


def live_killed(ground: Path, draw: random.Random) -> str:
    """Files that change while they are served, until a kill; then a new server must have what is on the disk."""
    docs, state = ground / "live", ground / "live-state"
    for folder in (docs, state):
        shutil.rmtree(folder, ignore_errors=True)
    docs.mkdir()
    for n in range(8):
        _edit(docs, draw, f"{n}.txt")
    with serving(docs, state, form="--docs") as (child, client):
        killer = Child(partial(_kill_later, child.pid, draw.uniform(0.05, 4))).go()
        with suppress(httpx2.TransportError):
            while True:
                _edit(docs, draw, f"{draw.randrange(8)}.txt")
                client.post("/v1/search", json={"query": "bell", "k": 20}).raise_for_status()
                time.sleep(draw.uniform(0, 0.3))
        killer.end()
    wanted = sorted(path.read_text("utf-8") for path in docs.iterdir())
    with serving(docs, state, form="--docs") as (_, client):
        hits = client.post("/v1/search", json={"query": "bell", "k": 20}).json()["hits"]
    return "equal" if sorted(hit["passage"]["text"] for hit in hits) == wanted else "UNEQUAL"


def _edit(docs: Path, draw: random.Random, name: str) -> None:
    if draw.random() < 0.2:
        (docs / name).unlink(missing_ok=True)
    else:
        (docs / name).write_text(f"The bell of tower{draw.randrange(10**6)} rings at night.", "utf-8")


def _kill_later(pid: int, seconds: float) -> int:
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    return 0


# ---------------------------------------------------------------- the command

PARTS = ("moments", "calls", "full", "reading", "clock", "changing", "many", "nobody")
NEEDS_ROOT = {"reading", "nobody"}
TIMED = {"moments": 1 / 2, "calls": 1 / 4, "full": 1 / 4}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30, help="of the first three parts")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(
        heading("faults.py", f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; seed {options.seed}."), flush=True
    )
    table, began, draw = Table(), time.monotonic(), random.Random(options.seed)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where a sync takes no time
    with TemporaryDirectory(prefix="faults-", dir=memory) as place:
        ground = Path(place)
        all_cases = cases(ground)
        for case in all_cases:
            case.measure()
        for part in options.only:
            if part in NEEDS_ROOT and os.getuid():
                print(f"{part:<9}skipped: it needs to be root")
            elif part == "calls" and not shutil.which("strace"):
                print(f"{part:<9}skipped: it needs strace")
            else:
                _run(part, table, all_cases, ground, draw, 60 * options.minutes)
    minutes = (time.monotonic() - began) / 60
    print(f"{table.kills} kills, {table.bad} bad rows, {minutes:.1f} minutes\n```")
    raise SystemExit(table.bad > 0)


def _run(part: str, table: Table, all_cases: Sequence[Case], ground: Path, draw: random.Random, seconds: float) -> None:
    parts: dict[str, Callable[[], None]] = {
        "moments": lambda: moments(table, all_cases, ground, draw, seconds * TIMED[part]),
        "calls": lambda: calls(table, all_cases, ground, draw, seconds * TIMED[part]),
        "full": lambda: full(table, all_cases, ground, draw, seconds * TIMED[part]),
        "reading": lambda: reading(table, ground),
        "clock": lambda: clock(table, all_cases, ground, draw),
        "changing": lambda: changing(table, ground, draw),
        "many": lambda: many(table, ground),
        "nobody": lambda: nobody(table, ground),
    }
    parts[part]()


if __name__ == "__main__":
    main()
