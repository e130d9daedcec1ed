"""Texts about topics, planned and not: attribution, length and repetition, as in the plan paper's Tables 1 to 5 and 10.

    python benchmarks/reports.py [--titles 20] [--model extractive] [--json FILE]

Topics are titles of `pool_corpus` that at least four of its records bear, drawn at random with a fixed seed. Every row
writes about the same topics over BM25 on the whole corpus, with the methods' own settings but for what the row names.

AIS is counted alike for all rows, whatever a method thinks of its own claims: a sentence is attributed when the lexical
judge finds one passage, or two of the five best together, that support it among all that the method read; for `closed`
those that the topic itself retrieves. Strict is the share of texts of which all sentences are, macro the mean share of
a text, micro the share of all sentences. Distinct n-grams are the share of a text's n-grams that are different ones.

The embedded writer copies sentences, so its AIS tells whether the methods lose what they read, not how far a language
model keeps to it; name one with --model for that. It has nothing to say from memory.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from data import rows
from writer_sets import Pool

from toulmin.build import equipped
from toulmin.config import Settings
from toulmin.data import Answer
from toulmin.grounding.steps import Program
from toulmin.grounding.verify import smallest_support
from toulmin.judges.reader import Embedded
from toulmin.language import words
from toulmin.methods.direct import closed, vanilla
from toulmin.methods.plan import plan
from toulmin.run.drive import Driver, Job

SEED = 7
LEAST_RECORDS = 4


@dataclass(frozen=True)
class Row:
    """A line of the table: a method with its options."""

    name: str
    method: Any
    options: dict[str, Any] = field(default_factory=dict)

    def job(self, topic: str) -> Job:
        """The job of writing about the topic, and of judging what was written by all that was read."""
        style = self.options.get("style", "long")
        return Job(topic, self.name, style, lambda: _attributed(self.method(topic, **{"style": "long"} | self.options)))


UNCITED = {"inline": False, "prompt": "plain"}
REPORT = {"style": "report"}
ROWS = (
    Row("no retrieval", closed, {"attribute": True, "prompt": "plain"}),
    Row("one retrieval", vanilla, UNCITED),
    Row("one retrieval, k doubled", vanilla, {**UNCITED, "k": 10}),
    Row("plan A", plan),
    Row("plan A, no outline", plan, {"outline": False}),
    Row("plan B", plan, {"variant": "B"}),
    Row("plan B, no second search", plan, {"variant": "B", "second_search": False}),
    Row("plan B, unanswerable left out", plan, {"variant": "B", "unanswerable": "drop"}),
    Row("report A", plan, REPORT),
    Row("report B", plan, {**REPORT, "variant": "B"}),
)


def _attributed(program: Program[Answer]) -> Program[Answer]:
    answer = yield from program
    claims = yield from smallest_support([(claim, answer.passages) for claim in answer.claims])
    return replace(answer, claims=tuple(claims))


def titles(count: int) -> list[str]:
    """Titles that several records bear, in a fixed random order."""
    borne = Counter(row["title"] for row in rows("pool_corpus"))
    return random.Random(SEED).sample(sorted(title for title, n in borne.items() if n >= LEAST_RECORDS), count)


@dataclass(frozen=True)
class Figures:
    """One row's figures over the topics on which it wrote something; shares from 0 to 1, the rest means a topic."""

    name: str
    written: int
    strict: float
    macro: float
    micro: float
    length: float
    distinct: tuple[float, float, float]
    sections: float
    calls: float
    searches: float
    questions: dict[str, int]

    def line(self) -> str:
        """The row as a line of the table."""
        shares = " ".join(f"{100 * value:6.1f}" for value in (self.strict, self.macro, self.micro, *self.distinct))
        asked = " ".join(f"{self.questions.get(outcome, 0):4}" for outcome in ("answered", "partly", "unanswerable"))
        rest = f"{self.length:6.0f} {self.sections:5.1f} {self.calls:5.1f} {self.searches:5.1f}"
        return f"{self.name:30} {self.written:7} {shares} {rest}  {asked}"


HEAD = f"{'':30} written strict  macro  micro 1-gram 2-gram 3-gram  words  sect calls srch  answered/partly/unansw."


def figures(name: str, answers: Sequence[Answer]) -> Figures:
    """The figures of one row."""
    told = [answer for answer in answers if answer.claims]
    shares = [fmean(claim.is_supported for claim in answer.claims) for answer in told]
    sentences = [claim.is_supported for answer in told for claim in answer.claims]
    spoken = [_words(answer) for answer in told]
    return Figures(
        name,
        len(told),
        _mean([share == 1 for share in shares]),
        _mean(shares),
        _mean(sentences),
        _mean([len(text) for text in spoken]),
        (_distinct(spoken, 1), _distinct(spoken, 2), _distinct(spoken, 3)),
        _mean([len(answer.sections) for answer in told]),
        _mean([sum(answer.usage.calls.values()) for answer in answers]),
        _mean([answer.usage.searches for answer in answers]),
        dict(Counter(question.outcome for answer in answers for question in answer.questions)),
    )


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


def _words(answer: Answer) -> list[str]:
    text = " ".join(claim.text for claim in answer.claims).casefold()
    return [text[word.start : word.end] for word in words(text)]


def _distinct(texts: Sequence[Sequence[str]], n: int) -> float:
    grams = [list(zip(*(text[i:] for i in range(n)), strict=False)) for text in texts]
    return _mean([len(set(own)) / len(own) for own in grams if own])


async def measured(model: str, topics: Sequence[str]) -> list[Figures]:
    """Every row over the topics."""
    found = []
    async with equipped(Pool().index, Settings(model=model)) as parts:
        driver = Driver(replace(parts, reader=Embedded()))
        for row in ROWS:
            outcomes = [outcome async for outcome in driver.in_order(map(row.job, topics))]
            failed = [outcome.error for outcome in outcomes if outcome.error]
            if failed:
                raise SystemExit(f"{row.name}: {failed[0]}")
            found.append(figures(row.name, [outcome.answer for outcome in outcomes]))
            print(found[-1].line(), flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--titles", type=int, default=20)
    parser.add_argument("--model", default="extractive")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    topics = titles(given.titles)
    print(f"{len(topics)} titles of pool_corpus, writer {given.model}\n{HEAD}")
    found = asyncio.run(measured(given.model, topics))
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in found], indent=1), "utf-8")


if __name__ == "__main__":
    main()
