"""A2R: assesses an answer by metrics and refines it by feedback until its scores are high enough.

"Ask, Assess, and Refine" (2024), Algorithm 1. Where the paper is silent:
* An answer without claims ends the rounds.
* `stop="after"` checks the scores before the refinement (line 7); "never" makes all refinements.
* Equation 5 (`returns="final"`) runs only after a refinement, with feedback on the last answer in its history; its
  result is assessed but never dropped.
* A repeated prompt is another draw.
* The refinement prompt, and all prompts for lists, are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, Literal, get_args

from toulmin.data import Answer, Passage, Policy, Round, Style
from toulmin.methods import reporting
from toulmin.methods.assessing import Aims, Assessment, Oracle, aims, assess
from toulmin.methods.direct import passages_read, show_draft, write_draft
from toulmin.methods.feedback import Advice, compose_feedback, merge_advice
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt, Example, Feedback, Preset, Refine
from toulmin.steps import Exchange, Program, exchange

# ---------------------------------------------------------------- the loop: assess, advise, refine


Stop = Literal["before", "after", "never"]
Source = Literal["both", "grounded", "model"]
Returned = Literal["best", "last", "final"]

WITH_GOLD = "Correctness was measured against gold answers (oracle): these scores are of use in an evaluation only."
WITHOUT_GOLD = "Correctness was measured without gold answers (reference-free), by the passages and the question."
WITHDRAWN = "The answer was withdrawn: it scored 0, and the model's refinement of it has no claims."
UNTOUCHED = "No refinement scored better than the answer as it was."


@dataclass(frozen=True, slots=True)
class Plan:
    """Options of the refinement. Raises `UsageError` for wrong ones."""

    style: Style
    rounds: int
    aims: Aims
    stop: Stop
    source: Source
    returns: Returned
    has_history: bool

    def __post_init__(self) -> None:
        reporting.check_whole(0, max_rounds=self.rounds)
        reporting.check_choice("value of stop", self.stop, get_args(Stop))
        reporting.check_choice("value of feedback", self.source, get_args(Source))
        reporting.check_choice("value of returns", self.returns, get_args(Returned))


@dataclass(frozen=True, slots=True)
class Candidate:
    """An assessed answer and its feedback; `place` is the index of its round, `unsaid` as in `reporting`."""

    draft: Draft
    place: int
    assessment: Assessment
    unsaid: tuple[str, ...] = ()
    feedback: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Course:
    answer: Answer
    passages: tuple[Passage, ...]
    candidates: tuple[Candidate, ...] = ()
    draws: reporting.Draws = field(default_factory=reporting.Draws, compare=False)

    @property
    def last(self) -> Candidate:
        return self.candidates[-1]

    def with_last(self, **changes: Any) -> Course:
        return replace(self, candidates=(*self.candidates[:-1], replace(self.last, **changes)))


def _refine_answer(answer: Answer, plan: Plan, policy: Policy) -> Program[Answer]:
    passages, place = passages_read(answer), len(answer.rounds) - 1
    words = answer.rounds[place].written or ""
    draft = AnswerPrompt(answer.question, passages, answer.style).read(words)  # with its invalid labels
    draft = draft if draft.claims == answer.claims else Draft(answer.claims, answer.invalid_citations)
    course = yield from _assess_draft(Course(answer, passages), draft, place, plan)
    for _ in range(plan.rounds):
        before = course.last.assessment
        if not before.claims or (plan.stop == "before" and plan.aims.are_reached(before.scores)):
            break
        course = yield from _rewrite((yield from _add_feedback(course, plan)), plan, plan.has_history)
        if plan.stop == "after" and plan.aims.are_reached(before.scores):
            break
    if plan.returns == "final" and len(course.candidates) > 1 and course.last.assessment.claims:
        course = yield from _rewrite((yield from _add_feedback(course, plan)), plan, has_history=True)
    return _conclude_course(course, plan, policy)


def _assess_draft(course: Course, draft: Draft, place: int, plan: Plan) -> Program[Course]:
    """Equation 2."""
    claims = yield from assess(draft.claims, course.passages, course.answer.question, plan.style)
    claims = tuple(replace(claim, strays=labels or ()) for claim, labels in zip_longest(claims, draft.strays))
    assessment = plan.aims.assessment(claims, course.answer.question, draft.invalid)
    n = len(course.candidates) + 1
    entry = Round("assess", n, read=reporting.ids(course.passages), scores=plan.aims.round_scores(assessment))
    candidates = (*course.candidates, Candidate(draft, place, assessment))
    return replace(course, answer=reporting.add_rounds(course.answer, entry), candidates=candidates)


def _add_feedback(course: Course, plan: Plan) -> Program[Course]:
    """Equation 3."""
    assessment, targets = course.last.assessment, plan.aims.targets
    composed = compose_feedback(assessment, plan.aims, course.passages, course.answer.question, plan.style)
    is_good = all(score >= targets[aspect] for aspect, score in assessment.scores.items())
    if plan.source == "grounded" or (plan.source == "both" and is_good):
        return _with_advice(course, Advice(composed))
    scores = tuple(assessment.scores.items())
    judged, strays = assessment.judged, course.last.draft.strays
    asked = Feedback(course.answer.question, course.passages, judged, scores, tuple(targets.items()), strays)
    done = yield from exchange(asked, sample=course.draws.next(asked))
    advice = Advice(done.value)
    if plan.source == "both":
        advice = merge_advice(composed, done.value, plan.aims, assessment.scores)
    return _with_advice(course, advice, done)


def _with_advice(course: Course, advice: Advice, done: Exchange[Mapping[str, str]] | None = None) -> Course:
    *before, entry = course.answer.rounds
    text = "\n".join(f"{aspect}: {words}" for aspect, words in advice.feedback.items())
    dropped = (*(reporting.omissions(done) if done else ()), *advice.discarded)
    entry = replace(entry, role="main" if done else None, text=text, dropped=dropped)
    answer = replace(course.answer, rounds=(*before, entry))
    return replace(course, answer=answer).with_last(feedback=advice.feedback)


def _rewrite(course: Course, plan: Plan, has_history: bool) -> Program[Course]:
    """Equation 4; with the whole history Equation 5."""
    *earlier, last = course.candidates
    history = tuple((each.assessment.judged, each.feedback) for each in earlier) if has_history else ()
    before, question, strays = last.assessment.judged, course.answer.question, last.draft.strays
    asked = Refine(question, course.passages, before, last.feedback, plan.style, history, strays)
    done = yield from exchange(asked, sample=course.draws.next(asked))
    entry = reporting.refine_round(done, plan.style, len(course.candidates), before)
    answer = reporting.add_draft(course.answer, done.value.claims, entry)
    yield from show_draft(answer)
    course = yield from _assess_draft(replace(course, answer=answer), done.value, len(answer.rounds) - 1, plan)
    return course.with_last(unsaid=reporting.unsaid(done))


# ---------------------------------------------------------------- the end


def _conclude_course(course: Course, plan: Plan, policy: Policy) -> Answer:
    candidates = course.candidates
    means = [plan.aims.mean(candidate.assessment.scores) for candidate in candidates]
    best = _best(candidates, means) if plan.returns == "best" else len(candidates) - 1
    places = {candidate.place: n == best for n, candidate in enumerate(candidates)}
    rounds = [replace(entry, chosen=places.get(n, entry.chosen)) for n, entry in enumerate(course.answer.rounds)]
    claims = candidates[best].assessment.judged
    mode = WITH_GOLD if plan.aims.oracle else WITHOUT_GOLD
    answer = replace(
        reporting.add_notes(course.answer, *candidates[best].unsaid, mode, *_choice(best, means, plan)),
        rounds=tuple(rounds),
        invalid_citations=candidates[best].draft.invalid,
    )
    return reporting.conclude(answer, claims, policy)


def _best(candidates: Sequence[Candidate], means: Sequence[float]) -> int:
    best = means.index(max(means))
    last = candidates[-1]  # only the last can be without claims: an answer without any is not refined
    is_withdrawn = not last.assessment.claims and reporting.REFUSED not in last.unsaid
    return len(candidates) - 1 if is_withdrawn and not means[best] else best


def _choice(best: int, means: Sequence[float], plan: Plan) -> tuple[str, ...]:
    if plan.returns != "best" or len(means) == 1:
        return ()
    if not means[best]:
        return (WITHDRAWN,) if best else (UNTOUCHED,)
    if not best:
        return (UNTOUCHED,)
    return (f"The answer is refinement {best} of {len(means) - 1}: its mean score, {means[best]:.0f}, is best.",)


# ---------------------------------------------------------------- the method


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

    Targets are 0 to 100; `correctness` is a dataset's metric of that range, for evaluations. `docs/methods.md` explains
    the options. At most 1 + 2 x `max_rounds` model calls, 2 more with `returns="final"`; `feedback="grounded"` needs
    none for feedback. Raises `UsageError` for invalid values.
    """
    plan = Plan(style, max_rounds, aims(style, metrics, targets, correctness), stop, feedback, returns, history)
    answer = yield from write_draft("a2r", AnswerPrompt(question, (), style, examples, prompt), k)
    if not answer.claims:
        return reporting.conclude(answer, (), unsupported)
    return (yield from _refine_answer(answer, plan, unsupported))
