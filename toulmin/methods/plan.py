"""Plan-based retrieval: an outline, its questions, a second search, and then the writing.

"Analysis of Plan-based Retrieval for Grounded Text Generation" (Godbole et al. 2024), section 3.3 and appendix A.2.
The paper's text has no citations; here every sentence is attributed afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Literal, NamedTuple, get_args

from toulmin.data import Answer, Claim, Omission, Passage, Policy, Round, Section, Style, SubQuestion
from toulmin.errors import ModelError, UsageError
from toulmin.methods import plan_questions, reporting
from toulmin.methods.direct import show_draft
from toulmin.methods.evidence import distinct
from toulmin.methods.plan_questions import Inquiry, Kind, Plan, Reading
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt, Finding, Paragraph, Preset, Prompt, Write
from toulmin.steps import Exchange, Program, exchange, together
from toulmin.verify import smallest_support, verify

# ---------------------------------------------------------------- what each part is written from


class Part(NamedTuple):
    """The whole text, or one paragraph, which becomes a section.

    Its claims may cite `context`; `prompt` is None without anything to write from.
    """

    context: tuple[Passage, ...]
    prompt: Prompt[Draft] | None
    paragraph: Paragraph | None = None
    shown: tuple[Passage, ...] = ()


def titles(parts: Sequence[Part]) -> list[str]:
    return [part.paragraph.title for part in parts if part.paragraph]


def context(first: Sequence[Passage], inquiries: Sequence[Inquiry]) -> tuple[Passage, ...]:
    """The first search's passages, then each question's best one, each one's second, and so on.

    A model's window cuts from the end, where the worst passages are.
    """
    ranks = zip_longest(*(inquiry.passages for inquiry in inquiries))
    return distinct((*first, *(passage for passage in chain.from_iterable(ranks) if passage is not None)))


class Whole(NamedTuple):
    """The material of a text; `in_sections` makes each paragraph a part."""

    topic: str
    style: Style
    first: tuple[Passage, ...]
    plan: Plan
    in_sections: bool

    def from_passages(self, *, inline: bool) -> tuple[Part, ...]:
        """Variant A: passages in one prompt, for the whole text that of One-Retrieval (A.2.2)."""
        parts = []
        for paragraph, inquiries in self._portions():
            passages = context(self.first, inquiries)
            prompt: Prompt[Draft] = self._whole_prompt(passages, inline=inline)
            if paragraph is not None:
                prompt = Write(self.topic, passages, (), (paragraph,), "long", inline)
            parts.append(Part(passages, prompt, paragraph, passages))
        return tuple(parts)

    def _whole_prompt(self, passages: tuple[Passage, ...], *, inline: bool = False, written: str = "") -> AnswerPrompt:
        """Requests prose without headings, even for a report."""
        is_prose = self.style in ("long", "report")
        preset: Preset = "plain" if is_prose and not inline else "cited"
        return AnswerPrompt(self.topic, passages, "long" if is_prose else self.style, (), preset, inline, written)

    def from_findings(self, read: Sequence[Reading], *, skip: bool) -> tuple[Part, ...]:
        """Variant B: questions with answers (A.2.5); `skip` adds those without, marked."""
        findings = {reading.inquiry: reading.finding for reading in read}
        parts = []
        for paragraph, inquiries in self._portions():
            asked = tuple(findings[inquiry] for inquiry in inquiries)
            shown = asked if skip else tuple(finding for finding in asked if finding.answers)
            parts.append(self._part_of_findings(context(self.first, inquiries), paragraph, shown))
        return tuple(parts)

    def _part_of_findings(
        self, passages: tuple[Passage, ...], paragraph: Paragraph | None, findings: tuple[Finding, ...]
    ) -> Part:
        holding = distinct(passage for finding in findings for passage in finding.passages)
        if not holding:
            return Part(passages, None, paragraph)
        if self.style in ("list", "short"):
            pairs = (f"{each.question} {'; '.join(each.answers) or 'Not enough information.'}" for each in findings)
            prompt: Prompt[Draft] = self._whole_prompt(holding, written="\n".join(pairs))
        else:
            prompt = Write(self.topic, (), findings, (paragraph,) if paragraph else (), "long")
        return Part(passages, prompt, paragraph, holding)

    def _portions(self) -> list[tuple[Paragraph | None, tuple[Inquiry, ...]]]:
        if not self.in_sections:
            return [(None, self.plan.inquiries)]
        return [(paragraph, self.plan.of(n)) for n, paragraph in enumerate(self.plan.paragraphs)]


# ---------------------------------------------------------------- parts, drafted and judged side by side


Outcomes = Callable[[Sequence[Claim]], tuple[SubQuestion, ...]]


def write_parts(answer: Answer, parts: Sequence[Part], outcomes: Outcomes, *, inline: bool) -> Program[Answer]:
    """Drafts, shows and judges all parts side by side and joins them.

    A part for which the model fails is left out with a note; if all fail, the error is raised. `outcomes` rates how far
    the claims answer the plan's questions.
    """
    growing = _Growing(answer, parts, outcomes)
    prompts = {n: part.prompt for n, part in enumerate(parts) if part.prompt is not None}
    yield from together([_part(growing, n, prompt, inline=inline) for n, prompt in prompts.items()])
    failures = growing.failures
    if failures and len(failures) == len(prompts):
        raise failures[min(failures)]
    notes = [f"Not written: {growing.name(n)}. {failures[n]}" for n in sorted(failures)]
    done = growing.answer
    return reporting.add_notes(done, *notes, *(() if done.claims else growing.unsaid))


@dataclass(frozen=True, slots=True)
class _SectionDraft:
    claims: tuple[Claim, ...]
    round: Round
    invalid: int = 0
    unsaid: tuple[str, ...] = ()


class _Growing:
    """A text that grows part by part, in any order; `answer` is always complete."""

    def __init__(self, answer: Answer, parts: Sequence[Part], outcomes: Outcomes) -> None:
        self.parts = parts
        self.failures: dict[int, ModelError] = {}
        self._answer, self._outcomes = answer, outcomes
        self.drafts: dict[int, _SectionDraft] = {}
        for n, part in enumerate(parts):
            if part.prompt is None:
                self.leave_out(n, "none of its questions is answered")

    def name(self, n: int) -> str:
        paragraph = self.parts[n].paragraph
        return paragraph.title if paragraph else "the text"

    def leave_out(self, n: int, why: str) -> None:
        self.drafts[n] = _SectionDraft((), Round("draft", n + 1, dropped=(Omission(self.name(n), why),)))

    @property
    def unsaid(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(note for n in sorted(self.drafts) for note in self.drafts[n].unsaid))

    @property
    def draft(self) -> Answer:
        return reporting.in_sections(self.answer, titles(self.parts))

    @property
    def answer(self) -> Answer:
        answer = self._answer
        for draft in _without_repetitions([self.drafts[n] for n in sorted(self.drafts)]):
            answer = reporting.add_draft(answer, (*answer.claims, *draft.claims), draft.round, draft.invalid)
        planned = [part.paragraph for part in self.parts if part.paragraph]
        sections = tuple(Section(paragraph.title, paragraph.description) for paragraph in planned)
        return replace(answer, sections=sections, questions=self._outcomes(answer.claims))


def _part(growing: _Growing, n: int, prompt: Prompt[Draft], *, inline: bool) -> Program[None]:
    part = growing.parts[n]
    try:
        done = yield from exchange(prompt)
    except ModelError as error:
        growing.failures[n] = error
        growing.leave_out(n, str(error))
        return
    growing.drafts[n] = draft = _draft(part, done, growing.answer.style, n, inline=inline)
    yield from show_draft(growing.draft)
    answer = growing.answer
    if inline:
        claims = yield from verify(draft.claims, {p.id: p for p in part.context}, answer.question, answer.style)
    else:
        unread = set(reporting.read_by(prompt)) - set(reporting.read_by(done.prompt))
        seen = [passage for passage in part.context if passage.id not in unread]
        claims = yield from smallest_support([(claim, seen) for claim in draft.claims], answer.question, answer.style)
    growing.drafts[n] = replace(draft, claims=claims)
    yield from show_draft(growing.draft)


def _draft(part: Part, done: Exchange[Draft], style: Style, n: int, *, inline: bool) -> _SectionDraft:
    title = part.paragraph.title if part.paragraph else None
    claims = tuple(
        replace(claim, citations=claim.citations if inline else (), support=None, section=title)
        for claim in done.value.claims
    )
    entry = reporting.reply_round(replace(done, value=replace(done.value, claims=claims)), style, n=n + 1)
    entry = replace(entry, read=reporting.read_by(done.prompt) or reporting.ids(part.shown))
    return _SectionDraft(claims, entry, done.value.invalid, reporting.unsaid(done))


def _without_repetitions(drafts: Sequence[_SectionDraft]) -> Iterator[_SectionDraft]:
    """Keeps the first supported of sentences in equal words, else the first."""
    staying: dict[tuple[str, ...], Claim] = {}
    for claim in (claim for draft in drafts for claim in draft.claims):
        known = staying.setdefault(reporting.wording_of(claim.text), claim)
        if claim.is_supported and not known.is_supported:
            staying[reporting.wording_of(claim.text)] = claim
    for draft in drafts:
        places = [(claim, staying[reporting.wording_of(claim.text)]) for claim in draft.claims]
        kept = tuple(claim for claim, original in places if claim is original)
        dropped = (_repetition(claim, original) for claim, original in places if claim is not original)
        texts = tuple(claim.text for claim in kept)
        entry = replace(draft.round, kept=texts, dropped=(*draft.round.dropped, *dropped))
        yield replace(draft, claims=kept, round=entry)


def _repetition(claim: Claim, staying: Claim) -> Omission:
    elsewhere = staying.section is not None and staying.section != claim.section
    return Omission(claim.text, f"stands under “{staying.section}” too" if elsewhere else "stands here already")


# ---------------------------------------------------------------- the method


Variant = Literal["A", "B"]
Layout = Literal["one", "sections"]
Unanswerable = Literal["keep", "drop"]


def plan(
    question: str,
    *,
    style: Style = "report",
    k: int = 5,
    per_question: int = 3,
    variant: Variant = "A",
    qa_threshold: float = 0.3,
    kind: Kind = "other",
    attribute: str | None = None,
    layout: Layout | None = None,
    outline: bool = True,
    second_search: bool = True,
    merge_questions: bool = True,
    unanswerable: Unanswerable = "keep",
    inline: bool = False,
    max_paragraphs: int = 10,
    max_questions: int = 10,
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """Plans a text about a topic (or the answer to a question) before gathering evidence and writing.

    The first search finds `k` passages (the paper's K), each question's search `per_question`. Variant A writes from
    all passages, variant B from the reader's answers at or above `qa_threshold`. Each claim cites the smallest
    supporting set of its part's passages; with `inline=True` (variant A) the model cites instead. Tables 3 to 5 are
    `second_search=False`, `unanswerable="drop"` and `outline=False`. `docs/methods.md` explains the other options.
    Raises `UsageError` for options that exclude each other, and for variant B without a reader.
    """
    sections = _in_sections(layout, style, outline)
    reporting.check_choice("variant of plan", variant, get_args(Variant))
    reporting.check_choice("kind of plan", kind, get_args(Kind))
    reporting.check_choice("unanswerable of plan", unanswerable, get_args(Unanswerable))
    reporting.check_whole(1, k=k, per_question=per_question, max_paragraphs=max_paragraphs, max_questions=max_questions)
    _check_variant(variant, inline, unanswerable, qa_threshold)
    topic = f"{question} ({attribute.strip()})" if attribute and attribute.strip() else question
    answer = replace((yield from reporting.start_answer(topic, "plan", style, k)), question=question)
    first = answer.passages
    if not first:
        return reporting.conclude(answer, (), unsupported)
    made = (yield from plan_questions.make_outline(topic, kind, first, max_paragraphs)) if outline else Plan()
    made = yield from plan_questions.add_questions(made, topic, first, max_questions, merge=merge_questions)
    if second_search:
        made = yield from plan_questions.search_questions(made, per_question)
    else:
        made = plan_questions.resting_on(made, first)
    answer = reporting.add_notes(reporting.add_rounds(answer, *made.rounds), *made.notes)
    answer = replace(answer, passages=distinct((*answer.passages, *made.passages)))
    whole = Whole(topic, style, first, made, sections)
    is_read = variant == "B"
    read = (yield from plan_questions.readings(made.inquiries, qa_threshold)) if is_read else ()
    answer = reporting.add_rounds(answer, *(reading.as_round(n) for n, reading in enumerate(read, start=1)))
    skip = unanswerable == "keep"
    parts = whole.from_findings(read, skip=skip) if is_read else whole.from_passages(inline=inline)

    def outcomes(claims: Sequence[Claim]) -> tuple[SubQuestion, ...]:
        results = tuple(reading.result for reading in read)
        return results if is_read else plan_questions.question_outcomes(made.inquiries, topic, claims)

    answer = yield from write_parts(answer, parts, outcomes, inline=inline)
    return reporting.in_sections(reporting.conclude(answer, answer.claims, unsupported), titles(parts))


# ---------------------------------------------------------------- options


def _in_sections(layout: Layout | None, style: Style, outline: bool) -> bool:
    if layout is None:
        return style == "report" and outline
    reporting.check_choice("layout of plan", layout, get_args(Layout))
    if layout == "sections" and (not outline or style in ("list", "short")):
        has = f"the style is {style!r}" if outline else "outline is off"
        raise UsageError(f"layout='sections' needs an outline and the style long or report, but {has}; use 'one'.")
    return layout == "sections"


def _check_variant(variant: Variant, inline: bool, unanswerable: Unanswerable, threshold: float) -> None:
    if variant == "B" and inline:
        raise UsageError("inline=True needs variant A: variant B writes from answers and sees no passages to cite.")
    if variant == "A" and unanswerable == "drop":
        raise UsageError("unanswerable='drop' is for variant B: variant A shows the writer no questions.")
    if not 0 < threshold <= 1:
        raise UsageError(f"qa_threshold: expected more than 0 and at most 1, not {threshold!r}; 0.3 is the default.")
