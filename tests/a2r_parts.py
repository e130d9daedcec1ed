"""A question refined by scripted parts: drafts, feedback and refinements in turn, a judge that knows what holds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from vtg_parts import QUESTION, Corpus, Judge

from toulmin.data import Answer, Round
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit
from toulmin.methods.a2r import a2r
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import AnswerPrompt, Feedback, Refine
from toulmin.steps import Generate

# Claims that speak of all that the question asks; GOOD holds by A, FAIR by B, and BAD by nothing.
GOOD, FAIR, BAD = "The lamp is said to be red.", "The lamp is said to be new.", "The lamp is said to be gone."
SUPPORTS: Mapping[str, Sequence[str]] = {GOOD: ["A"], FAIR: ["B"]}
ALL_BAD = f"{BAD[:-1]} [3]."
ALL_GOOD = f"{GOOD[:-1]} [1]."
HALF = f"{GOOD[:-1]} [1]. {BAD[:-1]} [3]."


class Writer:
    """Replies to each kind of prompt in turn; the last of each is repeated."""

    def __init__(
        self, draft: str | Reply = HALF, refined: Sequence[str | Reply] = (ALL_GOOD,), feedback: Sequence[str] = ("",)
    ) -> None:
        self.draft = draft
        self.refined = chain(refined, repeat(refined[-1]))
        self.feedback = chain(feedback, repeat(feedback[-1]))
        self.asked: list[Generate] = []

    def __call__(self, request: Generate) -> str | Reply:
        self.asked.append(request)
        if isinstance(request.prompt, Refine):
            return next(self.refined)
        if isinstance(request.prompt, Feedback):
            return next(self.feedback)
        return self.draft

    def prompts(self, kind: type[Any]) -> list[Any]:
        return [request.prompt for request in self.asked if isinstance(request.prompt, kind)]

    @property
    def kinds(self) -> str:
        """The prompts in order: Answer, Feedback, Refine."""
        letters = {AnswerPrompt: "A", Feedback: "F", Refine: "R"}
        return "".join(letters[type(request.prompt)] for request in self.asked)


class Counting(Judge):
    """Remembers how many pairs came in each request."""

    def __init__(self, supports: Mapping[str, Sequence[str]]) -> None:
        super().__init__(supports)
        self.requests: list[int] = []

    def judge(self, pairs: Sequence[Any]) -> Any:
        self.requests.append(len(pairs))
        return super().judge(pairs)


class Run:
    """One program through the driver, with everything that was asked on the way."""

    def __init__(
        self,
        writer: Writer | None = None,
        supports: Mapping[str, Sequence[str]] = SUPPORTS,
        *,
        first: str = "ABC",
        **options: Any,
    ) -> None:
        self.writer = writer or Writer()
        self.judge = Counting(supports)
        self.drafts: list[Answer] = []
        kit = Kit(Corpus(first), self.judge, {"main": ScriptedModel(self.writer)})
        job = Job(QUESTION, "a2r", options.get("style", "long"), lambda: a2r(QUESTION, **options))
        self.outcome = asyncio.run(Driver(kit).answer(job, self.drafts.append))
        self.answer, self.error = self.outcome.answer, self.outcome.error

    @property
    def texts(self) -> list[str]:
        return [claim.text for claim in self.answer.claims]

    def rounds(self, kind: str) -> list[Round]:
        return [step for step in self.answer.rounds if step.kind == kind]

    @property
    def scores(self) -> list[Mapping[str, float]]:
        """Of each candidate in turn."""
        return [step.scores or {} for step in self.rounds("assess")]

    @property
    def chosen(self) -> list[bool | None]:
        """Whether each candidate that was written is the one returned."""
        return [step.chosen for step in self.answer.rounds if step.kind in ("draft", "refine")]


def said(run: Run) -> dict[str, str]:
    """The feedback that the first refinement was given."""
    return dict(run.writer.prompts(Refine)[0].feedback)
