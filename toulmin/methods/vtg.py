"""VTG: writes and verifies an answer claim by claim, with an evolving memory (Sun et al. 2023, Algorithm 1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from toulmin.data import Answer, Claim, Policy, Round, Style
from toulmin.methods.citation import cite
from toulmin.methods.evidence import all_passages, evidence, failure_notes, search_failures
from toulmin.methods.memory import Memory
from toulmin.methods.options import check_whole
from toulmin.methods.reporting import conclude, draft_round, ids, omissions, read_by, silence_of, start_answer, unsaid
from toulmin.methods.sentence_wording import wording_of
from toulmin.methods.tiers import Verifier, check_claim
from toulmin.methods.vtg_state import Attempt, State
from toulmin.methods.vtg_tables import Parameters, parameters
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt, Example, NextClaim, Preset, Queries
from toulmin.steps import Exchange, Program, exchange, generate, show
from toulmin.verify import verify as judged


def vtg(
    question: str,
    *,
    style: Style = "long",
    k: int | None = None,
    max_trials: int | None = None,
    queries: int | None = None,
    per_query: int | None = None,
    preset: str | None = None,
    max_claims: int = 20,
    strict_trials: bool = False,
    verify: bool = True,
    memory: bool = True,
    simplify: bool = True,
    diverse_queries: bool = True,
    window: int | None = None,
    prompt: Preset = "cited",
    examples: tuple[Example, ...] = (),
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """Writes one claim at a time, cites and verifies it; if that fails, searches for evidence and tries again.

    `max_trials` (T), `queries` (M), `per_query` (N) and `k` come from the `preset` unless given: a column of the
    paper's Tables 6 and 7, "asqa-vicuna" by default. A claim gets T + 2 attempts (Algorithm 1), or T with
    `strict_trials`; then it stays unverified, with a note. `verify`, `memory`, `simplify` and `diverse_queries` are
    the switches of Table 3. `window` is the most words of passages that the judge reads at once, None for no limit.
    `docs/methods.md` explains the rest. Raises `UsageError` for invalid values.
    """
    numbers = parameters(preset, k=k, max_trials=max_trials, queries=queries, per_query=per_query)
    check_whole(1, max_claims=max_claims, window=1 if window is None else window)
    verifier = Verifier(question, window, simplify) if verify else None
    attempts = numbers.attempts(strict=strict_trials)
    task = _Task(question, "list" if style == "list" else "long", numbers, attempts, verifier, memory, diverse_queries)
    answer = yield from start_answer(question, "vtg", style, numbers.k)
    if not answer.passages:
        return conclude(answer, (), unsupported)
    state = yield from _write_claims(task, State(answer, Memory(answer.passages)), max_claims)
    state = _with_notes(task, state)
    if style == "short":
        state = yield from _with_final_answer(task, state, prompt, examples)
    claims, answer = state.claims, state.answer_with_notes
    if not verify:
        claims = yield from judged(claims, {p.id: p for p in answer.passages}, question, style)
    return conclude(answer, claims, unsupported, verified=not verify)


def trials(answer: Answer) -> tuple[int, ...]:
    """The number of attempts for each claim of a VTG answer, in order (Table 4)."""
    return tuple(step.trial for step in answer.rounds if step.kind == "claim" and step.chosen and step.trial)


@dataclass(frozen=True, slots=True)
class _Task:
    """Without a `verifier` claims are taken as generated."""

    question: str
    style: Style
    numbers: Parameters
    attempts: int
    verifier: Verifier | None
    evolves: bool
    asks_queries: bool


# ---------------------------------------------------------------- Algorithm 1


def _write_claims(task: _Task, state: State, max_claims: int) -> Program[State]:
    while len(state.claims) < max_claims:
        state = yield from _next_claim(task, state)
        if state.is_over:
            break
        yield from show(state.answer)
    return state


def _next_claim(task: _Task, state: State) -> Program[State]:
    """`trial` is the algorithm's t + 1; each is another draw."""
    trial = 0
    while True:
        trial += 1
        sentence = yield from _sentence(task, state, trial)
        claim_round = sentence.told
        if claim_round.text is None or _stands(claim_round.text, state.claims):
            return state.end(claim_round, sentence.unsaid)
        attempt = yield from _attempt(task, state.memory, claim_round.text, claim_round, trial)
        if attempt.passed or trial >= task.attempts:
            return state.taking(attempt)
        state = state.refusing(attempt)
        if task.evolves:
            state = yield from _with_evidence(task, state, claim_round.text, trial)


class _Sentence(NamedTuple):
    told: Round
    unsaid: tuple[str, ...]


def _sentence(task: _Task, state: State, trial: int) -> Program[_Sentence]:
    """Its round has no text if the model ended the answer."""
    asked = NextClaim(task.question, state.output_text(task.style), state.memory.passages, task.style)
    done = yield from exchange(asked, sample=trial - 1)
    text = " ".join((done.value or "").split())
    has_words = re.search(r"[^\W_]", text) is not None
    claim_round = Round(
        "claim",
        trial=trial,
        role="main",
        read=read_by(done.prompt),
        text=text if has_words else None,
        dropped=omissions(done),
        chosen=False,
    )
    return _Sentence(claim_round, () if has_words else silence_of(done.reply))


def _stands(text: str, claims: Sequence[Claim]) -> bool:
    return wording_of(text) in {wording_of(claim.text) for claim in claims}


def _attempt(task: _Task, memory: Memory, text: str, claim_round: Round, trial: int) -> Program[Attempt]:
    cited = yield from cite(text, memory.passages, trial - 1)
    claim_round = replace(claim_round, kept=cited.claim.cited, dropped=(*claim_round.dropped, *cited.dropped))
    attempt = Attempt(cited.claim, True, (claim_round,), cited.invalid)
    return (yield from _verify_attempt(task, attempt, memory, task.style))


def _verify_attempt(task: _Task, attempt: Attempt, memory: Memory, style: Style) -> Program[Attempt]:
    if task.verifier is None:
        return attempt
    checked = yield from check_claim(task.verifier, attempt.claim, memory.passages, style)
    verify_round = replace(checked.round, trial=attempt.rounds[-1].trial)
    return replace(
        attempt, claim=checked.claim, passed=checked.claim.is_supported, rounds=(*attempt.rounds, verify_round)
    )


def _with_evidence(task: _Task, state: State, claim: str, trial: int) -> Program[State]:
    queries: tuple[str, ...] = (claim,)
    if task.asks_queries:
        asked = Queries(task.question, state.output_text(task.style), claim, task.numbers.queries)
        proposals = yield from generate(asked, sample=trial - 1)
        unique = dict.fromkeys(" ".join(query.split()) for query in proposals)
        queries = tuple(query for query in unique if query)[: task.numbers.queries] or queries
    results = yield from evidence(queries, task.numbers.per_query)
    passages = all_passages(results)
    search_round = Round("search", trial=trial, read=ids(passages), queries=queries, dropped=search_failures(results))
    return state.telling(search_round).noting(*failure_notes(results, state.answer.notes)).finding(passages)


# ---------------------------------------------------------------- the end


def _with_notes(task: _Task, state: State) -> State:
    notes = list(state.answer.notes)
    if state.unverified:
        notes.append(f"Claims left unverified after all attempts ({task.attempts} each): {state.unverified}.")
    if not state.is_over:
        notes.append(f"The answer was ended after {len(state.claims)} claims; allow more with max_claims.")
    return replace(state, answer=replace(state.answer, notes=tuple(notes)))


def _with_final_answer(task: _Task, state: State, prompt: Preset, examples: tuple[Example, ...]) -> Program[State]:
    """Replaces O by the short answer, which is asked for once and verified like a claim."""
    memory, written = state.memory, state.output_text(task.style)
    asked = AnswerPrompt(task.question, memory.passages, "short", examples, prompt, written=written)
    done = yield from exchange(asked)
    attempt = yield from _final_attempt(task, done, memory)
    if attempt is None:
        state = state.answering((), draft_round(done, "short"), invalid=done.value.invalid)
        return replace(state, unsaid=unsaid(done))
    attempt = yield from _verify_attempt(task, attempt, memory, "short")
    return state.answering((attempt.claim,), *attempt.rounds, invalid=attempt.invalid)


def _final_attempt(task: _Task, done: Exchange[Draft], memory: Memory) -> Program[Attempt | None]:
    if not done.value.claims:
        return None
    claim, entry = done.value.claims[0], draft_round(done, "short")
    if claim.citations:
        return Attempt(claim, True, (entry,), done.value.invalid)
    # A few words say too little to be cited without the question.
    cited = yield from cite(f"{task.question} {claim.text}", memory.passages, 0)
    claim = replace(claim, citations=cited.claim.citations)
    entry = replace(entry, dropped=(*entry.dropped, *cited.dropped))
    return Attempt(claim, True, (entry,), done.value.invalid + cited.invalid)
