"""Questions a second through the driver, embedded parts, beside the same questions one after the other.

    python benchmarks/driver.py [--questions 500] [--workers 2] [--rounds 3]

Over an index of `pool_corpus`; questions are the first of `pool_questions` dev. "Side by side" is `ask_all`: many
programs at a time in each of the worker processes, whose start is counted. "One after the other" is the same function
in this process with one question at a time and the index held open. The two take turns, and the ratio is of their
medians. Target: at least 50 questions a second, and 1.5 times.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import data

import toulmin
from toulmin import Settings, sync
from toulmin.build.sources import Sources


def seconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    questions = [row["question"] for row in islice(data.rows("pool_questions", "dev"), options.questions)]
    with TemporaryDirectory() as folder:
        index = Path(folder) / "pool"
        toulmin.index([data.path("pool_corpus")], into=index, settings=Settings())
        one_by_one = sync.Answerer(Sources(index=str(index)), Settings())

        def in_turn() -> None:
            for question in questions:
                one_by_one([question])

        def side_by_side(workers: int) -> None:
            found = list(toulmin.ask_all(questions, index=index, workers=workers, settings=Settings()))
            assert len(found) == len(questions)
            assert not any(answer.status == "failed" for answer in found)

        works = (lambda: side_by_side(options.workers), lambda: side_by_side(1), in_turn)
        times = [[seconds(work) for work in works] for _ in range(options.rounds)]
    together, in_one, alone = (statistics.median(column) for column in zip(*times, strict=True))
    n = len(questions)
    print(f"{n} questions, {options.workers} workers, median of {options.rounds} rounds")
    print(f"side by side, {options.workers} processes  {n / together:7.1f} questions/s   (target 50)")
    print(f"side by side, 1 process    {n / in_one:7.1f} questions/s")
    print(f"one after another          {n / alone:7.1f} questions/s")
    print(f"ratio of first to last     {alone / together:7.2f}               (target 1.5)")


if __name__ == "__main__":
    main()
