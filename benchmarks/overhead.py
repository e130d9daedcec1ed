"""What orchestration costs beside waiting: wall time over the ideal, and the CPU of driver, templates and client.

    python benchmarks/overhead.py [--questions 256] [--parallel 32] [--latency 0.2] [--rounds 3] [--method vtg]

A stub server in a process of its own answers every request after a fixed latency; its replies are scripted so that
VTG writes one sentence that holds, tries a second in vain until it gives up, and ends, and CaLM accepts its first
correction. The ideal is the larger of the longest chain of calls and calls x latency / parallel; times are medians of
rounds, after a warm-up. The share of each part in CPU is told apart by the same run against a model in this process
that only sleeps, without and with prompts put into words. Garbage is collected as in the worker processes of `ask_all`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from toulmin.data import Passage
from toulmin.driver.drive import Driver, Job, Outcome
from toulmin.driver.kit import Kit
from toulmin.driver.transcript import Place
from toulmin.methods import load_method
from toulmin.models.remote import Chat
from toulmin.models.server import Server
from toulmin.prompts.replies import Reply
from toulmin.prompts.templates import Templates
from toulmin.prompts.types import AnswerPrompt, Cite, Correct, NextClaim, Prompt, Queries
from toulmin.retrieval.bm25 import StaticRanking
from toulmin.steps import Generate, Pair, Verdict

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from stub_server import Rule, Stub, running_stub  # type: ignore[import-not-found,unused-ignore]

PASSAGES = tuple(
    Passage.of(f"Tower {i} was lit on {i} May 1824 by Ann Pell. " + "It stands on a rock by the sea. " * 15, "Tower")
    for i in range(1, 11)
)
K = 5
HOLDS, FAILS = "Tower 1 was lit on 1 May 1824.", "A storm has never broken the lamp."
FIRST, CORRECTED = "A storm broke the lamp in 1825 [2].", "Tower 1 was lit on 1 May 1824 by Ann Pell [1]."
RULES = (
    Rule(r"\(nothing yet\)\n</text>\n\nNext, or END:\s*$", HOLDS),
    Rule(rf"{HOLDS}\n</text>\n\nNext, or END:\s*$", FAILS),
    Rule(r"Next, or END:\s*$", "END"),
    Rule(r"Sentence with citations:\s*$", "[1][2]"),
    Rule(r"Questions, at most \d+:\s*$", "When did storms come?\nWhat broke the lamp?"),
    Rule(r"Corrected Answer:\s*$", CORRECTED),
    Rule(r"\[5\] Title: Tower\n[^\n]*\n</passage>\s*Answer:\s*$", FIRST),
    Rule(r"Answer:\s*$", CORRECTED),
)
OPTIONS: Mapping[str, Mapping[str, Any]] = {"vtg": {"max_trials": 1, "queries": 2, "per_query": 3}}
CALLS = {"vanilla": 1, "vtg": 11, "calm": 4}  # of each question, by the script
TARGETS = {"vanilla": 1.10, "vtg": 1.25, "calm": 1.25}


def reply_to(prompt: Prompt[Any]) -> str:
    """What the stub's rules say, by the prompt's type."""
    if isinstance(prompt, NextClaim):
        return "END" if FAILS in prompt.written else FAILS if HOLDS in prompt.written else HOLDS
    if isinstance(prompt, Cite):
        return "[1][2]"
    if isinstance(prompt, Queries):
        return "When did storms come?\nWhat broke the lamp?"
    if isinstance(prompt, Correct):
        return CORRECTED
    assert isinstance(prompt, AnswerPrompt)
    return FIRST if len(prompt.passages) == K else CORRECTED


class Sleeping:
    """Waits as long as the stub; `templates` also puts the prompt into words."""

    name = "sleeping"

    def __init__(self, latency: float, parallel: int, templates: Templates | None = None) -> None:
        self.concurrency = parallel
        self._latency = latency
        self._templates = templates

    async def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        """What the stub would reply."""
        if self._templates is not None:
            for request in requests:
                self._templates.render(request.prompt)
        await asyncio.sleep(self._latency)
        return [Reply(reply_to(request.prompt)) for request in requests]

    async def aclose(self) -> None:
        """Nothing to end."""


class Judge:
    """Knows what holds, and takes no time over it: judges are measured elsewhere."""

    name = "known"

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Everything holds but the one sentence."""
        return [
            Verdict("unsupported", 0.0, 0.0, "known")
            if FAILS in pair.claim
            else Verdict("supported", 1.0, 0.0, "known")
            for pair in pairs
        ]


@dataclass(frozen=True, slots=True)
class Run:
    """One run over all questions: seconds on the clock and of the CPU, calls in all, and those of the longest chain."""

    wall: float
    cpu: float
    calls: int
    chain: int

    def ideal(self, latency: float, parallel: int) -> float:
        """The seconds that waiting alone takes."""
        return latency * max(self.chain, self.calls / parallel)


def longest_chain(places: Sequence[Place]) -> int:
    """Calls that had to wait for one another: those of programs side by side count as the longest of these."""
    total = 0
    for _, of_step in groupby(sorted(places), key=lambda place: place[0]):
        inner = [place[1:] for place in of_step]
        if inner == [()]:
            total += 1
        else:
            total += max(
                longest_chain([p[1:] for p in group]) for _, group in groupby(inner, key=lambda place: place[0])
            )
    return total


def _chain(outcome: Outcome) -> int:
    entries = outcome.transcript.entries.items()
    return longest_chain([place for place, entry in entries if entry.kind.startswith("Generate")])


async def _run(model: Any, method: str, questions: int) -> Run:
    driver = Driver(Kit(StaticRanking(PASSAGES), Judge(), {"main": model, "verifier": model}))
    jobs = [
        Job(text, method, "long", partial(load_method(method), text, k=K, **OPTIONS.get(method, {})))
        for text in (f"When was tower {i} lit?" for i in range(questions))
    ]
    wall, cpu = perf_counter(), process_time()
    outcomes = [outcome async for outcome in driver.in_order(jobs)]
    wall, cpu = perf_counter() - wall, process_time() - cpu
    for outcome in outcomes:
        made = sum(outcome.answer.usage.calls.values())
        if outcome.answer.status != "answered" or made != CALLS[method]:
            raise SystemExit(
                f"{method} did not follow the script: {made} calls, {outcome.answer.status}, "
                f"{outcome.answer.notes}. Have the prompts or the method changed?"
            )
    return Run(wall, cpu, sum(map(_calls, outcomes)), max(map(_chain, outcomes)))


def _calls(outcome: Outcome) -> int:
    return sum(outcome.answer.usage.calls.values())


async def _measure(model: Any, method: str, questions: int, rounds: int) -> list[Run]:
    """Runs after a warm-up, in one event loop."""
    try:
        await _run(model, method, min(questions, 64))
        gc.freeze()
        gc.set_threshold(100_000, 50, 50)
        return [await _run(model, method, questions) for _ in range(rounds)]
    finally:
        await model.aclose()


def _cpu(runs: Sequence[Run]) -> float:
    """Milliseconds of CPU a call."""
    return 1000 * statistics.median(run.cpu / run.calls for run in runs)


def _line(method: str, stub: Stub, options: argparse.Namespace) -> str:
    """One method measured: against the stub, and against the two sleepers."""
    stub.script(*RULES, latency=options.latency)
    server = Server(base_url=stub.url, concurrency=options.parallel)
    measured = partial(_measure, method=method, questions=options.questions, rounds=options.rounds)
    waiting = (options.latency, options.parallel)
    served = asyncio.run(measured(Chat("stub", server)))
    asleep = asyncio.run(measured(Sleeping(*waiting)))
    worded = asyncio.run(measured(Sleeping(*waiting, Templates.default())))
    wall, ideal = statistics.median(run.wall for run in served), served[0].ideal(*waiting)
    bare = statistics.median(run.wall for run in asleep)
    driver, templates = _cpu(asleep), _cpu(worded) - _cpu(asleep)
    client = _cpu(served) - _cpu(worded)
    return (
        f"{method:8}{served[0].calls:7}{ideal:8.2f}{wall:9.2f}{wall / ideal:8.3f}{TARGETS[method]:8.2f}"
        f"{bare / ideal:10.3f}{driver:10.2f}{templates:11.2f}{client:8.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=256)
    parser.add_argument("--parallel", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--method", choices=TARGETS, action="append")
    options = parser.parse_args()
    print(f"{options.questions} questions, {options.parallel} parallel, latency {options.latency:g} s")
    print("                 seconds, over the ideal             asleep    CPU a call, ms (driver: target 2)")
    print("method    calls   ideal     wall   ratio  target     ratio    driver  templates  client")
    with running_stub() as stub:
        for method in options.method or TARGETS:
            print(_line(method, stub, options), flush=True)


if __name__ == "__main__":
    main()
