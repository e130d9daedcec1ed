"""What the method `best` knows as it goes: its settings, and the claims that hold so far beside those that fail."""

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
UNSURE = "stays as it is, marked: the judge is not sure of it, and no rewriting holds"


@dataclass(frozen=True, slots=True)
class Doubt:
    """From which score of the judge up to, but not including, which one the verifier model decides."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Task:
    """What stays the same for one text: an answer, or a paragraph of a report.

    Without a `doubt` no verifier is asked. `keeps_unsure` says whether a claim may stay of which the judge is unsure.
    `present` makes what is shown of a state: itself, or the report that it is a part of.
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
        """What is asked for the text from these passages."""
        if self.paragraph is not None:
            return Write(self.question, passages, (), (self.paragraph,), "long", inline=True)
        return self.answering(passages)

    @property
    def asked(self) -> str:
        """What the text is to answer: the question, or what a paragraph tells of it."""
        return f"{self.question}: {self.paragraph.title}" if self.paragraph else self.question

    def answering(self, passages: tuple[Passage, ...]) -> AnswerPrompt:
        """What is asked for an answer from these passages."""
        return AnswerPrompt(self.asked, passages, self.style, self.examples, self.prompt)

    def doubts(self, claim: Claim) -> bool:
        """Whether the verifier is to decide about a claim; of one without citations it could say nothing."""
        if self.doubt is None or claim.support is None or not claim.citations:
            return False
        labels = ("supported", "unsure") if self.keeps_unsure else ("supported",)
        return claim.support.label in labels and self.doubt.low <= claim.support.score < self.doubt.high

    def tolerates(self, one: Settled) -> bool:
        """Whether a claim that no rewriting could mend may stay, labelled as the judge has it."""
        support = one.claim.support
        is_unsure = support is not None and support.label == "unsure" and bool(one.claim.citations)
        return is_unsure and self.keeps_unsure and one.borne_out is not False


@dataclass(frozen=True, slots=True)
class State:
    """The claims in their order, those that fail among them; `answer` has only the claims that hold.

    `left_out` are sentences that did not come to hold; `unsaid` is the note on a last reply that was empty or refused.
    """

    answer: Answer
    claims: tuple[Settled, ...] = ()
    left_out: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()

    @property
    def failing(self) -> tuple[Settled, ...]:
        """The claims that are to be rewritten or left out."""
        return tuple(one for one in self.claims if not one.holds)

    @property
    def holding(self) -> tuple[Claim, ...]:
        """The claims that stay as they are."""
        return tuple(one.claim for one in self.claims if one.holds)

    @property
    def draft(self) -> Answer:
        """The answer as it could be given now, with a note of what it lacks."""
        texts = dict.fromkeys((*self.left_out, *(one.claim.text for one in self.failing)))
        if not texts:
            return self.answer
        listed = " ".join(f"“{text}”" for text in texts)
        note = f"Left out, since no passage that was read supports it ({len(texts)}): {listed}"
        return replace(self.answer, notes=(*self.answer.notes, note))

    def telling(self, *rounds: Round, invalid: int = 0) -> State:
        """With more of the story."""
        count = self.answer.invalid_citations + invalid
        answer = replace(self.answer, rounds=(*self.answer.rounds, *rounds), invalid_citations=count)
        return replace(self, answer=answer)

    def noting(self, *notes: str) -> State:
        """With more notes for the reader."""
        return replace(self, answer=replace(self.answer, notes=(*self.answer.notes, *notes)))

    def reading(self, passages: Sequence[Passage]) -> State:
        """With more passages read."""
        return replace(self, answer=replace(self.answer, passages=distinct((*self.answer.passages, *passages))))

    def searching(self, found: Sequence[Evidence], n: int) -> State:
        """Having read what the searches of round `n` found, with a note of those that failed."""
        passages, queries = gathered(found), tuple(one.query for one in found)
        told = Round("search", n, read=ids(passages), queries=queries, dropped=failed(found))
        return self.telling(told).noting(*missing(found, self.answer.notes)).reading(passages)

    def having(self, claims: Sequence[Settled]) -> State:
        """With these claims in the place of its own."""
        holding = tuple(one.claim for one in claims if one.holds)
        answer = replace(self.answer, status="answered" if holding else "abstained", claims=holding)
        return replace(self, answer=answer, claims=tuple(claims))

    def leaving_out(self, texts: Sequence[str]) -> State:
        """With these sentences among those that did not come to hold."""
        return replace(self, left_out=tuple(dict.fromkeys((*self.left_out, *texts))))

    def finished(self, task: Task) -> State:
        """The end: what still fails is left out, or stays where the task tolerates it; either is told.

        Where no claim is left and the last reply tells nothing of the sources, a note says so.
        """
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
