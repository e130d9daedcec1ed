"""VTG: writes and verifies an answer claim by claim, with an evolving memory (Sun et al. 2023, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toulmin.data import Answer, Citation, Claim, Omission, Passage, Policy, Round, Style, citation_numbers, render
from toulmin.methods import reporting
from toulmin.methods.evidence import Memory, Progress, all_passages, evidence, propose_queries, windows
from toulmin.parsing.citing import with_citations
from toulmin.parsing.lines import has_words
from toulmin.prompts.types import AnswerPrompt, Cite, Example, NextClaim, Preset, Queries
from toulmin.steps import Program, exchange, show
from toulmin.verify import simplify as simplify_claim
from toulmin.verify import verify as verify_claims

# ---------------------------------------------------------------- parameters by dataset (Tables 6 and 7)


@dataclass(frozen=True, slots=True)
class Parameters:
    """The numbers of Algorithm 1: T (`max_trials`), M (`queries`), N (`per_query`) and k. Raises `UsageError`."""

    max_trials: int
    queries: int
    per_query: int
    k: int = 5

    def __post_init__(self) -> None:
        reporting.check_whole(0, max_trials=self.max_trials)
        reporting.check_whole(1, queries=self.queries, per_query=self.per_query, k=self.k)

    def attempts(self, *, strict: bool) -> int:
        """The most attempts at one claim, at least one.

        Algorithm 1 stops if t > T after a failure, with t from 0: T + 2 attempts, as in Table 4. `strict` follows the
        paper's prose: T.
        """
        return max(1, self.max_trials) if strict else self.max_trials + 2


PRESETS: Mapping[str, Parameters] = {
    # Table 6: Text-Davinci-003.
    "2wiki-davinci": Parameters(max_trials=5, queries=2, per_query=4),
    "asqa-davinci": Parameters(max_trials=2, queries=4, per_query=2),
    "eli5-davinci": Parameters(max_trials=3, queries=2, per_query=2),
    "nq-davinci": Parameters(max_trials=3, queries=2, per_query=3),
    "webq-davinci": Parameters(max_trials=3, queries=4, per_query=2),
    # Table 7: Vicuna-13B-v1.5-16k.
    "2wiki-vicuna": Parameters(max_trials=5, queries=4, per_query=2),
    "asqa-vicuna": Parameters(max_trials=3, queries=2, per_query=4),
    "eli5-vicuna": Parameters(max_trials=5, queries=2, per_query=4),
    "nq-vicuna": Parameters(max_trials=3, queries=3, per_query=3),
    "webq-vicuna": Parameters(max_trials=3, queries=3, per_query=3),
}

# ASQA asks for long cited answers, the default style; the paper's analyses use Vicuna (section 3.5).
DEFAULT = "asqa-vicuna"


def parameters(preset: str | None, **by_hand: int | None) -> Parameters:
    """The preset's values, replaced by arguments that are not None. Raises `UsageError`."""
    name = DEFAULT if preset is None else preset
    reporting.check_choice("preset of vtg", name, PRESETS)
    return replace(PRESETS[name], **{key: value for key, value in by_hand.items() if value is not None})


# ---------------------------------------------------------------- the state that Algorithm 1 changes


@dataclass(frozen=True, slots=True)
class Attempt:
    """A claim as generated, cited and verified, if it was, with its rounds.

    `invalid` counts labels that were not offered.
    """

    claim: Claim
    rounds: tuple[Round, ...]
    invalid: int = 0

    def as_rounds(self, *, chosen: bool) -> tuple[Round, ...]:
        return tuple(replace(step, chosen=chosen) if step.kind == "claim" else step for step in self.rounds)


@dataclass(frozen=True, slots=True)
class State(Progress):
    """The output O (the answer's claims), the memories, and whether O is complete.

    `unsaid` is the note on an empty last reply or a refusal.
    """

    memory: Memory
    unverified: int = 0
    is_over: bool = False
    unsaid: tuple[str, ...] = ()

    @property
    def claims(self) -> tuple[Claim, ...]:
        """O."""
        return self.answer.claims

    def output_text(self, style: Style) -> str:
        """O without citations, as a model sees it."""
        return (", " if style == "list" else " ").join(claim.text for claim in self.claims)

    def telling(self, *rounds: Round, invalid: int = 0) -> State:
        numbered = [replace(step, n=len(self.claims) + 1) for step in rounds]
        return self.recording(*numbered, invalid=invalid)

    def taking(self, attempt: Attempt) -> State:
        """Adds its citations to the memory, or counts it as unverified."""
        rounds = attempt.as_rounds(chosen=True)
        state = self.answering((*self.claims, attempt.claim), *rounds, invalid=attempt.invalid)
        if attempt.claim.fails:
            return replace(state, unverified=self.unverified + 1)
        return replace(state, memory=self.memory.retaining(attempt.claim.cited))

    def answering(self, claims: Sequence[Claim], *rounds: Round, invalid: int = 0) -> State:
        state = self.telling(*rounds, invalid=invalid)
        return replace(state, answer=reporting.with_claims(state.answer, claims))


# ---------------------------------------------------------------- the method


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

    `max_trials` (T), `queries` (M), `per_query` (N) and `k` replace values of the `preset`, a column of the paper's
    Tables 6 and 7 ("asqa-vicuna" by default). A claim gets T + 2 attempts, T with `strict_trials`; then it stays
    unverified, with a note. `verify`, `memory`, `simplify` and `diverse_queries` are the switches of Table 3. `window`
    is the most words of passages that the judge reads at once. `docs/methods.md` explains the rest. Raises `UsageError`
    for invalid values.
    """
    numbers = parameters(preset, k=k, max_trials=max_trials, queries=queries, per_query=per_query)
    reporting.check_whole(1, max_claims=max_claims, window=1 if window is None else window)
    attempts = numbers.attempts(strict=strict_trials)
    unit: Style = "list" if style == "list" else "long"
    task = _Task(question, unit, numbers, attempts, verify, window, simplify, memory, diverse_queries)
    answer = yield from reporting.start_answer(question, "vtg", style, numbers.k)
    if not answer.passages:
        return reporting.conclude(answer, (), unsupported)
    state = State(answer, Memory(answer.passages))
    while len(state.claims) < max_claims and not state.is_over:
        state = yield from _next_claim(task, state)
        if not state.is_over:
            yield from show(_draft(state.answer))
    state = _with_notes(task, state)
    if style == "short":
        state = yield from _with_final_answer(task, state, prompt, examples)
    claims, answer = state.claims, reporting.add_notes(state.answer, *(() if state.claims else state.unsaid))
    if not verify:
        claims = yield from verify_claims(claims, {p.id: p for p in answer.passages}, question, style)
    return reporting.conclude(answer, claims, unsupported, verified=not verify)


def _draft(answer: Answer) -> Answer:
    """Hides verdicts on the sentences from which a short answer is made."""
    if answer.style != "short":
        return answer
    return replace(answer, claims=tuple(replace(claim, support=None) for claim in answer.claims))


@dataclass(frozen=True, slots=True)
class _Task:
    question: str
    style: Style
    numbers: Parameters
    attempts: int
    verifies: bool
    window: int | None
    simplifies: bool
    evolves: bool
    asks_queries: bool


# ---------------------------------------------------------------- Algorithm 1


def _next_claim(task: _Task, state: State) -> Program[State]:
    """`trial` is the algorithm's t + 1; each is another draw."""
    trial = 0
    while True:
        trial += 1
        claim_round, silence = yield from _sentence(task, state, trial)
        text = claim_round.text
        if text is None or reporting.wording_of(text) in {reporting.wording_of(claim.text) for claim in state.claims}:
            return replace(state.telling(claim_round), is_over=True, unsaid=silence)
        claim, dropped, invalid = yield from _cite(text, state.memory.passages, trial - 1)
        claim_round = replace(claim_round, kept=claim.cited, dropped=(*claim_round.dropped, *dropped))
        attempt = Attempt(claim, (claim_round,), invalid)
        attempt = yield from _verify_attempt(task, attempt, state.memory, task.style)
        if not attempt.claim.fails or trial >= task.attempts:
            return state.taking(attempt)
        state = state.telling(*attempt.as_rounds(chosen=False), invalid=attempt.invalid)
        if task.evolves:
            state = yield from _with_evidence(task, state, text, trial)


def _sentence(task: _Task, state: State, trial: int) -> Program[tuple[Round, tuple[str, ...]]]:
    """The round, without text if the model ended the answer, and then the note on its silence."""
    asked = NextClaim(task.question, state.output_text(task.style), state.memory.passages, task.style)
    done = yield from exchange(asked, sample=trial - 1)
    text = " ".join((done.value or "").split())
    spoken = text if has_words(text) else None
    read, dropped = reporting.read_by(done.prompt), reporting.omissions(done)
    entry = Round("claim", trial=trial, role="main", read=read, text=spoken, dropped=dropped, chosen=False)
    return entry, () if spoken else reporting.silence_of(done.reply)


def _with_evidence(task: _Task, state: State, claim: str, trial: int) -> Program[State]:
    queries: tuple[str, ...] = (claim,)
    if task.asks_queries:
        asked = Queries(task.question, state.output_text(task.style), claim, task.numbers.queries)
        queries = (yield from propose_queries(asked, trial - 1)) or queries
    results = yield from evidence(queries, task.numbers.per_query)
    state = state.searching(results, len(state.claims) + 1, trial)
    return replace(state, memory=replace(state.memory, short=all_passages(results)))


# ---------------------------------------------------------------- the tiers: the cited passages, then all in memory


GENERATION = "generation verifier"
MEMORY = "memory verifier"
NOT_NEEDED = "not needed: the other passages support the claim without it"


def _verify_attempt(task: _Task, attempt: Attempt, memory: Memory, style: Style) -> Program[Attempt]:
    """By the first tier that supports the claim, else with its own citations and their verdict."""
    if not task.verifies:
        return attempt
    passages = {passage.id: passage for passage in memory.passages}
    judged, entry = yield from _verify_tiers(task, attempt.claim, passages, style)
    claim = judged
    if task.simplifies:
        (claim,) = yield from simplify_claim([claim], passages, task.question, style)
    verify_round = replace(_verify_round(entry, judged, claim), trial=attempt.rounds[-1].trial)
    return replace(attempt, claim=claim, rounds=(*attempt.rounds, verify_round))


def _verify_tiers(
    task: _Task, claim: Claim, passages: Mapping[str, Passage], style: Style
) -> Program[tuple[Claim, Round]]:
    """The verdict, and a round with the passages that decided and the scores by tier."""
    (generated,) = yield from verify_claims([claim], passages, task.question, style)
    scores = _scores(GENERATION, [generated] if claim.citations else [])
    if generated.is_supported:
        summary = "supported by the passages that it cites"
        return generated, Round("verify", read=claim.cited, text=summary, scores=scores)
    cut = windows(passages.values(), task.window)
    rescues = [with_citations(claim, reporting.ids(window)) for window in cut]
    judged = yield from verify_claims(rescues, passages, task.question, style)
    scores |= _scores(MEMORY, judged)
    for number, rescue in enumerate(judged, start=1):
        if rescue.is_supported:
            place = "the memory" if len(cut) == 1 else f"window {number} of {len(cut)} of the memory"
            return rescue, Round("verify", read=rescue.cited, text=f"supported by {place}", scores=scores)
    where = "" if len(cut) == 1 else f", in {len(cut)} windows"
    summary = f"supported neither by the passages that it cites nor by the memory{where}"
    return generated, Round("verify", read=tuple(passages), text=summary, scores=scores)


def _scores(tier: str, judged: Sequence[Claim]) -> dict[str, float]:
    scores = [claim.support.score for claim in judged if claim.support]
    return {tier: max(scores)} if scores else {}


def _verify_round(entry: Round, judged: Claim, kept: Claim) -> Round:
    if not kept.is_supported:
        return replace(entry, chosen=False, dropped=(Omission(kept.text, reporting.why(kept)),))
    needless = tuple(Omission(id, NOT_NEEDED) for id in judged.cited if id not in kept.cited)
    return replace(entry, chosen=True, kept=kept.cited, dropped=needless)


# ---------------------------------------------------------------- the citation generator


MOST = 3
BEYOND = f"a claim has {MOST} citations at most"


def _cite(text: str, passages: Sequence[Passage], sample: int) -> Program[tuple[Claim, tuple[Omission, ...], int]]:
    """The unchanged sentence with the first three citations that the model names, if any.

    Also what was omitted, and the number of labels that were not offered.
    """
    done = yield from exchange(Cite(text, tuple(passages)), sample=sample)
    offered = reporting.read_by(done.prompt)
    named = [id for id in dict.fromkeys(done.value.ids) if id in offered]
    invalid = done.value.invalid + len(set(done.value.ids) - set(offered))
    claim = Claim(text, tuple(Citation(id) for id in named[:MOST]))
    return claim, (*reporting.omissions(done), *(Omission(id, BEYOND) for id in named[MOST:])), invalid


# ---------------------------------------------------------------- the end


def _with_notes(task: _Task, state: State) -> State:
    if state.unverified:
        state = state.noting(f"Claims left unverified after all attempts ({task.attempts} each): {state.unverified}.")
    if state.is_over:
        return state
    return state.noting(f"The answer was ended after {len(state.claims)} claims; allow more with max_claims.")


def _with_final_answer(task: _Task, state: State, prompt: Preset, examples: tuple[Example, ...]) -> Program[State]:
    """Replaces O by one short answer, verified like a claim; a round keeps O."""
    memory, written = state.memory, state.output_text(task.style)
    text, read = " ".join(render(state.claims, "long").text.split()), tuple(citation_numbers(state.claims))
    state = state.recording(Round("draft", read=read, text=text, chosen=True, written=text))
    asked = AnswerPrompt(task.question, memory.passages, "short", examples, prompt, written=written)
    done = yield from exchange(asked)
    entry, invalid = reporting.draft_round(done, "short"), done.value.invalid
    if not done.value.claims:
        return replace(state.answering((), entry, invalid=invalid), unsaid=reporting.unsaid(done))
    claim = done.value.claims[0]
    if not claim.citations:
        # A few words need the question to be cited.
        cited, dropped, beyond = yield from _cite(f"{task.question} {claim.text}", memory.passages, 0)
        claim = replace(claim, citations=cited.citations)
        entry = replace(entry, dropped=(*entry.dropped, *dropped))
        invalid += beyond
    attempt = yield from _verify_attempt(task, Attempt(claim, (entry,), invalid), memory, "short")
    return state.answering((attempt.claim,), *attempt.rounds, invalid=attempt.invalid)
