"""Plan-based retrieval: an outline, its questions, a second search, and then the writing.

"Analysis of Plan-based Retrieval for Grounded Text Generation" (Godbole et al. 2024), section 3.3 and appendix A.2.
The paper's text has no citations; here every sentence is attributed afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

from toulmin.data import Answer, Passage, Policy, Round, Style
from toulmin.errors import UsageError, unknown_name
from toulmin.methods.memory import distinct
from toulmin.methods.options import check_whole
from toulmin.methods.plan_findings import readings
from toulmin.methods.plan_outcomes import question_outcomes
from toulmin.methods.plan_prompts import Part, Whole, titles
from toulmin.methods.plan_questions import Kind, Plan, add_questions, make_outline, resting_on, search_questions
from toulmin.methods.plan_writing import write_parts
from toulmin.methods.reporting import conclude, in_sections, start_answer
from toulmin.steps import Program

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
    qa_threshold: float = 0.5,
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

    The first search finds `k` passages (the paper's K), each question's own `per_question`. Variant A writes from
    all passages, variant B from the reader's answers at or above `qa_threshold`. Each claim cites the smallest set
    of its part's passages that supports it; with `inline=True` (variant A) the model cites instead. Tables 3 to 5
    of the paper are `second_search=False`, `unanswerable="drop"` and `outline=False`. `docs/methods.md` explains
    the other options. Raises `UsageError` for options that do not go together, and for variant B without a reader.
    """
    sections = _in_sections(layout, style, outline)
    _check_choices(variant=variant, kind=kind, unanswerable=unanswerable)
    check_whole(1, k=k, per_question=per_question, max_paragraphs=max_paragraphs, max_questions=max_questions)
    _check_variant(variant, inline, unanswerable, qa_threshold)
    topic = f"{question} ({attribute.strip()})" if attribute and attribute.strip() else question
    answer = replace((yield from start_answer(topic, "plan", style, k)), question=question)
    first = answer.passages
    if not first:
        return conclude(answer, (), unsupported)
    made = (yield from make_outline(topic, kind, first, max_paragraphs)) if outline else Plan()
    made = yield from add_questions(made, topic, first, max_questions, merge=merge_questions)
    made = (yield from search_questions(made, per_question)) if second_search else resting_on(made, first)
    answer = replace(_telling(answer, made.rounds, made.passages), notes=(*answer.notes, *made.notes))
    whole = Whole(topic, style, first, made, sections)
    if variant == "B":
        return (yield from _from_answers(answer, whole, qa_threshold, unanswerable, unsupported))
    parts = whole.from_passages(inline=inline)
    answer = yield from write_parts(answer, parts, partial(question_outcomes, made.inquiries, topic), inline=inline)
    return _conclude_sections(answer, parts, unsupported)


def _from_answers(
    answer: Answer, whole: Whole, threshold: float, unanswerable: Unanswerable, policy: Policy
) -> Program[Answer]:
    read = yield from readings(whole.plan.inquiries, threshold)
    answer = _telling(answer, [reading.as_round(n) for n, reading in enumerate(read, start=1)])
    parts = whole.from_findings(read, skip=unanswerable == "keep")
    outcomes = tuple(reading.result for reading in read)
    answer = yield from write_parts(answer, parts, lambda _: outcomes, inline=False)
    return _conclude_sections(answer, parts, policy)


# ---------------------------------------------------------------- options


def _in_sections(layout: Layout | None, style: Style, outline: bool) -> bool:
    if layout is None:
        return style == "report" and outline
    _check_choices(layout=layout)
    if layout == "sections" and (not outline or style in ("list", "short")):
        has = f"the style is {style!r}" if outline else "outline is off"
        raise UsageError(f"layout='sections' needs an outline and the style long or report, but {has}; use 'one'.")
    return layout == "sections"


_CHOICES: dict[str, Any] = {"variant": Variant, "kind": Kind, "layout": Layout, "unanswerable": Unanswerable}


def _check_choices(**choices: str) -> None:
    for name, value in choices.items():
        known = get_args(_CHOICES[name])
        if value not in known:
            raise unknown_name(f"{name} of plan", value, known)


def _check_variant(variant: Variant, inline: bool, unanswerable: Unanswerable, threshold: float) -> None:
    if variant == "B" and inline:
        raise UsageError("inline=True needs variant A: variant B writes from answers and sees no passages to cite.")
    if variant == "A" and unanswerable == "drop":
        raise UsageError("unanswerable='drop' is for variant B: variant A shows the writer no questions.")
    if not 0 < threshold <= 1:
        raise UsageError(f"qa_threshold: expected more than 0 and at most 1, not {threshold!r}; 0.5 is the default.")


# ---------------------------------------------------------------- the text


def _telling(answer: Answer, rounds: Sequence[Round], passages: Sequence[Passage] = ()) -> Answer:
    return replace(answer, rounds=(*answer.rounds, *rounds), passages=distinct((*answer.passages, *passages)))


def _conclude_sections(answer: Answer, parts: Sequence[Part], policy: Policy) -> Answer:
    return in_sections(conclude(answer, answer.claims, policy), titles(parts))
