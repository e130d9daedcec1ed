"""The settings and the state of `best`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from toulmin.data import HOLDING, Answer, Claim, Omission, Passage, Policy, Round, Style
from toulmin.methods.evidence import ClaimToCite, Progress, cite_places, distinct, near
from toulmin.methods.reporting import Draws, add_notes, why, with_claims
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt, Example, Paragraph, Preset, Prompt, Write
from toulmin.steps import Program
from toulmin.text.language import content_terms
from toulmin.text.overlap import has_most_of
from toulmin.verify import simplify, verify

# ---------------------------------------------------------------- which claims hold, by the judge alone


CITED_AGAIN = "cited again: another passage that was read supports it"
UNPROVEN = "no passage that was read is known to support it"
REFUTED = "the verifier's answer from the cited passages does not support it"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judged claim; `holds`: it may stay; `why`: the fault or the change.

    `corroborated` is the verifier's decision, None if it was not asked. `given_up`: a rewriting lost it.
    """

    claim: Claim
    holds: bool
    why: str = ""
    corroborated: bool | None = None
    given_up: bool = False

    @property
    def fault(self) -> str:
        return REFUTED if self.corroborated is False else UNPROVEN

    @property
    def has_new_citations(self) -> bool:
        return self.why == CITED_AGAIN

    def repair_round(self, n: int, change: str, claims: Sequence[Claim] = ()) -> Round:
        """`claims` replace it, `change` is the reason."""
        read = tuple(dict.fromkeys(id for claim in claims for id in claim.cited))
        kept = tuple(claim.text for claim in claims)
        return Round("repair", n, read=read, kept=kept, dropped=(Omission(self.claim.text, change),), chosen=True)


def judge_claims(task: Task, claims: Sequence[Claim], passages: Sequence[Passage]) -> Program[tuple[Judgement, ...]]:
    """Judges claims by their citations, else by one place of a near passage, as `check --repair` does.

    Each supported claim loses needless citations; a failing one keeps its citations and their verdict.
    """
    # A word of a section answers no question.
    by_id, question, style = {p.id: p for p in passages}, "" if task.paragraph else task.question, task.style
    judged = yield from verify(claims, by_id, question, style)
    weak = [claim for claim in judged if not claim.is_supported]
    sources = distinct(by_id[id] for claim in judged for id in claim.cited)
    asked = [ClaimToCite.after(claim, near(claim, sources, passages, task.topic)) for claim in weak]
    proofs = iter((yield from cite_places(asked, question, style)))
    judgements = [_judgement_of(claim, claim if claim.is_supported else next(proofs)) for claim in judged]
    least = yield from simplify([judgement.claim for judgement in judgements], by_id, question, style)
    return tuple(replace(judgement, claim=claim) for claim, judgement in zip(least, judgements, strict=True))


def _judgement_of(judged: Claim, proven: Claim | None) -> Judgement:
    if proven is None:
        return Judgement(judged, False, why(judged))
    return Judgement(proven, True, "" if judged.is_supported else CITED_AGAIN)


# ---------------------------------------------------------------- what stays the same, and what grows


_SAID = 0.7  # of a quote's terms, from which on a sentence stands for it
UNSURE = "stays, marked: the judge is unsure of it"
KEPT = "stays, marked: claims that fail are kept"


@dataclass(frozen=True, slots=True)
class Task:
    """The settings for one text: an answer, or a paragraph of a report.

    The first draft reads the first `draft_k` passages. The verifier decides about judge scores from `doubt_from` up to,
    but not including, `doubt_to`. Policy `drop` keeps no failing claim, `flag` those of which the judge is unsure,
    `keep` all. `present` makes the draft to show. `quotes`: the rewriter quotes first, and rewrites nothing.
    """

    question: str
    style: Style
    k: int
    draft_k: int | None
    max_rounds: int
    per_query: int
    doubt_from: float
    doubt_to: float
    policy: Policy
    prompt: Preset
    examples: tuple[Example, ...]
    quotes: bool = False
    paragraph: Paragraph | None = None
    present: Callable[[State], Answer] = field(default=lambda state: state.beside_quotes().draft, compare=False)
    draws: Draws = field(default_factory=Draws, compare=False)

    def drafting(self, passages: tuple[Passage, ...]) -> Prompt[Draft]:
        if self.paragraph is not None:
            return Write(self.question, passages, (), (self.paragraph,), "long", inline=True)
        return self.answering(passages)

    @property
    def topic(self) -> str:
        """The question, in a report with the paragraph's title."""
        return f"{self.question}: {self.paragraph.title}" if self.paragraph else self.question

    def answering(self, passages: tuple[Passage, ...]) -> AnswerPrompt:
        return AnswerPrompt(self.topic, passages, self.style, self.examples, self.prompt)

    def doubts(self, claim: Claim) -> bool:
        if claim.support is None or not claim.citations:
            return False
        labels = HOLDING if self.policy == "drop" else HOLDING | {"unsure"}
        return claim.support.label in labels and self.doubt_from <= claim.support.score < self.doubt_to

    def tolerates(self, judgement: Judgement) -> bool:
        support = judgement.claim.support
        is_unsure = support is not None and support.label == "unsure" and bool(judgement.claim.citations)
        return judgement.given_up or (is_unsure and self.policy != "drop" and judgement.corroborated is not False)


@dataclass(frozen=True, slots=True)
class State(Progress):
    """The claims in order; `answer` has only those that hold, `left_out` are removed ones.

    `unsaid` is the note on an empty last reply or a refusal. `quotes` stand where the draft fails; it reads `blocks`.
    """

    claims: tuple[Judgement, ...] = ()
    left_out: tuple[Judgement, ...] = ()
    unsaid: tuple[str, ...] = ()
    quotes: tuple[Judgement, ...] = ()
    blocks: tuple[Passage, ...] = ()

    @property
    def failing(self) -> tuple[Judgement, ...]:
        return tuple(judgement for judgement in self.claims if not judgement.holds)

    @property
    def holding(self) -> tuple[Claim, ...]:
        return tuple(judgement.claim for judgement in self.claims if judgement.holds)

    @property
    def draft(self) -> Answer:
        texts: dict[str, list[str]] = {}
        for judgement in {each.claim.text: each for each in (*self.left_out, *self.failing)}.values():
            texts.setdefault(judgement.fault, []).append(f"“{judgement.claim.text}”")
        notes = (f"Left out, since {fault} ({len(gone)}): {' '.join(gone)}" for fault, gone in texts.items())
        return add_notes(self.answer, *notes)

    def having(self, claims: Sequence[Judgement], gone: Sequence[Judgement] = ()) -> State:
        answer = with_claims(self.answer, [judgement.claim for judgement in claims if judgement.holds])
        return replace(self, answer=answer, claims=tuple(claims), left_out=(*self.left_out, *gone))

    def beside_quotes(self) -> State:
        """What holds of the draft, then the quotes of which no sentence of it says most."""

        def is_said(quote: Claim) -> bool:
            return any(has_most_of(claim.text, content_terms(quote.text), _SAID) for claim in self.holding)

        quotes = [quote for quote in self.quotes if quote.holds and not is_said(quote.claim)]
        return self.having([each for each in self.claims if each.holds] + quotes, self.failing) if self.quotes else self

    def finish(self, task: Task) -> State:
        """Removes failing claims, unless the policy or the task tolerates them."""
        rounds: list[Round] = []
        staying: list[Judgement] = []
        gone: list[Judgement] = []
        for n, judgement in enumerate(self.claims, start=1):
            if judgement.holds:
                staying.append(judgement)
            elif task.policy == "keep" or task.tolerates(judgement):
                staying.append(replace(judgement, holds=True))
                way = KEPT if task.policy == "keep" else UNSURE
                rounds.append(judgement.repair_round(n, f"{way} ({judgement.why})", [judgement.claim]))
            else:
                gone.append(judgement)
                rounds.append(judgement.repair_round(n, f"left out: {judgement.fault} ({judgement.why})"))
        ended = self.recording(*rounds).having(staying, gone)
        return ended if staying else ended.noting(*self.unsaid)
