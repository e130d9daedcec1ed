"""What repeated calls cost in one process: beside a session that is kept open, and beside opening all each time.

    python benchmarks/sessions.py [--rounds 5]

Each question is asked once of each in every round, in turn, over an index of `pool_corpus`; the first round warms up
and is not counted. The ratios are of medians. A second call of `toulmin.ask` shares the session of the first; "opened
each time" is a session that is opened for one call and closed after it.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import data
from headings import heading

import toulmin
from toulmin.build.session import Session
from toulmin.build.sources import Sources
from toulmin.config import Settings

ASKED = 6


def measured(calls: dict[str, Callable[[str], Any]], questions: list[str], rounds: int) -> dict[str, list[float]]:
    """The seconds of each call, the ways in turn; the first round is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds + 1):
        for question in questions:
            text = f"{question} ({number})"  # a question that was asked before is remembered
            for name, call in calls.items():
                start = time.perf_counter()
                call(text)
                if number:
                    seconds[name].append(time.perf_counter() - start)
    return seconds


def report(title: str, seconds: dict[str, list[float]]) -> None:
    """A line for each way, with its ratio to the kept-open session."""
    base = statistics.median(seconds["kept open"])
    for name, times in seconds.items():
        median = statistics.median(times)
        print(f"| {title} | {name} | {1000 * median:.1f} ms | {median / base:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    settings = Settings()
    print(
        heading("sessions.py", f"pool_corpus by words, judge {settings.judge}, {rounds} rounds of {ASKED} questions.\n")
    )
    questions = [row["question"] for row in data.rows("pool_questions") if row["split"] == "train"][:ASKED]
    print("| call | way | median | of a session kept open |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        place = str(Path(folder) / "index")
        toulmin.index(data.path("pool_corpus"), into=place)
        session = Session(Sources(index=place), settings)
        runner.run(session.__aenter__())

        async def fresh(use: Callable[[Session], Any]) -> Any:
            async with Session(Sources(index=place), settings) as opened:
                return await use(opened)

        asks: dict[str, Callable[[str], Any]] = {
            "kept open": lambda q: runner.run(session.ask(q)),
            "toulmin.ask": lambda q: toulmin.ask(q, index=place, settings=settings),
            "opened each time": lambda q: runner.run(fresh(lambda opened: opened.ask(q))),
        }
        searches: dict[str, Callable[[str], Any]] = {
            "kept open": lambda q: runner.run(session.search(q, 10)),
            "toulmin.search": lambda q: toulmin.search(q, index=place, settings=settings),
            "opened each time": lambda q: runner.run(fresh(lambda opened: opened.search(q, 10))),
        }
        report("ask", measured(asks, questions, rounds))
        report("search", measured(searches, questions, 10 * rounds))
        runner.run(session.__aexit__())
    print("```")


if __name__ == "__main__":
    main()
