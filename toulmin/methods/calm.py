"""CaLM: a smaller model answers from the cited passages alone; claims that it does not corroborate are corrected.

"CaLM: Contrasting Large and Small Language Models to Verify Grounded Generation" (2024), section 4. Where it is
silent:
* The verifier reads in the pool's order. A candidate without valid citations fails unread.
* An empty reply is no candidate: the draft stays, and reading continues. After a last empty reply the draft is the
  answer.
* A verifier without an answer corroborates nothing.
* A repeated prompt is another draw (`Draws`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeVar, get_args

from toulmin.data import Answer, Policy, Style
from toulmin.errors import UsageError
from toulmin.methods import reporting
from toulmin.methods.contrast import AGREEMENT, USUAL, Basis, Carry, Contrast, Measure, Reads
from toulmin.methods.direct import judge_answer
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt, Correct, Example, Preset, Prompt
from toulmin.steps import Program, exchange, show

V = TypeVar("V")
Dataset = Literal["asqa", "qampari", "eli5"]

UNCONTRASTED = "The answer is the last candidate, not contrasted: no round was left."
UNCONFIRMED = "The answer is the last candidate; the verifier does not agree with it, and nothing was left to read."
FORMER = "The last correction was empty; the answer is what the verifier had corroborated before."

THRESHOLD = 0.5
# Section 5.4, which omits QAMPARI.
THRESHOLDS: Mapping[Dataset, float] = {"asqa": 0.5, "eli5": 0.25, "qampari": 0.5}


def calm(
    question: str,
    *,
    style: Style = "long",
    k: int = 5,
    max_rounds: int = 4,
    threshold: float | None = None,
    claim_threshold: float = 0.25,
    carry: Carry = "claims",
    consistency: Measure | None = None,
    verifier_reads: Reads = "cited",
    corrections: int | None = None,
    preset: Dataset | None = None,
    pool: int | None = None,
    prompt: Preset = "cited",
    examples: tuple[Example, ...] = (),
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """Answers, and corrects the answer until a verifier model, shown only what it cites, answers the same.

    "main" is asked at most `max_rounds` times (T), "verifier" once less; `corrections=n` is n + 1 main calls
    (Figure 4). A candidate is accepted *above* `threshold` (θ; by `preset`, else 0.5) of `consistency` or its style's
    measure, else its claims corroborated above `claim_threshold` are the next draft. `carry="all_cited"` is Figure 6,
    `verifier_reads="all"` Table 6. `docs/methods.md` lists the steps. Raises `UsageError` for invalid values.
    """
    reporting.check_whole(1, k=k, max_rounds=max_rounds, pool=1 if pool is None else pool)
    reporting.check_whole(0, corrections=0 if corrections is None else corrections)
    rounds = max_rounds if corrections is None else corrections + 1
    depth = k * rounds if pool is None else pool
    usual = THRESHOLD if preset is None else _look_up("preset", preset, THRESHOLDS)
    measure = _look_up("style", style, USUAL) if consistency is None else consistency
    reporting.check_choice("measure of consistency", measure, AGREEMENT)
    reporting.check_choice("value of verifier_reads", verifier_reads, get_args(Reads))
    reporting.check_choice("value of carry", carry, get_args(Carry))
    contrast = Contrast(
        AnswerPrompt(question, (), style, examples, prompt),
        measure,
        _check_share(threshold=usual if threshold is None else threshold),
        _check_share(claim_threshold=claim_threshold),
        verifier_reads,
        carry,
    )
    answer = yield from reporting.start_answer(question, "calm", style, depth)
    answer = yield from _run_rounds(answer, contrast, rounds, k)
    return (yield from judge_answer(answer, unsupported))


def _look_up(kind: str, name: str, table: Mapping[Any, V]) -> V:
    reporting.check_choice(kind, name, table)
    return table[name]


def _check_share(**option: float) -> float:
    ((name, value),) = option.items()
    if not 0 <= value <= 1:
        raise UsageError(f"{name}: expected a number from 0 to 1, not {value}; leave it out for the paper's value.")
    return value


def _run_rounds(answer: Answer, contrast: Contrast, rounds: int, k: int) -> Program[Answer]:
    """Steps 2 to 5, until a candidate is accepted, the rounds end, or no passage or claim changes."""
    pool = answer.passages
    read: set[str] = set()
    draws = reporting.Draws()
    silence: tuple[str, ...] = ()  # why the last candidate says nothing
    basis, shown, ending = Basis(), pool[:k], ""
    for n in range(1, rounds + 1):
        if not shown:
            break
        prompt: Prompt[Draft] = replace(contrast.asked, passages=shown)
        if n > 1:
            prompt = Correct(answer.question, shown, basis.claims, len(basis.passages), answer.style)
        candidate = yield from exchange(prompt, sample=draws.next(prompt))
        claims = candidate.value.claims
        silence = reporting.unsaid(candidate)
        read.update(reporting.read_by(candidate.prompt))
        entry = reporting.reply_round(candidate, answer.style, kind="draft" if n == 1 else "refine", n=n)
        answer = reporting.add_draft(answer, claims or basis.claims, entry, candidate.value.invalid)
        if answer.claims:
            yield from show(_of_what_was_read(answer, read))
        unread = tuple(passage for passage in pool if passage.id not in read)
        dropped = False
        if not claims:
            ending = FORMER
        elif n == rounds:
            ending = UNCONTRASTED
        else:
            outcome = yield from contrast.of(candidate, pool, n, draws)
            answer = reporting.add_draft(answer, claims, outcome.round, outcome.invalid)
            if outcome.accepted:
                ending = ""
                break
            ending = UNCONFIRMED
            basis, dropped = outcome.basis, len(outcome.basis.claims) < len(claims)
        shown = (*basis.passages, *unread)[:k] if unread or dropped else ()
    notes = ((ending,) if ending else ()) if answer.claims else silence
    return _of_what_was_read(reporting.add_notes(answer, *notes), read)


def _of_what_was_read(answer: Answer, read: set[str]) -> Answer:
    passages = tuple(passage for passage in answer.passages if passage.id in read)
    searched = replace(answer.rounds[0], read=reporting.ids(passages))
    return replace(answer, passages=passages, rounds=(searched, *answer.rounds[1:]))
