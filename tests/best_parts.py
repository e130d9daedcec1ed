"""A question answered by `best` from scripted parts: replies in turn by kind, a judge that knows what holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any

from ended import Ended
from vtg_parts import PASSAGES, QUESTION, letters

from toulmin.data import Hit, Label, Round
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Job
from toulmin.driver.kit import Kit
from toulmin.errors import ModelError, SourceError
from toulmin.methods.best import best
from toulmin.methods.reporting import rescue_draft
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import AnswerPrompt, Outline, Queries, Refine, Write
from toulmin.steps import Generate, Pair, Verdict

RED, NEW, OLD, GONE = (f"The lamp is said to be {word}." for word in ("red", "new", "old", "gone"))
# RED holds by A, NEW by B, OLD by F, which only a search for GONE finds; GONE holds by nothing.
SUPPORTS: Mapping[str, Sequence[str]] = {RED: ["A"], NEW: ["B"], OLD: ["F"]}
FOUND = {QUESTION: "ABCDEFGHI", GONE: "FG", OLD: "F"}


def cited(claim: str, *marks: int) -> str:
    """The claim as a model writes it."""
    return f"{claim[:-1]} {''.join(f'[{n}]' for n in marks)}."


class Judge:
    """Supports a claim by every set of passages that holds one of its sets of letters; is unsure of those in `doubts`.

    `scores` are of claims that it supports; else these have 0.9.
    """

    name = "oracle"

    def __init__(self, supports: Mapping[str, Sequence[str]], doubts: Sequence[str], scores: Mapping[str, float]):
        self.supports, self.doubts, self.scores = supports, doubts, scores

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return [self.verdict(pair) for pair in pairs]

    def verdict(self, pair: Pair) -> Verdict:
        given = set(letters([passage.id for passage in pair.premises]))
        holds = any(set(one) <= given for one in self.supports.get(pair.claim, ()))
        label: Label = "supported" if holds else "unsure" if pair.claim in self.doubts else "unsupported"
        score = self.scores.get(pair.claim, 0.9) if holds else 0.5 if label == "unsure" else 0.1
        return Verdict(label, score, 0.0, self.name)


class Corpus:
    """Finds the passages of `found` by their letters, and fails for queries that are `down` from so many hits on."""

    def __init__(self, found: Mapping[str, str], down: Mapping[str, int]) -> None:
        self.found, self.down = found, down
        self.asked: list[tuple[str, int]] = []

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        self.asked += [(query, k) for query in queries]
        if any(k >= self.down.get(query, k + 1) for query in queries):
            raise SourceError("The search server is busy.")
        return [[Hit(PASSAGES[letter], 1.0) for letter in self.found.get(query, "")[:k]] for query in queries]


class Writer:
    """Replies to each kind of prompt in turn; the last of each is repeated. An exception is raised."""

    def __init__(self, drafts: Sequence[Any], refined: Sequence[Any], **others: Sequence[Any]) -> None:
        lists = {"AnswerPrompt": drafts, "Refine": refined, **others}
        self.replies = {kind: chain(own, repeat(own[-1])) for kind, own in lists.items()}
        self.asked: list[Generate] = []

    def __call__(self, request: Generate) -> str | Reply:
        self.asked.append(request)
        kind = "verifier" if request.role == "verifier" else type(request.prompt).__name__
        reply = next(self.replies[kind])
        if isinstance(reply, ModelError):
            raise reply
        return reply if isinstance(reply, Reply) else str(reply)

    def prompts(self, kind: type[Any], role: str | None = None) -> list[Any]:
        return [one.prompt for one in self.asked if isinstance(one.prompt, kind) and role in (None, one.role)]

    @property
    def kinds(self) -> str:
        """What was asked, in order: Answer, Refine, Queries, Outline, Write; V for the verifier."""
        first = {AnswerPrompt: "A", Refine: "R", Queries: "Q", Outline: "O", Write: "W"}
        return "".join("V" if one.role == "verifier" else first[type(one.prompt)] for one in self.asked)


class Run(Ended):
    """One question through the driver, with everything that was asked on the way."""

    def __init__(
        self,
        drafts: str | Sequence[Any],
        refined: str | Sequence[Any] = "",
        *,
        verifier: str | Sequence[Any] = "",
        supports: Mapping[str, Sequence[str]] = SUPPORTS,
        doubts: Sequence[str] = (),
        scores: Mapping[str, float] | None = None,
        found: Mapping[str, str] = FOUND,
        replies: Mapping[str, Sequence[Any]] | None = None,
        budget: Budget | None = None,
        down: Mapping[str, int] | None = None,
        **options: Any,
    ) -> None:
        def listed(given: str | Sequence[Any]) -> Sequence[Any]:
            return [given] if isinstance(given, str) else given

        options = {"k": 3, "unsupported": "flag", **options}  # what people get
        self.writer = Writer(listed(drafts), listed(refined), verifier=listed(verifier), **(replies or {}))
        self.corpus = Corpus(found, down or {})
        model = ScriptedModel(self.writer)
        kit = Kit(self.corpus, Judge(supports, doubts, scores or {}), {"main": model, "verifier": model})
        rescue = partial(rescue_draft, policy=options["unsupported"])
        style = options.get("style", "long")
        job = Job(QUESTION, "best", style, lambda: best(QUESTION, **options), budget or Budget(), rescue=rescue)
        super().__init__(kit, job)

    @property
    def cited(self) -> list[str]:
        return [letters(claim.cited) for claim in self.answer.claims]

    @property
    def notes(self) -> str:
        return " ".join(self.answer.notes)

    def rounds(self, kind: str) -> list[Round]:
        return [step for step in self.answer.rounds if step.kind == kind]

    @property
    def refine(self) -> Refine:
        """The first request to rewrite."""
        prompt = self.writer.prompts(Refine)[0]
        assert isinstance(prompt, Refine)
        return prompt
