"""Reports about topics, planned and not: attribution, length, repetition, as in the plan paper's Tables 1 to 5 and 10.

    python benchmarks/reports.py [--limit 20] [--model extractive] [--json FILE]

Topics are titles of `pool_corpus` that at least four of its records bear, drawn at random with a fixed seed. Every row
writes about the same topics in style report over BM25 on the whole corpus, with the methods' own settings but for what
the row names; a plan's report has a section for each paragraph of its outline, the paper's is one paragraph.

AIS is counted alike for all rows, whatever a method thinks of its own claims: a sentence is attributed when the lexical
judge finds a single passage among all that the method read that supports it; for no retrieval among those that the
topic itself retrieves. Strict is the share of texts of which all sentences are, macro the mean share of a text, micro
the share of all sentences. A text without sentences is not attributed, 0 in macro, and adds nothing to micro. Distinct
n-grams are the share of a text's n-grams that are different ones, length is in words; both of the texts written.

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
from time import perf_counter
from typing import Any

from data import rows
from headings import heading
from writer_sets import Pool

from toulmin.build.session import Session
from toulmin.build.sources import Sources
from toulmin.config import Settings
from toulmin.data import Answer, Style
from toulmin.driver.drive import Driver, Job
from toulmin.extractive.evidence import SentenceReader
from toulmin.judges.lexical import Lexical
from toulmin.methods.direct import closed, vanilla
from toulmin.methods.plan import plan
from toulmin.steps import Pair
from toulmin.text.language import words

STYLE: Style = "report"
SEED = 7
LEAST_RECORDS = 4


@dataclass(frozen=True)
class Row:
    """A line of the table: a method with its options."""

    name: str
    method: Any
    options: dict[str, Any] = field(default_factory=dict)

    def job(self, topic: str) -> Job:
        """The job of writing about the topic."""
        return Job(topic, self.name, STYLE, lambda: self.method(topic, style=STYLE, **self.options))


UNCITED = {"inline": False, "prompt": "plain"}
ONE, B = {"layout": "one"}, {"variant": "B"}
ROWS = (
    Row("no retrieval", closed, {"attribute": True, "prompt": "plain"}),
    Row("one retrieval", vanilla, UNCITED),
    Row("one retrieval, k doubled", vanilla, {**UNCITED, "k": 10}),
    Row("plan A", plan),
    Row("plan B", plan, B),
    Row("plan A, one paragraph", plan, ONE),
    Row("plan B, one paragraph", plan, {**B, **ONE}),
    Row("  without a second search", plan, {**B, **ONE, "second_search": False}),
    Row("  unanswerable ones left out", plan, {**B, **ONE, "unanswerable": "drop"}),
    Row("  without an outline", plan, {**B, **ONE, "outline": False}),
)


def attributed(answer: Answer, judge: Lexical) -> list[bool]:
    """Of each sentence whether some passage that was read supports it by itself (AutoAIS over evidence sets)."""
    pairs = [Pair((passage,), claim.text) for claim in answer.claims for passage in answer.passages]
    held, n = [verdict.entails for verdict in judge.judge(pairs)], len(answer.passages)
    return (
        [any(held[start : start + n]) for start in range(0, n * len(answer.claims), n)]
        if n
        else [False] * len(answer.claims)
    )


def titles(count: int) -> list[str]:
    """Titles that several records bear, in a fixed random order."""
    borne = Counter(row["title"] for row in rows("pool_corpus"))
    return random.Random(SEED).sample(sorted(title for title, n in borne.items() if n >= LEAST_RECORDS), count)


@dataclass(frozen=True)
class Figures:
    """One row's figures; shares from 0 to 1, micro None where nothing was written, the rest means of one text."""

    name: str
    written: int
    strict: float
    macro: float
    micro: float | None
    length: float
    distinct: tuple[float, float, float]
    sections: float
    calls: float
    searches: float
    questions: dict[str, int]

    def line(self) -> str:
        """The row as a line of the table."""
        micro = "     -" if self.micro is None else f"{100 * self.micro:6.1f}"
        distinct = " ".join(f"{100 * value:6.1f}" for value in self.distinct)
        asked = " ".join(f"{self.questions.get(outcome, 0):5}" for outcome in OUTCOMES)
        rest = f"{self.length:6.0f} {self.sections:5.1f} {self.calls:5.1f} {self.searches:5.1f}"
        shares = f"{100 * self.strict:6.1f} {100 * self.macro:6.1f} {micro} {distinct}"
        return f"{self.name:28} {self.written:7} {shares} {rest} {asked}"


OUTCOMES = ("answered", "partly", "unanswerable")
HEAD = (
    f"{'':28}                AIS           distinct n-grams                  a text       questions in all\n"
    f"{'':28} written strict  macro  micro      1      2      3  words  sect calls  srch  answ. part. unans."
)


def figures(name: str, answers: Sequence[Answer]) -> Figures:
    """The figures of one row."""
    judge = Lexical()
    held = [attributed(answer, judge) for answer in answers]
    sentences = [is_held for own in held for is_held in own]
    told = [answer for answer in answers if answer.claims]
    spoken = [_words(answer) for answer in told]
    return Figures(
        name,
        len(told),
        _mean([bool(own) and all(own) for own in held]),
        _mean([fmean(own) if own else 0.0 for own in held]),
        _mean(sentences) if sentences else None,
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
    async with Session(Sources(retriever=Pool().index), Settings(model=model)) as session:
        parts, _ = session.equip()
        driver = Driver(replace(parts, reader=SentenceReader()))
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
    parser.add_argument("--limit", type=int, default=20, help="how many titles")
    parser.add_argument("--model", default="extractive")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    topics = titles(given.limit)
    settings = (
        f"{len(topics)} titles of pool_corpus, style {STYLE}; writer {given.model}, judge {Lexical().name}, reader"
    )
    print(heading("reports.py", f"{settings} {SentenceReader.name}; AIS and n-grams of 100.\n\n{HEAD}"))
    started = perf_counter()
    found = asyncio.run(measured(given.model, topics))
    print(f"\n{perf_counter() - started:.0f} s\n```")
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in found], indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
