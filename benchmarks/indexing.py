"""What indexing costs: time, memory and disk for `pool_corpus`, and how fast the index opens and answers.

    python benchmarks/indexing.py
    python benchmarks/indexing.py --against TREE [--docs FOLDER] [--rounds 3]

With `--against` (`git worktree add TREE COMMIT`) only what the two trees' first updates take, in turn, as ratios.
Each update runs in a process of its own, whose greatest resident memory is taken; its time leaves out the start of the
interpreter, its CPU time has that of processes that read files. The text is what was read: titles and texts in UTF-8.
Queries are `pool_questions` dev, first hits 10.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import data
from headings import heading

from toulmin.indexing.corpus import AnyCorpus
from toulmin.indexing.store import open_index
from toulmin.retrieval.bm25 import Bm25

HERE = Path(__file__).resolve().parent.parent
UPDATE = """
import json, os, resource, sys, time
from pathlib import Path
from toulmin.indexing.update import update
started, before = time.perf_counter(), sum(os.times()[:4])
report = update(Path(sys.argv[1]), [Path(path) for path in sys.argv[2:]])
kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
seconds, busy = time.perf_counter() - started, sum(os.times()[:4]) - before
print(json.dumps({"seconds": seconds, "cpu": busy, "megabytes": kilobytes / 1024, "passages": report.passages}))
"""


def run_update(index: Path, *paths: Path, tree: Path = HERE) -> dict[str, float]:
    """What an update in a fresh process took, by the package in `tree`."""
    command = [sys.executable, "-c", UPDATE, str(index), *map(str, paths)]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(command, capture_output=True, check=True, env=environment)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def compare(tree: Path, places: Sequence[Path], rounds: int) -> None:
    """Prints what an update of each place takes here over what it takes in `tree`."""
    print(heading("indexing.py", f"{rounds} rounds, medians; this tree over another."))
    for place in places:
        taken: dict[Path, list[dict[str, float]]] = {HERE: [], tree: []}
        for _ in range(rounds):
            for each, measured in taken.items():
                with TemporaryDirectory() as folder:
                    measured.append(run_update(Path(folder) / "index", place, tree=each))
        for figure in ("seconds", "cpu", "megabytes"):
            ours, theirs = (statistics.median(row[figure] for row in taken[each]) for each in (HERE, tree))
            show(f"{place.name}, {figure}", f"{ours:.1f}", f"{ours / theirs:.2f}")
    print("```")


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def milliseconds_to_open(index: Path, times: int = 20) -> float:
    taken = []
    for _ in range(times):
        started = perf_counter()
        open_index(index).close()
        taken.append(1000 * (perf_counter() - started))
    return statistics.median(taken)


def milliseconds_a_query(corpus: AnyCorpus, questions: list[str]) -> list[float]:
    retriever, taken = Bm25(corpus), []
    for question in questions:
        started = perf_counter()
        retriever.search([question], 10)
        taken.append(1000 * (perf_counter() - started))
    return sorted(taken)


def queries_a_second(corpus: AnyCorpus, questions: list[str]) -> float:
    started = perf_counter()
    Bm25(corpus).search(questions, 10)
    return len(questions) / (perf_counter() - started)


def show(what: str, figure: str, target: str = "") -> None:
    print(f"{what:44}{figure:>14}{target:>14}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, metavar="TREE")
    parser.add_argument("--docs", type=Path, nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    file = data.path("pool_corpus")
    if asked.against:
        compare(asked.against.resolve(), [file, *asked.docs], asked.rounds)
        return
    text = sum(len(row["title"].encode()) + len(row["text"].encode()) for row in data.rows("pool_corpus"))
    questions = [row["question"] for row in data.rows("pool_questions", "dev")]
    with TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        first, second = run_update(index, file), run_update(index, file)
        with open_index(index) as corpus:
            each = milliseconds_a_query(corpus, questions)
            rate = queries_a_second(corpus, questions)
        show("", "measured", "target")
        show("passages", f"{first['passages']:.0f}")
        show("indexing, seconds", f"{first['seconds']:.1f}", "under 20")
        show("indexing, CPU seconds", f"{first['cpu']:.1f}")
        show("peak memory, MB", f"{first['megabytes']:.0f}", "under 500")
        show("index over text", f"{size(index) / text:.2f}", "under 3")
        show("second update, nothing changed, seconds", f"{second['seconds']:.3f}")
        show("opening, ms, median", f"{milliseconds_to_open(index):.1f}", "few")
        show("one query, ms, median", f"{statistics.median(each):.1f}", "few")
        show("one query, ms, 95 of 100 below", f"{each[int(len(each) * 0.95)]:.1f}")
        show("queries a second in a batch, one thread", f"{rate:.0f}", "150")


if __name__ == "__main__":
    main()
