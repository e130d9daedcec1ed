"""Scripted parts for tests of claim-by-claim methods; a passage is known by a letter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from ended import Ended

from toulmin.data import Answer, Hit, Passage, Round, Source
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Job
from toulmin.driver.kit import Kit
from toulmin.errors import SourceError
from toulmin.methods.vtg import vtg
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import Cite, NextClaim, Prompt, Queries
from toulmin.steps import Generate, Pair, Verdict

QUESTION = "What is said of the lamp?"
PASSAGES = {c: Passage.of(f"Passage {c} says so.", c, Source(0, 18, "letters.txt")) for c in "ABCDEFGHIJ"}
LETTER = {passage.id: passage.title for passage in PASSAGES.values()}
FIRST = "ABCDE"  # what a search for the question finds
EVIDENCE = {"first query": "FG", "second query": "GH", "third query": "J"}
TWO_QUERIES = "1. first query\n2. second query"


def letters(ids: Sequence[str]) -> str:
    return "".join(LETTER[id] for id in ids)


def shown(prompt: Any) -> str:
    """The letters of the passages that a prompt shows."""
    return letters([passage.id for passage in prompt.passages])


class Writer:
    """Writes the claims in turn, then ends; cites by letter, or with a text of its own; asks queries in turn.

    The last of `queries` is repeated.
    """

    def __init__(
        self,
        claims: Sequence[str | Reply] = (),
        cites: str | Callable[[Cite], str | Reply] = "A",
        queries: Sequence[str | Reply] = (TWO_QUERIES,),
        final: str | Reply = "An answer [1].",
    ) -> None:
        self.claims = iter(claims)
        self.queries = chain(queries, repeat(queries[-1]))
        self.cites, self.final = cites, final
        self.asked: list[Generate] = []

    def __call__(self, request: Generate) -> str | Reply:
        self.asked.append(request)
        prompt = request.prompt
        if isinstance(prompt, NextClaim):
            return next(self.claims, "")
        if isinstance(prompt, Queries):
            return next(self.queries)
        return self.citing(prompt) if isinstance(prompt, Cite) else self.final

    def citing(self, prompt: Cite) -> str | Reply:
        if callable(self.cites):
            return self.cites(prompt)
        return "".join(f"[{shown(prompt).index(letter) + 1}]" for letter in self.cites)

    def requests(self, kind: type[Prompt[Any]]) -> list[Generate]:
        return [request for request in self.asked if isinstance(request.prompt, kind)]

    def read(self, kind: type[Prompt[Any]] = NextClaim) -> list[str]:
        """The letters of the passages that each prompt of that kind showed."""
        return [shown(request.prompt) for request in self.requests(kind)]


class Judge:
    """Supports a claim by every set of passages that holds one of the sets of letters given for it."""

    name = "oracle"

    def __init__(self, supports: Mapping[str, Sequence[str]]) -> None:
        self.supports = supports
        self.asked: list[tuple[str, str]] = []
        self.questions: list[str | None] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return [self.verdict(pair) for pair in pairs]

    def verdict(self, pair: Pair) -> Verdict:
        given = letters([passage.id for passage in pair.premises])
        self.asked.append((pair.claim, given))
        self.questions.append(pair.question)
        holds = any(set(one) <= set(given) for one in self.supports.get(pair.claim, ()))
        return Verdict("supported" if holds else "unsupported", 0.9 if holds else 0.1, 0.0, self.name)


class Corpus:
    """Finds the first passages for the question, and what stands in EVIDENCE for other queries but those `down`."""

    def __init__(self, first: str = FIRST, down: Collection[str] = ()) -> None:
        self.down = set(down)
        self.found = {QUESTION: first, **EVIDENCE}
        self.asked: list[tuple[str, int]] = []

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        self.asked += [(query, k) for query in queries]
        if self.down & set(queries):
            raise SourceError("The search server is busy.")
        return [[Hit(PASSAGES[letter], 1.0) for letter in self.found.get(query, "")[:k]] for query in queries]


class Run(Ended):
    """One question through the driver, with everything that was asked on the way."""

    def __init__(
        self,
        claims: Sequence[str | Reply] | Writer = (),
        supports: Mapping[str, Sequence[str]] | None = None,
        *,
        first: str = FIRST,
        budget: Budget | None = None,
        down: Collection[str] = (),
        **options: Any,
    ) -> None:
        self.writer = claims if isinstance(claims, Writer) else Writer(claims)
        self.judge = Judge(supports or {})
        self.corpus = Corpus(first, down)
        kit = Kit(self.corpus, self.judge, {"main": ScriptedModel(self.writer)})
        job = Job(QUESTION, "vtg", options.get("style", "long"), lambda: vtg(QUESTION, **options), budget or Budget())
        super().__init__(kit, job)

    @property
    def cited(self) -> list[str]:
        return [letters(claim.cited) for claim in self.answer.claims]

    def rounds(self, kind: str) -> list[Round]:
        return [step for step in self.answer.rounds if step.kind == kind]


def trials(answer: Answer) -> tuple[int, ...]:
    """The attempts for each claim, in order (Table 4)."""
    return tuple(step.trial for step in answer.rounds if step.kind == "claim" and step.chosen and step.trial)
