"""`self-refine`: feedback without any metric"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from toulmin.data import Answer, Dropped, Policy, Round, Style
from toulmin.methods.direct import judge_answer, show_draft, with_draft
from toulmin.methods.options import check_whole
from toulmin.methods.reporting import add_draft, conclude, draft_round, read_by, start_answer
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt, Example, Feedback, Preset, Refine
from toulmin.steps import Exchange, Program, exchange


def self_refine(
    question: str,
    *,
    style: Style = "long",
    k: int = 5,
    max_rounds: int = 2,
    examples: tuple[Example, ...] = (),
    prompt: Preset = "expert",
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """Has the model criticise and rewrite its own answer `max_rounds` times; the last one is returned.

    The control of the A2R paper ("intrinsic"): feedback without scores; only the last answer is judged. 1 + 2 x
    `max_rounds` model calls; an answer without claims ends the rounds.
    """
    check_whole(0, max_rounds=max_rounds)
    answer = yield from start_answer(question, "self-refine", style, k)
    if not answer.passages:
        return conclude(answer, (), unsupported)
    answer = with_draft(answer, (yield from exchange(AnswerPrompt(question, answer.passages, style, examples, prompt))))
    yield from show_draft(answer)
    for n in range(1, max_rounds + 1):
        if not answer.claims:
            break
        advice = yield from exchange(Feedback(question, answer.passages, answer.claims, (), ()))
        answer = _add_feedback(answer, advice, n)
        done = yield from exchange(Refine(question, answer.passages, answer.claims, advice.value, style))
        answer = _add_refinement(answer, done, n)
        yield from show_draft(answer)
    return (yield from judge_answer(answer, unsupported))


def _add_feedback(answer: Answer, advice: Exchange[Mapping[str, str]], n: int) -> Answer:
    assess_round = Round("assess", n, role="main", read=read_by(advice.prompt), text=advice.reply.text)
    return replace(answer, rounds=(*answer.rounds, assess_round))


def _add_refinement(answer: Answer, done: Exchange[Draft], n: int) -> Answer:
    """Only the marks of the answer returned count as invalid."""
    refine_round = draft_round(done, answer.style, kind="refine", n=n)
    gone = [claim.text for claim in answer.claims if claim.text not in refine_round.kept]
    dropped = (*refine_round.dropped, *(Dropped(text, "not in the refined answer") for text in gone))
    before = replace(answer, invalid_citations=0)
    return add_draft(before, done.value.claims, replace(refine_round, dropped=dropped), done.value.invalid)
