"""A run killed ten times at random moments and resumed, held against one that nobody touched.

    python benchmarks/resuming.py [--questions 500] [--kills 10] [--concurrency 16] [--seed 1]

Questions of `pool_questions`, each with its gold and distractor passages beside it where it has them, answered by
`vanilla` from a model that says the first sentence of its first passage after 20 ms and writes down that it was asked.
The process gets SIGKILL at a moment drawn between its first answer and its end. What must hold: the same answers as
the run that was left alone (sorted by id, times aside), and no more questions asked than there are, plus what was in
flight at each kill.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any

from data import rows
from headings import heading

WORKER = """
import asyncio, sys
import toulmin
from toulmin.steps import Reply

class Logged:
    name, concurrency = "logged", 64
    async def generate(self, requests):
        prompt = requests[0].prompt
        with open(sys.argv[3], "a") as log:
            log.write(prompt.question.replace(chr(10), " ") + chr(10))
        await asyncio.sleep(0.02)
        return [Reply(prompt.passages[0].text.split(". ")[0] + " [1].")]

if __name__ == "__main__":
    toulmin.run(sys.argv[1], out=sys.argv[2], method="vanilla", model=Logged(), concurrency=int(sys.argv[4]))
"""


def dataset(file: Path, count: int) -> None:
    """Questions with passages of their own, as a person's JSONL."""
    corpus = {row["id"]: row for row in rows("pool_corpus")}
    asked = [row for row in rows("pool_questions") if row["gold_passages"]][:count]
    with file.open("w", encoding="utf-8") as out:
        for row in asked:
            docs = [{"title": corpus[id]["title"], "text": corpus[id]["text"]} for id in row["gold_passages"]]
            out.write(json.dumps({"id": row["id"], "question": row["question"], "docs": docs}) + "\n")


class Runs:
    """Starts the worker over one dataset, and reads what it left."""

    def __init__(self, folder: Path, concurrency: int) -> None:
        self._folder, self._concurrency = folder, concurrency
        self.dataset = folder / "questions.jsonl"
        (folder / "worker.py").write_text(WORKER, "utf-8")

    def start(self, name: str) -> subprocess.Popen[bytes]:
        """The worker, answering into the folder of that name."""
        parts = [self._folder / "worker.py", self.dataset, self._folder / name, self.log(name), self._concurrency]
        return subprocess.Popen([sys.executable, *map(str, parts)])

    def log(self, name: str) -> Path:
        """Where the worker writes down what it asks."""
        return self._folder / f"{name}.log"

    def asked(self, name: str) -> int:
        """How many questions its model was asked so far."""
        return self.log(name).read_bytes().count(b"\n") if self.log(name).exists() else 0

    def answers(self, name: str) -> list[dict[str, Any]]:
        """By id, times aside."""
        found = [json.loads(line) for line in (self._folder / name / "answers.jsonl").read_text("utf-8").splitlines()]
        for answer in found:
            answer["usage"]["seconds"] = 0
        return sorted(found, key=lambda answer: str(answer["id"]))


def killed(runs: Runs, moments: Sequence[float]) -> list[int]:
    """Kills the run at those moments (seconds after it asked anew), lets it end, and tells how much it had asked."""
    asked = []
    for moment in moments:
        before = runs.asked("killed")
        process = runs.start("killed")
        while process.poll() is None and runs.asked("killed") == before:
            sleep(0.002)
        sleep(moment)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        asked.append(runs.asked("killed"))
    if runs.start("killed").wait() != 0:
        raise SystemExit("The last run did not end well.")
    return asked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    drawn = random.Random(given.seed)
    with TemporaryDirectory() as place:
        runs = Runs(Path(place), given.concurrency)
        dataset(runs.dataset, given.questions)
        started = perf_counter()
        if runs.start("whole").wait() != 0:
            raise SystemExit("The run that nobody touched did not end well.")
        whole = perf_counter() - started
        moments = [drawn.uniform(0, 0.8 * whole / given.kills) for _ in range(given.kills)]
        asked = killed(runs, moments)
        same = runs.answers("whole") == runs.answers("killed")
        again = runs.asked("killed") - given.questions
        print(heading("resuming.py", f"{given.questions} questions, {given.concurrency} in flight, seed {given.seed}."))
        print(f"left alone: {whole:.1f} s; asked by each kill: {' '.join(map(str, asked))}")
        print(f"the same answers: {'yes' if same else 'NO'}")
        print(f"asked again: {again} (at most {given.kills * given.concurrency} were in flight)")
        print("```")
        if not same or again > given.kills * given.concurrency:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
