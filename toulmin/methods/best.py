"""The product's own method: a draft, of which only what fails is put right, at no cost where it holds.

It composes the pieces of the other methods: `vanilla`'s draft, VTG's simplification, memory check and search for
evidence, A2R's grounded feedback, CaLM's contrast. Its numbers were chosen by `benchmarks/best_thresholds.py`.
"""

from __future__ import annotations

from dataclasses import replace

from toulmin.data import Answer, Policy, Style
from toulmin.errors import ModelError, UsageError
from toulmin.methods.best_claims import settled
from toulmin.methods.best_contrast import contrasted
from toulmin.methods.best_repair import anew_rounds, rewritten, with_evidence
from toulmin.methods.best_report import reported
from toulmin.methods.best_state import Doubt, State, Task
from toulmin.methods.evidence import evidence
from toulmin.methods.options import check_whole
from toulmin.methods.reporting import concluded, draft_round, drafted, found, unsaid, verdicts_round
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
    """A draft from the `k` best passages, whose claims stay where the judge supports them and are else put right.

    One model call where all claims hold; else at most `max_rounds` more. A claim that its citations do not support is
    cited anew if other passages read support it; then `per_query` passages are searched for with the claim itself (or
    with up to `queries` questions of the model about all such claims, a call more a round); then the model rewrites
    what still fails, by feedback from the verdicts. What then fails is left out, with a note, but for claims of which
    the judge is unsure: these stay, labelled so, unless `unsupported` is "drop". Where nothing holds, or the model says
    nothing, the next `k` passages are read too; where nothing holds in the end the answer is an abstention.

    With `contrast` the role "verifier" is asked, once a draft, about claims whose score by the judge lies from
    `doubt_from` up to `doubt_to`: it answers from what they cite, and those that its answer does not bear out fail.
    It makes no claim supported. Raises `UsageError` for a value that means nothing.
    """
    check_whole(1, k=k, per_query=per_query)
    check_whole(0, max_rounds=max_rounds, queries=queries)
    if not 0 <= doubt_from <= doubt_to <= 1:
        raise UsageError(f"doubt_from and doubt_to: expected 0 <= from <= to <= 1, not {doubt_from} and {doubt_to}.")
    doubt = Doubt(doubt_from, doubt_to) if contrast else None
    task = Task(question, style, k, max_rounds, queries, per_query, doubt, unsupported != "drop", prompt, examples)
    answer = yield from found(question, "best", style, k)
    if not answer.passages:
        return concluded(answer, (), unsupported)
    if style == "report":
        answer = yield from reported(task, answer, answered)
        return concluded(answer, answer.claims, unsupported, verified=False)
    state = yield from answered(task, State(answer))
    return concluded(state.draft, state.answer.claims, unsupported, verified=False)


# ---------------------------------------------------------------- the loop


def answered(task: Task, state: State) -> Program[State]:
    """The state with a text over what was read, put right in up to `max_rounds` rounds; each stage is shown.

    A model that fails to put it right costs nothing of what holds: that is the text, with a note.
    """
    state = yield from _drafted(task, state, 1)
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
    return state.finished(task)


def _further(task: Task, state: State, n: int) -> Program[State | None]:
    """The state after round `n`; None where there is nothing to do, or nothing left to do it with.

    A model that says nothing is asked once more, over more passages; the second time it is believed. What stays unsure
    when it was rewritten once is not rewritten again.
    """
    if any(n == 1 or not task.tolerates(one) for one in state.failing):
        return (yield from _repaired(task, state, n))
    if state.claims or n > 1:
        return None
    more = yield from _with_unread(task, state, n)
    if more.answer.passages == state.answer.passages:
        return more if more.answer.notes != state.answer.notes else None
    return (yield from _drafted(task, more, n + 1))


def _drafted(task: Task, state: State, n: int) -> Program[State]:
    """The state with the claims of a draft over all passages read, judged."""
    passages = state.answer.passages
    done = yield from exchange(task.drafting(passages))
    told = draft_round(done, task.style, n=n)
    answer = drafted(state.answer, done.value.claims, told, done.value.invalid)
    state = replace(state, answer=answer, claims=(), unsaid=unsaid(done))
    yield from show(task.present(state))
    claims = yield from settled(done.value.claims, passages, task.asked, task.style)
    if claims:
        state = state.telling(verdicts_round([one.claim for one in claims], n), *anew_rounds(claims))
    state = state.having(claims)
    yield from show(task.present(state))
    return (yield from _contrasted(task, state, n))


def _contrasted(task: Task, state: State, n: int) -> Program[State]:
    """The state with the verifier's word on doubtful claims; without it they are as the judge has them, with a note."""
    try:
        decided = yield from contrasted(task, state.claims, state.answer.passages, n)
    except ModelError as error:
        return state.noting(f"{error} Claims of which the judge is unsure were not contrasted.")
    if not decided.rounds:
        return state
    state = state.telling(*decided.rounds, invalid=decided.invalid).having(decided.claims)
    yield from show(task.present(state))
    return state


def _repaired(task: Task, state: State, n: int) -> Program[State]:
    """The state with evidence for what fails, and what still fails rewritten, from more where nothing holds."""
    state = yield from with_evidence(task, state, n)
    yield from show(task.present(state))
    if state.failing:
        state = state if state.holding else (yield from _with_unread(task, state, n))
        state = yield from rewritten(task, state, n)
        yield from show(task.present(state))
    return (yield from _contrasted(task, state, n))


def _with_unread(task: Task, state: State, n: int) -> Program[State]:
    """The state having read the next `k` passages for the question, if there are any."""
    (found,) = yield from evidence([task.asked], task.k * (n + 1))
    read = {passage.id for passage in state.answer.passages}
    unread = tuple(passage for passage in found.passages if passage.id not in read)[: task.k]
    return state.searching([replace(found, passages=unread)], n + 1)
