"""The product's own method: a draft in which only failing claims are repaired, at no cost if all hold.

It combines `vanilla`'s draft, VTG's simplification, memory check and search for evidence, A2R's feedback, and
CaLM's contrast. `benchmarks/best_thresholds.py` chose its numbers.
"""

from __future__ import annotations

from dataclasses import replace

from toulmin.data import Answer, Policy, Style
from toulmin.errors import ModelError, UsageError
from toulmin.methods.best_claims import judge_claims
from toulmin.methods.best_contrast import ask_verifier
from toulmin.methods.best_repair import new_citation_rounds, rewrite_failing, with_evidence
from toulmin.methods.best_report import write_report
from toulmin.methods.best_state import Doubt, State, Task
from toulmin.methods.evidence import evidence
from toulmin.methods.options import check_whole
from toulmin.methods.reporting import add_draft, conclude, draft_round, start_answer, unsaid, verdicts_round
from toulmin.prompts.types import Example, Preset
from toulmin.steps import Program, exchange, show


def best(
    question: str,
    *,
    style: Style = "long",
    k: int = 10,
    max_rounds: int = 3,
    queries: int = 0,
    per_query: int = 2,
    contrast: bool = False,
    doubt_from: float = 0.35,
    doubt_to: float = 0.65,
    prompt: Preset = "cited",
    examples: tuple[Example, ...] = (),
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """Drafts from the `k` best passages, keeps the claims that the judge supports and repairs the others.

    One model call if all claims hold, else at most `max_rounds` more, one more a round with `queries`, and with
    `contrast` one of the verifier for each draft. What fails in the end is left out with a note; claims of which
    the judge is unsure stay, labelled, unless `unsupported` is "drop". If nothing holds, the answer is an
    abstention. The verifier decides about scores from `doubt_from` up to, but not including, `doubt_to`; it makes
    no claim supported. `docs/methods.md` has the steps. Raises `UsageError` for invalid values.
    """
    check_whole(1, k=k, per_query=per_query)
    check_whole(0, max_rounds=max_rounds, queries=queries)
    if not 0 <= doubt_from <= doubt_to <= 1:
        raise UsageError(f"doubt_from and doubt_to: expected 0 <= from <= to <= 1, not {doubt_from} and {doubt_to}.")
    doubt = Doubt(doubt_from, doubt_to) if contrast else None
    task = Task(question, style, k, max_rounds, queries, per_query, doubt, unsupported != "drop", prompt, examples)
    answer = yield from start_answer(question, "best", style, k)
    if not answer.passages:
        return conclude(answer, (), unsupported)
    if style == "report":
        answer = yield from write_report(task, answer, compose)
        return conclude(answer, answer.claims, unsupported, verified=False)
    state = yield from compose(task, State(answer))
    return conclude(state.draft, state.answer.claims, unsupported, verified=False)


# ---------------------------------------------------------------- the loop


def compose(task: Task, state: State) -> Program[State]:
    """Drafts from the passages read and repairs in up to `max_rounds` rounds, showing each stage.

    If the model fails at repairing, the claims that hold stay, with a note; without any, its error is raised.
    """
    state = yield from _write_draft(task, state, 1)
    for n in range(1, task.max_rounds + 1):
        try:
            following = yield from _further(task, state, n)
        except ModelError as error:
            if not state.holding:
                raise
            state = state.noting(f"{error} What failed could not be rewritten.")
            break
        if following is None:
            break
        state = following
    return state.finish(task)


def _further(task: Task, state: State, n: int) -> Program[State | None]:
    """The state after round `n`; None if nothing is left to do.

    A model that gives no answer is asked once more, with more passages. A claim unsure after one rewriting stays
    so.
    """
    if any(n == 1 or not task.tolerates(judgement) for judgement in state.failing):
        return (yield from _repair_failing(task, state, n))
    if state.claims or n > 1:
        return None
    more = yield from _read_more(task, state, n)
    if more.answer.passages == state.answer.passages:
        return more if more.answer.notes != state.answer.notes else None
    return (yield from _write_draft(task, more, n + 1))


def _write_draft(task: Task, state: State, n: int) -> Program[State]:
    passages = state.answer.passages
    done = yield from exchange(task.drafting(passages))
    entry = draft_round(done, task.style, n=n)
    answer = add_draft(state.answer, done.value.claims, entry, done.value.invalid)
    state = replace(state, answer=answer, claims=(), unsaid=unsaid(done))
    yield from show(task.present(state))
    claims = yield from judge_claims(done.value.claims, passages, task.topic, task.style)
    if claims:
        state = state.telling(
            verdicts_round([judgement.claim for judgement in claims], n), *new_citation_rounds(claims)
        )
    state = state.having(claims)
    yield from show(task.present(state))
    return (yield from _contrast_doubtful(task, state, n))


def _contrast_doubtful(task: Task, state: State, n: int) -> Program[State]:
    try:
        decided = yield from ask_verifier(task, state.claims, state.answer.passages, n)
    except ModelError as error:
        return state.noting(f"{error} Claims of which the judge is unsure were not contrasted.")
    if not decided.rounds:
        return state
    state = state.telling(*decided.rounds, invalid=decided.invalid).having(decided.claims)
    yield from show(task.present(state))
    return state


def _repair_failing(task: Task, state: State, n: int) -> Program[State]:
    state = yield from with_evidence(task, state, n)
    yield from show(task.present(state))
    if state.failing:
        state = state if state.holding else (yield from _read_more(task, state, n))
        state = yield from rewrite_failing(task, state, n)
        yield from show(task.present(state))
    return (yield from _contrast_doubtful(task, state, n))


def _read_more(task: Task, state: State, n: int) -> Program[State]:
    (result,) = yield from evidence([task.topic], task.k * (n + 1))
    read = {passage.id for passage in state.answer.passages}
    unread = tuple(passage for passage in result.passages if passage.id not in read)[: task.k]
    return state.searching([replace(result, passages=unread)], n + 1)
