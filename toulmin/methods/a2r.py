"""A2R: an answer is assessed by explicit metrics and refined by feedback on its scores, until they are high enough.

The paper is "Ask, Assess, and Refine" (2024), Algorithm 1. Where it is silent:
* An answer without claims ends the rounds: there is nothing to refine.
* `stop="after"` looks, as the algorithm's line 7 can, at the scores from which the refinement was made.
* Equation 5 (`returns="final"`) is asked for only where something was refined; its history ends with the feedback on
  the last answer. Its own result is assessed like any other, but never dropped for another.
* A prompt that comes out equal to an earlier one is another draw of it.
* The wording of the refinement prompt, and all of it for lists, is ours: the paper prints neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from toulmin.data import Answer, Policy, Style
from toulmin.methods.aims import aims
from toulmin.methods.assessing import Oracle
from toulmin.methods.direct import shown, with_draft
from toulmin.methods.refining import (
    UNTOUCHED,
    WITH_GOLD,
    WITHOUT_GOLD,
    Course,
    Returned,
    Source,
    Stop,
    ended,
    plan_of,
    refined,
)
from toulmin.methods.reporting import concluded, found, read_by
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
    """An answer, assessed and refined up to `max_rounds` times (K), of which the best by its mean score is returned.

    `targets` replace ours one by one (0 to 100: correctness 60, citation recall 80, citation precision 80; a list has
    an answer recall and an answer precision in the place of correctness); `metrics` leaves out the others. Refining
    stops once the mean score reaches the mean target, before feedback is asked for or (`stop="after"`) behind the
    refinement. Feedback is composed from the verdicts and, in "both", takes over what the model says of an aspect
    where that agrees with its score; "model" takes the model's words as they are (the paper). `returns="final"` is
    Equation 5. `correctness` is a dataset's own metric from 0 to 100, for evaluations. At most 1 + 2 `max_rounds`
    model calls, 2 more for "final"; "grounded" needs no call for feedback. Raises `UsageError` for a value that means
    nothing.
    """
    plan = plan_of(style, max_rounds, aims(style, metrics, targets, correctness), stop, feedback, returns, history)
    answer = yield from found(question, "a2r", style, k)
    if not answer.passages:
        return concluded(answer, (), unsupported)
    done = yield from exchange(AnswerPrompt(question, answer.passages, style, examples, prompt))
    answer = with_draft(answer, done)
    yield from shown(answer)
    if not answer.claims:
        return concluded(answer, (), unsupported)
    read = read_by(done.prompt)
    start = Course(answer, tuple(passage for passage in answer.passages if passage.id in read))
    course = yield from refined(start, done.value, len(answer.rounds) - 1, plan)
    return ended(course, plan, unsupported)


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
    """The answer of any method, assessed and refined as in `a2r` from the passages that it read.

    Its rounds and notes stay, with those of the refinement behind them; its usage is that of the refinement alone.
    An answer without claims or passages comes back as it is. Options as in `a2r`.
    """
    goals = aims(answer.style, metrics, targets, correctness)
    plan = plan_of(answer.style, max_rounds, goals, stop, feedback, returns, history)
    if not answer.claims:
        return answer
    if not answer.passages:
        return replace(answer, notes=(*answer.notes, NOTHING_READ))
    remarks = concluded(replace(answer, notes=()), answer.claims, "keep", verified=False).notes
    outdated = (*remarks, WITH_GOLD, WITHOUT_GOLD, UNTOUCHED)
    start = replace(answer, notes=tuple(note for note in answer.notes if note not in outdated))
    draft = Draft(answer.claims, answer.invalid_citations)
    course = yield from refined(Course(start, answer.passages), draft, None, plan)
    return ended(course, plan, unsupported)
