"""Runs methods over the questions of the simulation, with the faulty writer in the place of a language model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import data
from gold import Question
from scoring import Score, score

from simulations.faulty import Faulty
from simulations.truth import Fact
from toulmin.data import Answer, Hit, Style
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Judge, Kit, LanguageModel
from toulmin.extractive.evidence import SentenceReader
from toulmin.indexing.store import open_index
from toulmin.indexing.update import update
from toulmin.judges.lexical import Lexical
from toulmin.methods import load_method
from toulmin.retrieval.bm25 import Bm25

STYLE: Style = "long"
POLICY = "flag"  # of other methods as `keep`; `best` leaves out what fails, as people see it
INDEPENDENT = 1_000  # added to a seed: the verifier is another model than the main one


@dataclass(frozen=True)
class Row:
    """A method with its options, as a line of a table."""

    name: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)


class Remembering:
    """A retriever that searches once for what several methods search for."""

    def __init__(self, retriever: Any) -> None:
        self._retriever = retriever
        self._known: dict[tuple[str, int], Sequence[Hit]] = {}

    def search(self, queries: Sequence[str], k: int) -> list[Sequence[Hit]]:
        """At most `k` hits a query, best first."""
        new = [query for query in dict.fromkeys(queries) if (query, k) not in self._known]
        for query, hits in zip(new, self._retriever.search(new, k), strict=True):
            self._known[query, k] = hits
        return [self._known[query, k] for query in queries]


@contextmanager
def pool_index() -> Iterator[Remembering]:
    """BM25 over an index of `pool_corpus`, made anew in a temporary folder."""
    with TemporaryDirectory() as folder:
        update(Path(folder) / "index", [data.path("pool_corpus")])
        with open_index(Path(folder) / "index") as corpus:
            yield Remembering(Bm25(corpus))


def facts_by_question(asked: Sequence[Question]) -> dict[str, tuple[Fact, ...]]:
    """What the writers know."""
    return {question.text: question.facts for question in asked}


def writers(asked: Sequence[Question], rate: float, seed: int) -> dict[str, LanguageModel]:
    """The main model and an independent small one as verifier, both with faults at that rate."""
    facts = facts_by_question(asked)
    main = Faulty(facts, rate, seed)
    return {"main": main, "verifier": Faulty(facts, rate, seed + INDEPENDENT, small=True)}


def kit(retriever: Any, models: Mapping[str, LanguageModel], judge: Judge | None = None) -> Kit:
    return Kit(retriever, judge or Lexical(), models, SentenceReader())


@dataclass(frozen=True)
class Run:
    """One row over all questions under one seed: a score a question, and the answers where they are wanted."""

    row: Row
    scores: tuple[Score, ...]
    answers: tuple[Answer, ...] = ()


def run(parts: Kit, asked: Sequence[Question], rows: Sequence[Row], *, keep: bool = False) -> list[Run]:
    """Every row over every question, with one driver, so that equal searches and judgements are made once."""
    return asyncio.run(_run(parts, asked, rows, keep))


async def _run(parts: Kit, asked: Sequence[Question], rows: Sequence[Row], keep: bool) -> list[Run]:
    driver = Driver(parts)
    runs = []
    for row in rows:
        jobs = [Job(q.text, row.method, STYLE, program(row, q.text), id=q.id) for q in asked]
        answers = [outcome.answer async for outcome in driver.in_order(jobs)]
        scores = tuple(score(question, answer) for question, answer in zip(asked, answers, strict=True))
        runs.append(Run(row, scores, tuple(answers) if keep else ()))
    return runs


def program(row: Row, question: str) -> Callable[[], Any]:
    """The row's method on the question, as a driver starts it."""
    method = load_method(row.method)
    return lambda: method(question, style=STYLE, unsupported=POLICY, **row.options)


def by_question(runs: Sequence[Run], measure: Callable[[Score], float]) -> list[float]:
    """One value a question: the mean over the runs, one a seed."""
    return [fmean(map(measure, scores)) for scores in zip(*(run.scores for run in runs), strict=True)]
