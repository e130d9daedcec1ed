"""Scripted models and runs for the tests of CaLM."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from toulmin.data import Answer, Passage
from toulmin.driver.drive import Driver, Job, Outcome, Watch
from toulmin.driver.kit import Kit
from toulmin.judges.lexical import Lexical
from toulmin.methods.calm import calm
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import Correct
from toulmin.retrieval.bm25 import StaticRanking
from toulmin.steps import Generate

QUESTION = "Who sings don't tell me what to do?"
POOL = tuple(Passage.of(f"Keeper {n} lit the lamp of the tower.", f"Title {n}") for n in range(1, 31))


TRUE = "Lamps burned brightly [2]."
FALSE = "Painters covered every wall green later on [3]."
FOUR = "red lamps burned brightly [1]."  # three pairs of words


def numbers(passages: Iterable[Passage | str], pool: Sequence[Passage] = POOL) -> list[int]:
    """The places of passages, or of their ids, in the pool, from 1."""
    places = {passage.id: n for n, passage in enumerate(pool, start=1)}
    return [places[item if isinstance(item, str) else item.id] for item in passages]


class Writer(ScriptedModel):
    """Replies line by line from a script whose marks count the pool, as the paper's figures do; the last line lasts.

    `[*]` cites whatever passage is shown first.
    """

    def __init__(self, *script: str, omitted: int = 0) -> None:
        super().__init__(self._write)
        self.script = script
        self.omitted = omitted
        self.asked: list[Generate] = []

    def _write(self, request: Generate) -> Reply:
        self.asked.append(request)
        text = self.script[min(len(self.asked), len(self.script)) - 1]
        label = {n: i for i, n in enumerate(numbers(request.prompt.passages), start=1)}
        marked = re.sub(r"\[(\d+)\]", lambda m: f"[{label.get(int(m[1]), 99)}]", text)
        return Reply(
            marked.replace("[*]", "[1]"),
            omitted=min(self.omitted, len(label)),
        )

    @property
    def shown(self) -> list[list[int]]:
        """The passages of each prompt, by their places in the pool."""
        return [numbers(request.prompt.passages) for request in self.asked]


@dataclass
class Run:
    """What became of a question, and what both models were asked."""

    main: Writer
    verifier: Writer
    outcome: Outcome = field(init=False)

    @property
    def answer(self) -> Answer:
        return self.outcome.answer

    @property
    def drafts(self) -> list[list[str]]:
        """The draft that each correction prompt showed, with places in the pool."""
        prompts = [request.prompt for request in self.main.asked if isinstance(request.prompt, Correct)]
        return [
            [" ".join([claim.text, *map(str, numbers(claim.cited))]) for claim in prompt.draft] for prompt in prompts
        ]

    @property
    def kinds(self) -> list[str]:
        return [told.kind for told in self.answer.rounds]

    def told(self, kind: str) -> list[Any]:
        return [told for told in self.answer.rounds if told.kind == kind]


def run(
    main: Writer | str,
    verifier: Writer | str = "",
    stock: int | Sequence[Passage] = 20,
    watch: Watch | None = None,
    **options: Any,
) -> Run:
    """A run over the first `stock` passages, or over given ones; `watch` is shown the drafts."""
    made = Run(*(Writer(model) if isinstance(model, str) else model for model in (main, verifier)))
    kit = Kit(
        StaticRanking(POOL[:stock] if isinstance(stock, int) else stock),
        Lexical(),
        {"main": made.main, "verifier": made.verifier},
    )
    job = Job(QUESTION, "calm", options.get("style", "long"), lambda: calm(QUESTION, **options))
    made.outcome = asyncio.run(Driver(kit).answer(job, watch))
    if made.outcome.error:
        raise made.outcome.error
    return made
