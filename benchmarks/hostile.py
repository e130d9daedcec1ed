"""More than 200 hostile files of every kind (`tests/hostile_files.py`), through each door of a file; what they cost.

    python benchmarks/hostile.py [--letters 200000] [--only PART-OF-NAME] [--doors index docs check passages upload]

`index`, `docs` and `passages` run `toulmin index FILE`, `ask --docs FILE` and `check --passages FILE` in a process of
its own for each file; `check` checks the file as a text; `upload` sends all to one server. `folder` indexes
all in one run. Memory is the sum over the processes of the tree at its peak, sampled every 20 ms; seconds are of the
clock. A file is named if it was read, or left out by its name with a reason.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from headings import heading
from processes import resident, tree
from served import serving

from tests.hostile_files import hostile_files

DOORS = ("folder", "index", "docs", "check", "passages", "upload")
MOST_MEMORY, MOST_SECONDS = 1024.0, 20.0
CHEAP = ["--judge", "lexical", "--set", "reader=lexical"]  # what reads the file is the same
_PATIENCE = 300.0


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
        for path in set(made) - set(files):
            path.unlink()
        size = sum(path.stat().st_size for path in files) / 1e6
        print(heading("hostile.py", f"{len(files)} files, {size:.0f} MB; shown: the two dearest of each door.\n"))
        print("door       files  not named  ended  over 1 GB  over 20 s   most MB  (file)               most s  (file)")
        for door in asked.doors:
            print(row(door, list(costs(door, files, Path(place)))), flush=True)
        print("```")


def row(door: str, listed: Sequence[Cost]) -> str:
    big, slow = (max(listed, key=lambda cost: getattr(cost, name)) for name in ("memory", "seconds"))
    counts = (
        sum(not cost.is_named for cost in listed),
        sum(cost.code not in range(8) for cost in listed),
        sum(cost.memory > MOST_MEMORY for cost in listed),
        sum(cost.seconds > MOST_SECONDS for cost in listed),
    )
    shown = f"{counts[0]:9}  {counts[1]:5}  {counts[2]:9}  {counts[3]:9}"
    return f"{door:9}  {len(listed):5}  {shown}  {big.memory:8.0f}  {big.name:20} {slow.seconds:6.1f}  {slow.name}"


def costs(door: str, files: Sequence[Path], place: Path) -> Iterator[Cost]:
    if door == "upload":
        yield from upload_costs(files, place)
        return
    if door == "folder":
        cost, output = run(["index", str(files[0].parent), "--into", str(place / "all")], "folder")
        unnamed = [path.name for path in files if path.name not in output and not is_indexed(place / "all", path)]
        yield Cost(f"not named: {unnamed[:3]}" if unnamed else "all", cost.memory, cost.seconds, cost.code, not unnamed)
        return
    for n, path in enumerate(files):
        commands = {
            "index": ["index", str(path), "--into", str(place / f"index-{n}")],
            "docs": ["ask", "When was the lamp lit?", "--docs", str(path), *CHEAP],
            "check": ["check", str(path), "--docs", str(place / "good.txt"), *CHEAP],
            "passages": ["check", str(place / "good.txt"), "--passages", str(path), *CHEAP],
        }
        (place / "good.txt").write_text("The lamp was lit in 1871.")
        cost, output = run(commands[door], path.name)
        yield Cost(cost.name, cost.memory, cost.seconds, cost.code, cost.code in (0, 6) or path.name in output)


def is_indexed(index: Path, path: Path) -> bool:
    from toulmin.indexing.store import open_index

    with open_index(index) as corpus:
        return any(entry.path == str(path) for entry in corpus.documents())


def run(options: list[str], name: str) -> tuple[Cost, str]:
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([sys.executable, "-m", "toulmin", *options], stdout=output, stderr=output)
        with peak_of(process.pid) as peak:
            try:
                process.wait(_PATIENCE)
            finally:
                process.kill()
                process.wait()
        output.seek(0)
        text = " ".join(output.read().decode("utf-8", "replace").split())
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


def upload_costs(files: Sequence[Path], place: Path) -> Iterator[Cost]:
    (place / "good.txt").write_text("The lamp was lit in 1871.")
    run(["index", str(place / "good.txt"), "--into", str(place / "served")], "")
    os.environ["TOULMIN_TOKEN"] = token = "sixteen-letters-"
    with serving("--index", str(place / "served")) as server:
        client = httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {token}"}, timeout=_PATIENCE)
        for path in files:
            began = time.monotonic()
            with peak_of(server.pid) as peak:
                reply = client.post("/v1/documents", files={"file": (path.name, path.read_bytes())})
            seconds = time.monotonic() - began
            is_alive = client.get("/healthz").is_success
            named = json.dumps(reply.json()) if reply.is_success else ""
            yield Cost(path.name, peak[0], seconds, 0 if is_alive else -9, path.name in named)


if __name__ == "__main__":
    main()
