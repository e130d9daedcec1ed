"""Writing from a plan: what goes into each prompt, the drafts, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from toulmin.data import Answer, Claim, Dropped, Passage, Round, Section, Style, SubQuestion
from toulmin.errors import ModelError
from toulmin.grounding.citing import Draft
from toulmin.grounding.prompts import AnswerPrompt, Finding, Paragraph, Preset, Prompt, Write
from toulmin.grounding.steps import Exchange, Program, exchange, together
from toulmin.grounding.verify import smallest_support, verify
from toulmin.methods.direct import shown
from toulmin.methods.memory import distinct
from toulmin.methods.plan_findings import Reading
from toulmin.methods.plan_questions import Inquiry, Plan, worded
from toulmin.methods.telling import draft_round, drafted, ids, read_by


@dataclass(frozen=True, slots=True)
class Part:
    """What is written in one go: all of it, or one paragraph of the outline, which becomes a section.

    `context` are the passages that its claims may rest on; `prompt` is None where there is nothing to write from.
    """

    context: tuple[Passage, ...]
    prompt: Prompt[Draft] | None
    paragraph: Paragraph | None = None
    shown: tuple[Passage, ...] = ()

    @property
    def section(self) -> Section | None:
        """The section that the part becomes."""
        return Section(self.paragraph.title, self.paragraph.description) if self.paragraph else None


def context(first: Sequence[Passage], inquiries: Sequence[Inquiry]) -> tuple[Passage, ...]:
    """The passages of the first search, then the best one of each question, then each one's second, and so on.

    A model's window takes from the end, so that no question loses its best passage before another loses its third.
    """
    ranks = zip_longest(*(inquiry.passages for inquiry in inquiries))
    return distinct((*first, *(passage for passage in chain.from_iterable(ranks) if passage is not None)))


@dataclass(frozen=True, slots=True)
class Whole:
    """All that a text is written from; `in_sections` it is written in parts, one a paragraph of the plan."""

    topic: str
    style: Style
    first: tuple[Passage, ...]
    plan: Plan
    in_sections: bool

    def from_passages(self, *, inline: bool) -> tuple[Part, ...]:
        """Variant A: all passages of a part in one prompt; for the whole text that of One-Retrieval (A.2.2)."""
        return tuple(
            Part(passages, self._passages_prompt(passages, paragraph, inline=inline), paragraph, passages)
            for paragraph, inquiries in self._portions()
            for passages in [context(self.first, inquiries)]
        )

    def _passages_prompt(
        self, passages: tuple[Passage, ...], paragraph: Paragraph | None, *, inline: bool
    ) -> Prompt[Draft]:
        if paragraph is not None:
            return Write(self.topic, passages, (), (paragraph,), "long", inline)
        return self._whole_prompt(passages, inline=inline)

    def _whole_prompt(self, passages: tuple[Passage, ...], *, inline: bool = False, written: str = "") -> AnswerPrompt:
        """One paragraph, which has no headings as a report's own prompt would ask for; or an answer or a list."""
        is_prose = self.style in ("long", "report")
        preset: Preset = "plain" if is_prose and not inline else "cited"
        return AnswerPrompt(self.topic, passages, "long" if is_prose else self.style, (), preset, inline, written)

    def from_findings(self, read: Sequence[Reading], *, skip: bool) -> tuple[Part, ...]:
        """Variant B: the questions with their answers (A.2.5), and with `skip` those without, marked so."""
        findings = {one.inquiry: one.finding for one in read}
        parts = []
        for paragraph, inquiries in self._portions():
            asked = tuple(findings[inquiry] for inquiry in inquiries)
            shown = asked if skip else tuple(finding for finding in asked if finding.answers)
            parts.append(self._part_of_findings(context(self.first, inquiries), paragraph, shown))
        return tuple(parts)

    def _part_of_findings(
        self, passages: tuple[Passage, ...], paragraph: Paragraph | None, findings: tuple[Finding, ...]
    ) -> Part:
        """Where no question is answered there is nothing to write from, and no model is asked."""
        holding = distinct(passage for finding in findings for passage in finding.passages)
        if not holding:
            return Part(passages, None, paragraph)
        if self.style in ("list", "short"):
            prompt: Prompt[Draft] = self._whole_prompt(holding, written=_pairs(findings))
        else:
            prompt = Write(self.topic, (), findings, (paragraph,) if paragraph else (), "long")
        return Part(passages, prompt, paragraph, holding)

    def _portions(self) -> list[tuple[Paragraph | None, tuple[Inquiry, ...]]]:
        """What each part is about, and its questions."""
        if not self.in_sections:
            return [(None, self.plan.inquiries)]
        return [(paragraph, self.plan.of(n)) for n, paragraph in enumerate(self.plan.paragraphs)]


def _pairs(findings: Sequence[Finding]) -> str:
    """The questions with their answers as a text; a short answer or a list is drawn from it and the passages."""
    return "\n".join(f"{one.question} {'; '.join(one.answers) or 'Not enough information.'}" for one in findings)


# ---------------------------------------------------------------- drafts

Outcomes = Callable[[Sequence[Claim]], tuple[SubQuestion, ...]]


def written(answer: Answer, parts: Sequence[Part], outcomes: Outcomes, *, inline: bool) -> Program[Answer]:
    """The answer with its text: each part drafted, shown, and judged, all parts side by side.

    What is shown is whatever all parts have by then, so that of a run that is ended from outside the parts that were
    ready remain. A part for which the model fails is left out, with a note; where it fails for all, its error is
    raised. `outcomes` tells what claims make of the plan's questions.
    """
    growing = _Growing(answer, parts, outcomes)
    asked = [n for n, part in enumerate(parts) if part.prompt is not None]
    yield from together([_part(growing, n, inline=inline) for n in asked])
    failures = growing.failures
    if failures and len(failures) == len(asked):
        raise failures[asked[0]]
    notes = (f"Not written: {growing.name(n)}. {failures[n]}" for n in sorted(failures))
    return replace(growing.answer, notes=(*answer.notes, *notes))


@dataclass(frozen=True, slots=True)
class _Written:
    """The draft of a part: its claims and its story."""

    claims: tuple[Claim, ...]
    round: Round
    invalid: int = 0


class _Growing:
    """A text that grows part by part, in whatever order they come; what there is of it is always a whole answer."""

    def __init__(self, answer: Answer, parts: Sequence[Part], outcomes: Outcomes) -> None:
        self.parts = parts
        self.failures: dict[int, ModelError] = {}
        self.style = answer.style
        self._answer, self._outcomes = answer, outcomes
        nothing = [n for n, part in enumerate(parts) if part.prompt is None]
        self._drafts = {n: self._nothing(n, "none of its questions is answered") for n in nothing}

    def name(self, n: int) -> str:
        """What part n is about."""
        paragraph = self.parts[n].paragraph
        return paragraph.title if paragraph else "the text"

    def give_up(self, n: int, error: ModelError) -> None:
        """Takes nothing for part n, for which the model failed."""
        self.failures[n] = error
        self._drafts[n] = self._nothing(n, str(error))

    def _nothing(self, n: int, why: str) -> _Written:
        return _Written((), Round("draft", n + 1, dropped=(Dropped(self.name(n), why),)))

    def put(self, n: int, draft: _Written) -> None:
        """Takes the draft for part n, in place of the one before."""
        self._drafts[n] = draft

    @property
    def answer(self) -> Answer:
        """All parts so far in their order, a sentence that an earlier part has dropped from a later one."""
        answer = self._answer
        for draft in _without_repetitions([self._drafts[n] for n in sorted(self._drafts)]):
            answer = drafted(answer, (*answer.claims, *draft.claims), draft.round, draft.invalid)
        filled = {claim.section for claim in answer.claims}
        sections = tuple(part.section for part in self.parts if part.section and part.section.title in filled)
        return replace(answer, sections=sections, questions=self._outcomes(answer.claims))


def _part(growing: _Growing, n: int, *, inline: bool) -> Program[None]:
    """Drafts and judges part n; without `inline` each claim cites the smallest set that supports it of what it read."""
    part = growing.parts[n]
    if part.prompt is None:
        return
    try:
        done = yield from exchange(part.prompt)
    except ModelError as error:
        growing.give_up(n, error)
        return
    draft = _draft(part, done, growing.style, n, inline=inline)
    growing.put(n, draft)
    yield from shown(growing.answer)
    answer = growing.answer
    if inline:
        claims = yield from verify(draft.claims, {p.id: p for p in part.context}, answer.question, answer.style)
    else:
        seen = _seen(part, done)
        asked = [(claim, seen) for claim in draft.claims]
        claims = yield from smallest_support(asked, answer.question, answer.style)
    growing.put(n, replace(draft, claims=claims))
    yield from shown(growing.answer)


def _draft(part: Part, done: Exchange[Draft], style: Style, n: int, *, inline: bool) -> _Written:
    title = part.paragraph.title if part.paragraph else None
    claims = tuple(
        replace(claim, citations=claim.citations if inline else (), support=None, section=title)
        for claim in done.value.claims
    )
    told = draft_round(replace(done, value=replace(done.value, claims=claims)), style, n=n + 1)
    return _Written(claims, replace(told, read=read_by(done.prompt) or ids(part.shown)), done.value.invalid)


def _seen(part: Part, done: Exchange[Draft]) -> tuple[Passage, ...]:
    """The part's passages without those that the model's window could not hold."""
    left = set(read_by(part.prompt)) - set(read_by(done.prompt)) if part.prompt else set()
    return tuple(passage for passage in part.context if passage.id not in left)


def _without_repetitions(drafts: Sequence[_Written]) -> Iterator[_Written]:
    standing: dict[tuple[str, ...], Claim] = {}
    for draft in drafts:
        kept, dropped = [], []
        for claim in draft.claims:
            first = standing.setdefault(worded(claim.text), claim)
            if first is claim:
                kept.append(claim)
            else:
                where = f"under “{first.section}”" if first.section else "before"
                dropped.append(Dropped(claim.text, f"stands already {where}"))
        told = replace(draft.round, kept=tuple(claim.text for claim in kept), dropped=(*draft.round.dropped, *dropped))
        yield replace(draft, claims=tuple(kept), round=told)
