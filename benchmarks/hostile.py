"""More than 200 hostile files of every kind (`tests/hostile_files.py`), through each door of a file; what they cost.

    python benchmarks/hostile.py [--letters 200000] [--only PART-OF-NAME] [--doors index docs check passages upload]

`index`, `docs` and `passages` run `toulmin index FILE`, `ask --docs FILE` and `check --passages FILE` in a process of
its own for each file; `check` checks the file as a text. One server gets all as uploads (`upload`), as Word drafts to
check (`draft`), and shows their originals (`shown`). `folder` indexes all in one run. Memory is the sum over the
processes of the tree at its peak, sampled every 20 ms; seconds are of the clock. A file is named if it was read, or
left out by its name with a reason.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import httpx2
from headings import heading
from processes import resident, tree
from served import serving

from tests.hostile_files import hostile_files
from toulmin.indexing.store import open_index

COMMAND = ["timeout", "300", sys.executable, "-m", "toulmin"]
DOORS = ("folder", "index", "docs", "check", "passages", "upload", "draft", "shown")
MOST_MEMORY, MOST_SECONDS, WIDTHS = 1024.0, 20.0, (9, 5, 9, 9)
CHEAP = ["--judge", "lexical", "--set", "reader=lexical"]  # what reads the file is the same


@dataclass(frozen=True)
class Cost:
    """Megabytes at the peak of the process tree, seconds, the exit code, and whether the file was named."""

    name: str
    memory: float
    seconds: float
    code: int
    is_named: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--letters", type=int, default=200_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--doors", nargs="+", choices=DOORS, default=DOORS)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        os.environ |= {name: f"{place}/{name}" for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
        made = hostile_files(Path(place) / "files", asked.letters)
        files = [path for path in made if asked.only in path.name]
        _ = list(map(Path.unlink, set(made) - set(files)))
        print(heading("hostile.py", f"{len(files)} files; shown: the two dearest of each door.\n"))
        print("door       files  not named  ended  over 1 GB  over 20 s   most MB  (file)               most s  (file)")
        (Path(place) / "good.txt").write_text("The lamp was lit in 1871.")
        for door in asked.doors:
            print(row(door, list(costs(door, files, Path(place)))), flush=True)
        print("```")


def row(door: str, listed: Sequence[Cost]) -> str:
    big, slow = (max(listed, key=lambda cost: getattr(cost, name)) for name in ("memory", "seconds"))
    faults = [
        (not each.is_named, each.code not in range(8), each.memory > MOST_MEMORY, each.seconds > MOST_SECONDS)
        for each in listed
    ]
    shown = "  ".join(f"{sum(column):{width}}" for column, width in zip(zip(*faults, strict=True), WIDTHS, strict=True))
    return f"{door:9}  {len(listed):5}  {shown}  {big.memory:8.0f}  {big.name:20} {slow.seconds:6.1f}  {slow.name}"


def costs(door: str, files: Sequence[Path], place: Path) -> Iterator[Cost]:
    if door in ("upload", "draft", "shown"):
        yield from served_costs(door, files, place)
        return
    if door == "folder":
        cost, output = run(["index", str(files[0].parent), "--into", str(place / "all")], "folder")
        with open_index(place / "all") as corpus:
            output += " ".join(str(entry.path) for entry in corpus.documents())
        unnamed = [path.name for path in files if path.name not in output]
        yield Cost(f"not named: {unnamed[:3]}" if unnamed else "all", cost.memory, cost.seconds, cost.code, not unnamed)
        return
    for n, path in enumerate(files):
        commands = {
            "index": ["index", str(path), "--into", str(place / f"index-{n}")],
            "docs": ["ask", "When was the lamp lit?", "--docs", str(path), *CHEAP],
            "check": ["check", str(path), "--docs", str(place / "good.txt"), *CHEAP],
            "passages": ["check", str(place / "good.txt"), "--passages", str(path), *CHEAP],
        }
        cost, output = run(commands[door], path.name)
        yield Cost(cost.name, cost.memory, cost.seconds, cost.code, cost.code in (0, 6) or path.name in output)


def run(options: list[str], name: str) -> tuple[Cost, str]:
    began = time.monotonic()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([*COMMAND, *options], stdout=log, stderr=log)
        with peak_of(process.pid) as peak:
            process.wait()
        log.seek(0)
        text = " ".join(log.read().decode("utf-8", "replace").split())
    return Cost(name, peak[0], time.monotonic() - began, process.returncode, True), text


@contextmanager
def peak_of(pid: int) -> Iterator[list[float]]:
    """The megabytes of a process and its children together, in a list of one, which grows until the `with` ends."""
    peak, done = [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], sum(map(resident, tree(pid))))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def served_costs(door: str, files: Sequence[Path], place: Path) -> Iterator[Cost]:
    run(["index", str(place / "good.txt"), "--into", str(place / door)], "")
    os.environ["TOULMIN_TOKEN"] = token = "sixteen-letters-"
    with serving("--index", str(place / door)) as server:
        client = httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {token}"}, timeout=300)
        for path in files:
            began = time.monotonic()
            with peak_of(server.pid) as peak:
                is_named = is_told(client, door, path)
            code = 0 if client.get("/healthz").is_success else -9
            yield Cost(path.name, peak[0], time.monotonic() - began, code, is_named)


def is_told(client: httpx2.Client, door: str, path: Path) -> bool:
    """Whether the server reads the file by that door, or says why not."""
    if door == "draft":
        return client.post("/v1/check/document", content=path.read_bytes()).status_code in (200, 422)
    reply = client.post("/v1/documents", files={"file": (path.name, path.read_bytes())})
    listed = client.get("/v1/documents").json()["documents"] if door == "shown" else []
    for row, what in product(listed, ("/original", "/readable", "/pages/1", "")):
        client.request("GET" if what else "DELETE", f"/v1/documents/{row['number']}{what}")
    return reply.is_success and path.name in reply.text


if __name__ == "__main__":
    main()
