"""Scripted parts for tests of Self-RAG: a model that writes by passage, and replies with probabilities."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from math import log
from typing import Any

from toulmin.data import Answer, Hit, Passage, Round
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Driver, Job, Outcome
from toulmin.driver.kit import Kit, LanguageModel
from toulmin.methods.selfrag import self_rag
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.reflection import NextSegment
from toulmin.prompts.replies import Reply, TokenLogprob
from toulmin.steps import Generate, Pair, Verdict

QUESTION = "When was the tower lit?"
A, B, C = PASSAGES = tuple(Passage.of(f"Passage {letter} says so.", letter) for letter in "ABC")

Write = Callable[[NextSegment], str | Reply]


class Judge:
    """Supports what cites a passage; nothing else."""

    name = "oracle"

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return [Verdict("supported", 0.9, 0.0, self.name) for _ in pairs]


class Corpus:
    """Finds all passages for the question, and passage C alone for anything else."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        self.asked: list[str] = []

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        self.asked += queries
        return [[Hit(p, 1.0) for p in (self.passages if q == QUESTION else (C,))[:k]] for q in queries]


class Run:
    """One question through the driver, with everything that was asked on the way."""

    def __init__(
        self,
        write: Write | LanguageModel,
        passages: Sequence[Passage] = PASSAGES,
        budget: Budget | None = None,
        **options: Any,
    ) -> None:
        self.asked: list[Generate] = []
        self.corpus, self.drafts = Corpus(passages), list[Answer]()
        model = ScriptedModel(lambda request: self._write(write, request)) if callable(write) else write
        kit = Kit(self.corpus, Judge(), {"main": model})
        style = options.get("style", "long")
        self.job = Job(QUESTION, "self-rag", style, lambda: self_rag(QUESTION, **options), budget or Budget())
        self.outcome: Outcome = asyncio.run(Driver(kit).answer(self.job, self.drafts.append))
        self.answer, self.error = self.outcome.answer, self.outcome.error

    def _write(self, write: Write, request: Generate) -> str | Reply:
        self.asked.append(request)
        return write(request.prompt)

    @property
    def prompts(self) -> list[NextSegment]:
        return [request.prompt for request in self.asked]

    @property
    def claims(self) -> list[tuple[str, str]]:
        """Each claim with the letters of the passages that it cites."""
        titles = {passage.id: passage.title for passage in PASSAGES}
        return [(claim.text, "".join(titles[id] for id in claim.cited)) for claim in self.answer.claims]

    def rounds(self, kind: str) -> list[Round]:
        return [told for told in self.answer.rounds if told.kind == kind]


def always(write: Write, **options: Any) -> Run:
    return Run(write, retrieve="always", **options)


def by_passage(**replies: str | Reply) -> Write:
    """Says of each passage what is given for its title, and nothing of others; asked for no passage, to search."""
    return lambda prompt: replies.get(prompt.passage.title, "") if prompt.passage else "[Retrieval]"


def in_turn(*segments: dict[str, str]) -> Write:
    """Says in the n-th segment what is given for a passage; the n-th is known by the stops in what is written."""

    def write(prompt: NextSegment) -> str:
        at = prompt.written.count(".")
        return segments[at].get(prompt.passage.title if prompt.passage else "", "") if at < len(segments) else ""

    return write


def reply(*tokens: str | tuple[str, dict[str, float]], text: str | None = None, finish: Any = "stop") -> Reply:
    """A reply whose tokens have probability 1, or those given for the tokens weighed at their place."""
    places = []
    for token in tokens:
        written, odds = (token, {token: 1.0}) if isinstance(token, str) else token
        places.append(TokenLogprob(written, log(odds[written]), tuple((name, log(p)) for name, p in odds.items())))
    joined = "".join(place.token for place in places)
    return Reply(joined if text is None else text, logprobs=tuple(places), finish=finish)


LIT = "[Relevant]Lit in 1824.[Fully supported][Utility:5]"
MORE = "[Relevant]{}[Fully supported][Retrieval]"
LAST = "[Relevant]{}[Fully supported][Utility:5]"
CRITIC = reply(
    ("[Relevant]", {"[Relevant]": 0.6, "[Irrelevant]": 0.2}),
    ("Lit.", {"Lit.": 0.5}),
    (
        "[Fully supported]",
        {"[Fully supported]": 0.5, "[Partially supported]": 0.25, "[No support / Contradictory]": 0.25},
    ),
    ("[Utility:5]", {"[Utility:5]": 0.8, "[Utility:1]": 0.2}),
)
