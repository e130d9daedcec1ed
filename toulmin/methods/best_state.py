"""What `best` knows as it runs: its settings, and its claims with the judge's decision on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from toulmin.data import Answer, Claim, Dropped, Passage, Round, Style
from toulmin.methods.best_claims import Settled
from toulmin.methods.draws import Draws
from toulmin.methods.evidence import Evidence, failed, gathered, missing
from toulmin.methods.memory import distinct
from toulmin.methods.reporting import ids
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt, Example, Paragraph, Preset, Prompt, Write

LEFT_OUT = "left out: no passage that was read supports it"
UNSURE = "stays, marked: the judge is unsure of it, and no rewriting is supported"


@dataclass(frozen=True, slots=True)
class Doubt:
    """The verifier decides about judge scores from `low` up to, but not including, `high`."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Task:
    """What stays the same for one text: an answer, or a paragraph of a report.

    Without a `doubt` no verifier is asked. `keeps_unsure`: claims of which the judge is unsure may stay. `present`
    makes of a state what is shown: the answer, or the whole report.
    """

    question: str
    style: Style
    k: int
    max_rounds: int
    queries: int
    per_query: int
    doubt: Doubt | None
    keeps_unsure: bool
    prompt: Preset
    examples: tuple[Example, ...]
    paragraph: Paragraph | None = None
    present: Callable[[State], Answer] = field(default=lambda state: state.draft, compare=False)
    draws: Draws = field(default_factory=Draws, compare=False)

    def drafting(self, passages: tuple[Passage, ...]) -> Prompt[Draft]:
        if self.paragraph is not None:
            return Write(self.question, passages, (), (self.paragraph,), "long", inline=True)
        return self.answering(passages)

    @property
    def asked(self) -> str:
        """What the text answers; in a report with the paragraph's title."""
        return f"{self.question}: {self.paragraph.title}" if self.paragraph else self.question

    def answering(self, passages: tuple[Passage, ...]) -> AnswerPrompt:
        return AnswerPrompt(self.asked, passages, self.style, self.examples, self.prompt)

    def doubts(self, claim: Claim) -> bool:
        """Never about a claim without citations."""
        if self.doubt is None or claim.support is None or not claim.citations:
            return False
        labels = ("supported", "unsure") if self.keeps_unsure else ("supported",)
        return claim.support.label in labels and self.doubt.low <= claim.support.score < self.doubt.high

    def tolerates(self, one: Settled) -> bool:
        """Whether a failing claim may stay, labelled "unsure"."""
        support = one.claim.support
        is_unsure = support is not None and support.label == "unsure" and bool(one.claim.citations)
        return is_unsure and self.keeps_unsure and one.borne_out is not False


@dataclass(frozen=True, slots=True)
class State:
    """The claims in order; `answer` has only those that hold.

    `left_out` are sentences that were given up; `unsaid` is the note on an empty last reply or a refusal.
    """

    answer: Answer
    claims: tuple[Settled, ...] = ()
    left_out: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()

    @property
    def failing(self) -> tuple[Settled, ...]:
        return tuple(one for one in self.claims if not one.holds)

    @property
    def holding(self) -> tuple[Claim, ...]:
        return tuple(one.claim for one in self.claims if one.holds)

    @property
    def draft(self) -> Answer:
        texts = dict.fromkeys((*self.left_out, *(one.claim.text for one in self.failing)))
        if not texts:
            return self.answer
        listed = " ".join(f"“{text}”" for text in texts)
        note = f"Left out, since no passage that was read supports it ({len(texts)}): {listed}"
        return replace(self.answer, notes=(*self.answer.notes, note))

    def telling(self, *rounds: Round, invalid: int = 0) -> State:
        count = self.answer.invalid_citations + invalid
        answer = replace(self.answer, rounds=(*self.answer.rounds, *rounds), invalid_citations=count)
        return replace(self, answer=answer)

    def noting(self, *notes: str) -> State:
        return replace(self, answer=replace(self.answer, notes=(*self.answer.notes, *notes)))

    def reading(self, passages: Sequence[Passage]) -> State:
        return replace(self, answer=replace(self.answer, passages=distinct((*self.answer.passages, *passages))))

    def searching(self, found: Sequence[Evidence], n: int) -> State:
        passages, queries = gathered(found), tuple(one.query for one in found)
        told = Round("search", n, read=ids(passages), queries=queries, dropped=failed(found))
        return self.telling(told).noting(*missing(found, self.answer.notes)).reading(passages)

    def having(self, claims: Sequence[Settled]) -> State:
        holding = tuple(one.claim for one in claims if one.holds)
        answer = replace(self.answer, status="answered" if holding else "abstained", claims=holding)
        return replace(self, answer=answer, claims=tuple(claims))

    def leaving_out(self, texts: Sequence[str]) -> State:
        return replace(self, left_out=tuple(dict.fromkeys((*self.left_out, *texts))))

    def finished(self, task: Task) -> State:
        """Leaves out what still fails, or keeps it if the task tolerates it."""
        told = [
            Round(
                "repair",
                n,
                read=one.claim.cited if task.tolerates(one) else (),
                kept=(one.claim.text,) if task.tolerates(one) else (),
                dropped=(Dropped(one.claim.text, f"{UNSURE if task.tolerates(one) else LEFT_OUT} ({one.why})"),),
                chosen=True,
            )
            for n, one in enumerate(self.claims, start=1)
            if not one.holds
        ]
        claims = [replace(one, holds=True) for one in self.claims if one.holds or task.tolerates(one)]
        gone = [one.claim.text for one in self.failing if not task.tolerates(one)]
        ended = self.telling(*told).leaving_out(gone).having(claims)
        return ended if claims else ended.noting(*self.unsaid)
