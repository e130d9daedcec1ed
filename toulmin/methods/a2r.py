"""A2R: assesses an answer by explicit metrics and refines it by feedback until its scores are high enough.

"Ask, Assess, and Refine" (2024), Algorithm 1. Where the paper is silent:
* An answer without claims ends the rounds.
* `stop="after"` checks the scores from which the refinement was made (line 7).
* Equation 5 (`returns="final"`) runs only after a refinement; its history ends with feedback on the last answer,
  and its result is assessed but never dropped.
* A prompt equal to an earlier one is another draw of it.
* The refinement prompt, and all prompts for lists, are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from toulmin.data import Answer, Policy, Style
from toulmin.methods.aims import aims
from toulmin.methods.assessing import Oracle
from toulmin.methods.direct import show_draft, with_draft
from toulmin.methods.refining import (
    UNTOUCHED,
    WITH_GOLD,
    WITHOUT_GOLD,
    Course,
    Returned,
    Source,
    Stop,
    conclude_course,
    plan_of,
    run_rounds,
)
from toulmin.methods.reporting import conclude, read_by, start_answer
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt, Example, Preset
from toulmin.steps import Program, exchange

NOTHING_READ = "Nothing was refined: the answer names no passages that it read."


def a2r(
    question: str,
    *,
    style: Style = "long",
    k: int = 5,
    max_rounds: int = 2,
    targets: Mapping[str, float] | None = None,
    metrics: Sequence[str] | None = None,
    stop: Stop = "before",
    feedback: Source = "both",
    returns: Returned = "best",
    history: bool = False,
    correctness: Oracle | None = None,
    prompt: Preset = "expert",
    examples: tuple[Example, ...] = (),
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """Answers, assesses and refines up to `max_rounds` times (K); returns the answer with the best mean score.

    Targets are 0 to 100. `correctness` is a dataset's own metric from 0 to 100, for evaluations; `returns="final"`
    is Equation 5. `docs/methods.md` explains the other options. At most 1 + 2 x `max_rounds` model calls, 2 more
    for "final"; `feedback="grounded"` needs none for feedback. Raises `UsageError` for invalid values.
    """
    plan = plan_of(style, max_rounds, aims(style, metrics, targets, correctness), stop, feedback, returns, history)
    answer = yield from start_answer(question, "a2r", style, k)
    if not answer.passages:
        return conclude(answer, (), unsupported)
    done = yield from exchange(AnswerPrompt(question, answer.passages, style, examples, prompt))
    answer = with_draft(answer, done)
    yield from show_draft(answer)
    if not answer.claims:
        return conclude(answer, (), unsupported)
    read = read_by(done.prompt)
    start = Course(answer, tuple(passage for passage in answer.passages if passage.id in read))
    course = yield from run_rounds(start, done.value, len(answer.rounds) - 1, plan)
    return conclude_course(course, plan, unsupported)


def refine(
    answer: Answer,
    *,
    max_rounds: int = 2,
    targets: Mapping[str, float] | None = None,
    metrics: Sequence[str] | None = None,
    stop: Stop = "before",
    feedback: Source = "both",
    returns: Returned = "best",
    history: bool = False,
    correctness: Oracle | None = None,
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """Assesses and refines any method's answer from the passages that it read; options as in `a2r`.

    Its rounds and notes stay; its usage is that of the refinement alone. Without claims or passages nothing is
    refined.
    """
    goals = aims(answer.style, metrics, targets, correctness)
    plan = plan_of(answer.style, max_rounds, goals, stop, feedback, returns, history)
    if not answer.claims:
        return answer
    if not answer.passages:
        return replace(answer, notes=(*answer.notes, NOTHING_READ))
    remarks = conclude(replace(answer, notes=()), answer.claims, "keep", verified=False).notes
    outdated = (*remarks, WITH_GOLD, WITHOUT_GOLD, UNTOUCHED)
    start = replace(answer, notes=tuple(note for note in answer.notes if note not in outdated))
    draft = Draft(answer.claims, answer.invalid_citations)
    course = yield from run_rounds(Course(start, answer.passages), draft, None, plan)
    return conclude_course(course, plan, unsupported)
