"""Reports: an outline, then sections side by side"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from toulmin.data import Answer, Claim, Passage, Section
from toulmin.errors import ModelError
from toulmin.methods.best_state import State, Task
from toulmin.methods.evidence import evidence
from toulmin.methods.memory import distinct
from toulmin.methods.plan_questions import make_outline
from toulmin.methods.reporting import EMPTY, REFUSED, in_sections
from toulmin.methods.sentence_wording import wording_of
from toulmin.prompts.types import Paragraph
from toulmin.steps import Program, show, together

PARAGRAPHS = 10  # of an outline, as in `plan`; the others are left out, and its round says so

Writing = Callable[[Task, State], Program[State]]


def write_report(task: Task, answer: Answer, writing: Writing) -> Program[Answer]:
    """Searches for each paragraph of an outline and has `writing` write its section, all side by side.

    A section for which the model fails is noted; if no section has a claim, its error is raised.
    """
    plan = yield from make_outline(task.question, "other", answer.passages, PARAGRAPHS)
    report = _Report(replace(answer, rounds=(*answer.rounds, *plan.rounds)), plan.paragraphs)
    yield from together([_section(report, task, n, writing) for n in range(len(plan.paragraphs))])
    if report.failures and not report.answer.claims:
        raise report.failures[0]
    return report.answer


def _section(report: _Report, task: Task, n: int, writing: Writing) -> Program[None]:
    section_task = replace(task, style="long", paragraph=report.paragraphs[n], present=partial(report.with_part, n))
    results = yield from evidence([section_task.topic], task.k)
    start = State(Answer(section_task.topic, "long", "best", "abstained"))
    state = start.searching(results, n + 1).reading(report.passages)
    try:
        state = yield from writing(section_task, state)
    except ModelError as error:
        report.failures.append(error)
        state = state.noting(f"{error} This section is missing.")
    yield from show(report.with_part(n, state))


class _Report:
    """A report that grows section by section, in any order; at any time it is a whole answer."""

    def __init__(self, answer: Answer, paragraphs: Sequence[Paragraph]) -> None:
        self._start = answer
        self.paragraphs = paragraphs
        self.failures: list[ModelError] = []
        self._parts: dict[int, Answer] = {}

    @property
    def passages(self) -> tuple[Passage, ...]:
        return self._start.passages

    def with_part(self, n: int, state: State) -> Answer:
        self._parts[n] = state.draft
        return self.answer

    @property
    def answer(self) -> Answer:
        """A repeated sentence stays in the first section that has it."""
        parts = [(self.paragraphs[n], self._parts[n]) for n in sorted(self._parts)]
        claims = _merge_claims(parts)
        answers = [part for _, part in parts]
        whole = replace(
            self._start,
            status="answered" if claims else "abstained",
            claims=claims,
            passages=distinct((*self.passages, *(passage for part in answers for passage in part.passages))),
            sections=tuple(Section(p.title, p.description) for p in self.paragraphs),
            rounds=(*self._start.rounds, *(step for part in answers for step in part.rounds)),
            invalid_citations=sum(part.invalid_citations for part in answers),
            notes=_notes(parts, has_text=bool(claims)),
        )
        return in_sections(whole, [paragraph.title for paragraph in self.paragraphs])


def _notes(parts: Sequence[tuple[Paragraph, Answer]], *, has_text: bool) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            note if note in (REFUSED, EMPTY) and not has_text else f"{paragraph.title}: {note}"
            for paragraph, part in parts
            for note in part.notes
        )
    )


def _merge_claims(parts: Sequence[tuple[Paragraph, Answer]]) -> tuple[Claim, ...]:
    standing: dict[tuple[str, ...], Claim] = {}
    for paragraph, part in parts:
        for claim in part.claims:
            standing.setdefault(wording_of(claim.text), replace(claim, section=paragraph.title))
    return tuple(standing.values())
