"""A run on a Ray cluster beside the same run in this process, with a worker and then the driver killed in the middle.

    python benchmarks/spread.py [--questions 2000] [--statements 5000] [--index DIR]

The cluster is two `ray start` on loopback, one CPU each. The questions are the first of `pool_questions`, train before
dev, over an index of `pool_corpus` (made here, unless `--index` names one), answered with the default settings, the
embedded parts. A rate counts from a quarter of the answers to the last, when every worker is there; the seconds of a
whole run are beside it. Statements are those of the answers, scored by the honest
profile with the lexical judge and no memo. What must hold: the same answers by id, times aside, whoever was killed; as
many questions asked after the driver was killed as were left; scores, and each reason of theirs, byte for byte those
made here.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import data
from headings import heading

sys.path.insert(0, str(Path(__file__).parent.parent))
import toulmin
from tests.ray_cluster import Cluster, until
from toulmin.evaluation.run_journal import entries
from toulmin.evaluation.running import Progress

WANTED = 1.7  # times one worker's rate, of two
WORKER = b"ray::MapWorker"  # how Ray calls the process of a worker
COMMAND = [sys.executable, "-c", "from toulmin.cli import main; main()", "run"]


@dataclass
class Clock:
    """When answers arrived, from a quarter on; at half, `middle` is called."""

    middle: Any = None
    started: float = field(default_factory=perf_counter)
    seen: list[tuple[float, int]] = field(default_factory=list)

    def __call__(self, now: Progress) -> None:
        """Writes down the time."""
        if 4 * now.asked >= now.total:
            self.seen.append((perf_counter(), now.asked))
        if self.middle is not None and 2 * now.done >= now.total:
            self.middle()
            self.middle = None

    @property
    def rate(self) -> float:
        """Answers a second after the first quarter."""
        (begin, first), (end, last) = self.seen[0], self.seen[-1]
        return (last - first) / (end - begin)

    @property
    def seconds(self) -> float:
        """Of the whole run."""
        return perf_counter() - self.started


class Bench:
    """The questions, the index, and runs over them."""

    def __init__(self, folder: Path, index: Path) -> None:
        self.folder, self.index, self.file = folder, index, folder / "questions.jsonl"
        self.rate = 0.0  # of the last run

    def write(self, count: int) -> None:
        """The dataset."""
        rows = [row for split in ("train", "dev") for row in data.rows("pool_questions", split)]
        with self.file.open("w", encoding="utf-8") as lines:
            for row in islice(rows, count):
                lines.write(json.dumps({"id": row["id"], "question": row["question"]}) + "\n")

    def run(self, name: str, middle: Any = None, **there: Any) -> str:
        """One run, as a line."""
        clock = Clock(middle)
        toulmin.run(self.file, out=self.folder / name, index=self.index, on_progress=clock, **there)
        self.rate = clock.rate
        return f"{clock.rate:8.1f} questions a second {clock.seconds:8.1f} s in all"

    def answers(self, name: str) -> list[dict[str, Any]]:
        """By id, times aside."""
        answers = [json.loads(line) for line in (self.folder / name / "answers.jsonl").read_text("utf-8").splitlines()]
        for answer in answers:
            answer["usage"]["seconds"] = 0
        return sorted(answers, key=lambda answer: str(answer["id"]))

    def is_same(self, name: str) -> str:
        """Whether that run's answers are those of this process."""
        return "yes" if self.answers(name) == self.answers("here") else "NO"

    def driver_killed(self, cluster: Cluster) -> tuple[int, int]:
        """How many answers were kept when the driver was killed, and how many were asked after that."""
        out = self.folder / "driver"
        there = ["--on", cluster.on, "--workers", "2", "--index", str(self.index), "--json"]
        command = [*COMMAND, str(self.file), "--out", str(out), *there]
        half = sum(1 for _ in self.file.open("rb")) // 2
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        until(lambda: process.poll() is not None or count_kept(out) >= half, 600)
        process.kill()
        process.wait()
        before = count_kept(out)
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return before, int(json.loads(done.stdout)["asked"])

    def score(self, name: str, **there: Any) -> tuple[bytes, bytes, float]:
        """The scores of the local run as they were written, the reasons, and the seconds that they took."""
        run = self.folder / name
        shutil.copytree(self.folder / "here", run)
        begin = perf_counter()
        toulmin.score(run, judge="lexical", memo=False, **there)
        seconds = perf_counter() - begin
        return (run / "scores.json").read_bytes(), next(run.glob("reasons-*.jsonl")).read_bytes(), seconds


def count_kept(out: Path) -> int:
    """How many answers a run has kept."""
    file = out / "journal.sqlite"
    return sum(1 for _ in entries(file)) if file.exists() and (out / "run.json").exists() else 0


def read_title(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # the process has ended
        return b""


def kill_a_worker() -> None:
    """SIGKILL for the worker that has been there longest."""
    titles = {path.parent.name: read_title(path) for path in Path("/proc").glob("[0-9]*/cmdline")}
    pids = [int(pid) for pid, title in titles.items() if title.startswith(WORKER)]
    os.kill(min(pids), signal.SIGKILL)
    print(f"{'':24}killed worker {min(pids)} of {len(pids)}")


def spread(bench: Bench, cluster: Cluster, statements: int) -> bool:
    """Prints the block; whether everything came out as it must."""
    print(f"{'in this process':24}{bench.run('here')}")
    print(f"{'one worker':24}{bench.run('one', on=cluster.on, workers=1)}   the same answers: {bench.is_same('one')}")
    alone = bench.rate
    print(f"{'two workers':24}{bench.run('two', on=cluster.on, workers=2)}   the same answers: {bench.is_same('two')}")
    ratio = bench.rate / alone
    print(f"{'':24}{ratio:.2f} times one worker's rate (wanted: {WANTED})")
    line = bench.run("killed", kill_a_worker, on=cluster.on, workers=2)
    print(f"{'a worker killed':24}{line}   the same answers: {bench.is_same('killed')}")
    before, after = bench.driver_killed(cluster)
    whole = before + after == len(bench.answers("here"))
    line = f"{before} kept, {after} asked after that: {'every question once' if whole else 'NOT every question once'}"
    print(f"{'the driver killed':24}{line}   the same answers: {bench.is_same('driver')}")
    here, there = bench.score("scored-here"), bench.score("scored-there", on=cluster.on, workers=2)
    judged = sum(len(json.loads(line)["statements"]) for line in here[1].splitlines())
    same = here[:2] == there[:2]
    took = f"{here[2]:.1f} s here, {there[2]:.1f} s by two workers"
    line = f"{judged} statements ({statements} wanted), {took}, the same verdicts: {'yes' if same else 'NO'}"
    print(f"{'scores':24}{line}")
    names = ("one", "two", "killed", "driver")
    return whole and same and judged >= statements and ratio >= WANTED and all(bench.is_same(n) == "yes" for n in names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--statements", type=int, default=5000)
    parser.add_argument("--index", type=Path, help="an index of pool_corpus (default: one is made)")
    options = parser.parse_args()
    with TemporaryDirectory() as place:
        index = options.index or Path(place) / "index"
        if options.index is None:
            toulmin.index([data.path("pool_corpus")], into=index)
        bench = Bench(Path(place), index.resolve())
        bench.write(options.questions)
        judge = toulmin.Settings().judge
        print(
            heading("spread.py", f"{options.questions} questions, judge {judge}; two nodes of one CPU each, loopback.")
        )
        cluster = Cluster()
        try:
            cluster.add()
            cluster.add()
            holds = spread(bench, cluster, options.statements)
        finally:
            cluster.end()
        print("```")
    raise SystemExit(0 if holds else 1)


if __name__ == "__main__":
    main()
