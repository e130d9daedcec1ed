"""`self-refine`: feedback without any metric"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from toulmin.data import Answer, Dropped, Policy, Round, Style
from toulmin.methods.direct import judged, shown, with_draft
from toulmin.methods.options import check_whole
from toulmin.methods.reporting import concluded, draft_round, drafted, found, read_by
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
    answer = yield from found(question, "self-refine", style, k)
    if not answer.passages:
        return concluded(answer, (), unsupported)
    answer = with_draft(answer, (yield from exchange(AnswerPrompt(question, answer.passages, style, examples, prompt))))
    yield from shown(answer)
    for n in range(1, max_rounds + 1):
        if not answer.claims:
            break
        advice = yield from exchange(Feedback(question, answer.passages, answer.claims, (), ()))
        answer = _advised(answer, advice, n)
        done = yield from exchange(Refine(question, answer.passages, answer.claims, advice.value, style))
        answer = _refined(answer, done, n)
        yield from shown(answer)
    return (yield from judged(answer, unsupported))


def _advised(answer: Answer, advice: Exchange[Mapping[str, str]], n: int) -> Answer:
    told = Round("assess", n, role="main", read=read_by(advice.prompt), text=advice.reply.text)
    return replace(answer, rounds=(*answer.rounds, told))


def _refined(answer: Answer, done: Exchange[Draft], n: int) -> Answer:
    """Only the marks of the answer returned count as invalid."""
    told = draft_round(done, answer.style, kind="refine", n=n)
    gone = [claim.text for claim in answer.claims if claim.text not in told.kept]
    dropped = (*told.dropped, *(Dropped(text, "not in the refined answer") for text in gone))
    before = replace(answer, invalid_citations=0)
    return drafted(before, done.value.claims, replace(told, dropped=dropped), done.value.invalid)
