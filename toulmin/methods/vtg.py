"""VTG: an answer written and verified claim by claim, with evolving memory (Sun et al. 2023, Algorithm 1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from toulmin.data import Answer, Claim, Policy, Round, Style
from toulmin.methods.citation import cite
from toulmin.methods.evidence import evidence, failed, gathered, missing
from toulmin.methods.memory import Memory
from toulmin.methods.options import check_whole
from toulmin.methods.reporting import concluded, draft_round, found, ids, left_out, read_by, silence_of, unsaid
from toulmin.methods.sentence_wording import worded
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
    """Writes one claim at a time, cites it, verifies it, and looks for evidence and tries again where it fails.

    `max_trials` (T), `queries` (M), `per_query` (N) and `k`, unless given, come from the `preset`, a column of the
    paper's Tables 6 and 7 ("asqa-davinci", "nq-vicuna", ...; "asqa-vicuna" where none is named). A claim gets T + 2
    attempts as in Algorithm 1, or T with `strict_trials`; then it stays, unverified, and a note counts such claims.

    Switches of the paper's Table 3: `verify=False` takes claims as generated; the judge is asked once, at the end, and
    its verdicts change no citation. `memory=False` stays with the first k passages. `simplify=False` keeps every
    citation that passed. `diverse_queries=False` searches with the claim itself. `window` is the most words of
    passages that the judge reads at once; 512 tokens are some 350 words of English.

    Ours, where the paper says nothing: in style `list` each claim is one entity. In style `short` sentences are written
    first; the answer proper, asked for once over them (with `prompt` and `examples`) and verified without a further
    search, is the only claim, and the sentences stand in the rounds. Without any passage no model is asked.
    """
    numbers = parameters(preset, k=k, max_trials=max_trials, queries=queries, per_query=per_query)
    check_whole(1, max_claims=max_claims, window=1 if window is None else window)
    verifier = Verifier(question, window, simplify) if verify else None
    attempts = numbers.attempts(strict=strict_trials)
    task = _Task(question, "list" if style == "list" else "long", numbers, attempts, verifier, memory, diverse_queries)
    answer = yield from found(question, "vtg", style, numbers.k)
    if not answer.passages:
        return concluded(answer, (), unsupported)
    state = yield from _written(task, State(answer, Memory(answer.passages)), max_claims)
    state = _with_notes(task, state)
    if style == "short":
        state = yield from _with_final_answer(task, state, prompt, examples)
    claims, answer = state.claims, state.told
    if not verify:
        claims = yield from judged(claims, {p.id: p for p in answer.passages}, question, style)
    return concluded(answer, claims, unsupported, verified=not verify)


def trials(answer: Answer) -> tuple[int, ...]:
    """How many attempts each claim of a VTG answer took, in order; the paper's Table 4 gives their mean."""
    return tuple(step.trial for step in answer.rounds if step.kind == "claim" and step.chosen and step.trial)


@dataclass(frozen=True, slots=True)
class _Task:
    """What stays the same for every claim. No `verifier`: claims are taken as generated."""

    question: str
    style: Style
    numbers: Parameters
    attempts: int
    verifier: Verifier | None
    evolves: bool
    asks_queries: bool


# ---------------------------------------------------------------- Algorithm 1


def _written(task: _Task, state: State, max_claims: int) -> Program[State]:
    """Claim after claim until the model ends the answer, or `max_claims` are there; each is shown."""
    while len(state.claims) < max_claims:
        state = yield from _next_claim(task, state)
        if state.is_over:
            break
        yield from show(state.answer)
    return state


def _next_claim(task: _Task, state: State) -> Program[State]:
    """The output with one claim more, or ended. `trial` is the algorithm's t + 1; each is a draw of its own."""
    trial = 0
    while True:
        trial += 1
        sentence = yield from _sentence(task, state, trial)
        told = sentence.told
        if told.text is None or _stands(told.text, state.claims):
            return state.ended(told, sentence.unsaid)
        attempt = yield from _attempt(task, state.memory, told.text, told, trial)
        if attempt.passed or trial >= task.attempts:
            return state.taking(attempt)
        state = state.refusing(attempt)
        if task.evolves:
            state = yield from _with_evidence(task, state, told.text, trial)


class _Sentence(NamedTuple):
    """The round of a sentence, and the note on a reply that was empty or a refusal."""

    told: Round
    unsaid: tuple[str, ...]


def _sentence(task: _Task, state: State, trial: int) -> Program[_Sentence]:
    """The sentence that comes next; its round is without text where the model ended the answer."""
    asked = NextClaim(task.question, state.written(task.style), state.memory.passages, task.style)
    done = yield from exchange(asked, sample=trial - 1)
    text = " ".join((done.value or "").split())
    has_words = re.search(r"[^\W_]", text) is not None
    told = Round(
        "claim",
        trial=trial,
        role="main",
        read=read_by(done.prompt),
        text=text if has_words else None,
        dropped=left_out(done),
        chosen=False,
    )
    return _Sentence(told, () if has_words else silence_of(done.reply))


def _stands(text: str, claims: Sequence[Claim]) -> bool:
    """Whether the output holds that sentence already."""
    return worded(text) in {worded(claim.text) for claim in claims}


def _attempt(task: _Task, memory: Memory, text: str, told: Round, trial: int) -> Program[Attempt]:
    """The sentence cited and, where there is a verifier, verified."""
    cited = yield from cite(text, memory.passages, trial - 1)
    told = replace(told, kept=cited.claim.cited, dropped=(*told.dropped, *cited.dropped))
    attempt = Attempt(cited.claim, True, (told,), cited.invalid)
    return (yield from _verified(task, attempt, memory, task.style))


def _verified(task: _Task, attempt: Attempt, memory: Memory, style: Style) -> Program[Attempt]:
    """The attempt with the verifier's word on it."""
    if task.verifier is None:
        return attempt
    checked = yield from check_claim(task.verifier, attempt.claim, memory.passages, style)
    told = replace(checked.round, trial=attempt.rounds[-1].trial)
    return replace(attempt, claim=checked.claim, passed=checked.claim.is_supported, rounds=(*attempt.rounds, told))


def _with_evidence(task: _Task, state: State, claim: str, trial: int) -> Program[State]:
    """The state with new passages in its short-term memory: N for each of up to M queries about the claim."""
    queries: tuple[str, ...] = (claim,)
    if task.asks_queries:
        asked = Queries(task.question, state.written(task.style), claim, task.numbers.queries)
        given = yield from generate(asked, sample=trial - 1)
        distinct_ones = dict.fromkeys(" ".join(query.split()) for query in given)
        queries = tuple(query for query in distinct_ones if query)[: task.numbers.queries] or queries
    found = yield from evidence(queries, task.numbers.per_query)
    passages = gathered(found)
    told = Round("search", trial=trial, read=ids(passages), queries=queries, dropped=failed(found))
    return state.telling(told).noting(*missing(found, state.answer.notes)).finding(passages)


# ---------------------------------------------------------------- the end


def _with_notes(task: _Task, state: State) -> State:
    """What a reader should know: claims that nothing verified, and an answer that was ended from outside."""
    notes = list(state.answer.notes)
    if state.unverified:
        notes.append(f"Claims left unverified after all attempts ({task.attempts} each): {state.unverified}.")
    if not state.is_over:
        notes.append(f"The answer was ended after {len(state.claims)} claims; allow more with max_claims.")
    return replace(state, answer=replace(state.answer, notes=tuple(notes)))


def _with_final_answer(task: _Task, state: State, prompt: Preset, examples: tuple[Example, ...]) -> Program[State]:
    """The short answer, drawn from O and the memories, in the place of O; verified like a claim, but asked for once."""
    memory, written = state.memory, state.written(task.style)
    asked = AnswerPrompt(task.question, memory.passages, "short", examples, prompt, written=written)
    done = yield from exchange(asked)
    attempt = yield from _final_attempt(task, done, memory)
    if attempt is None:
        state = state.answering((), draft_round(done, "short"), invalid=done.value.invalid)
        return replace(state, unsaid=unsaid(done))
    attempt = yield from _verified(task, attempt, memory, "short")
    return state.answering((attempt.claim,), *attempt.rounds, invalid=attempt.invalid)


def _final_attempt(task: _Task, done: Exchange[Draft], memory: Memory) -> Program[Attempt | None]:
    """The answer proper with the citations that it came with, or else those that are named for it; None for none."""
    if not done.value.claims:
        return None
    claim, told = done.value.claims[0], draft_round(done, "short")
    if claim.citations:
        return Attempt(claim, True, (told,), done.value.invalid)
    # Some words without a sentence say too little to be cited by themselves.
    cited = yield from cite(f"{task.question} {claim.text}", memory.passages, 0)
    claim = replace(claim, citations=cited.claim.citations)
    told = replace(told, dropped=(*told.dropped, *cited.dropped))
    return Attempt(claim, True, (told,), done.value.invalid + cited.invalid)
