"""Evidence for failing claims, then their rewriting"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toulmin.data import Claim, Dropped, Passage, Round
from toulmin.methods.aims import aims
from toulmin.methods.assessing import assess
from toulmin.methods.best_claims import CITED_ANEW, Judgement, judge_claims
from toulmin.methods.best_state import LEFT_OUT, State, Task
from toulmin.methods.evidence import evidence
from toulmin.methods.feedback import Numbered, compose_feedback
from toulmin.methods.reporting import draft_round, unsaid
from toulmin.methods.rewriting import REWRITTEN, rewrites
from toulmin.methods.sentence_wording import wording_of
from toulmin.prompts.types import Queries, Refine
from toulmin.steps import Program, exchange, generate

AGAIN = "rewritten, but the new sentence is not supported either"
ADDED = "added: a passage that was read says it"


def with_evidence(task: Task, state: State, n: int) -> Program[State]:
    queries = yield from _queries(task, state)
    state = state.searching((yield from evidence(queries, task.per_query)), n + 1)
    failing = [judgement.claim for judgement in state.failing]
    judged = iter((yield from judge_claims(failing, state.answer.passages, task.topic, task.style)))
    after = tuple(judgement if judgement.holds else _better(judgement, next(judged)) for judgement in state.claims)
    return state.telling(*new_citation_rounds(after, state.claims)).having(after)


def _better(before: Judgement, now: Judgement) -> Judgement:
    """A claim that failed by its own citations needs others to hold."""
    return now if now.has_new_citations else before


def new_citation_rounds(claims: Sequence[Judgement], before: Sequence[Judgement] = ()) -> list[Round]:
    return [
        Round(
            "repair",
            n,
            read=judgement.claim.cited,
            kept=(judgement.claim.text,),
            dropped=(Dropped(judgement.claim.text, CITED_ANEW),),
            chosen=True,
        )
        for n, judgement in enumerate(claims, start=1)
        if judgement.has_new_citations and judgement not in before
    ]


def _queries(task: Task, state: State) -> Program[tuple[str, ...]]:
    """An entity or a short answer is searched for together with the question."""
    texts = [judgement.claim.text for judgement in state.failing]
    alone = tuple(f"{task.topic} {text}" for text in texts) if task.style in ("list", "short") else tuple(texts)
    if not task.queries:
        return alone
    written = " ".join(claim.text for claim in state.holding)
    asked = Queries(task.topic, written, " ".join(texts), task.queries)
    proposals = yield from generate(asked, sample=task.draws.next(asked))
    unique = dict.fromkeys(" ".join(query.split()) for query in proposals)
    return tuple(query for query in unique if query)[: task.queries] or alone


# ---------------------------------------------------------------- rewriting


def rewrite_failing(task: Task, state: State, n: int) -> Program[State]:
    """Has the model rewrite the failing claims, from the whole answer, all passages read and feedback.

    Claims that hold never change. New ones are judged like a draft; those that fail are the failing ones now.
    """
    passages = state.answer.passages
    asked = yield from _refine_prompt(task, state, passages)
    done = yield from exchange(asked, sample=task.draws.next(asked))
    new = _new_claims(done.value.claims, state)
    judged = yield from judge_claims(new, passages, task.topic, task.style)
    refine_round = draft_round(done, task.style, kind="refine", n=n)
    state = replace(state.telling(refine_round, invalid=done.value.invalid), unsaid=unsaid(done))
    return _place_new(state, judged)


def _refine_prompt(task: Task, state: State, passages: tuple[Passage, ...]) -> Program[Refine]:
    claims = tuple(judgement.claim for judgement in state.claims)
    goals = aims(task.style, None, None, None)
    assessed = yield from assess(claims, passages, task.topic, task.style)
    feedback = compose_feedback(goals.assessment(assessed, (task.topic,)), goals, passages, (task.topic,), task.style)
    doubts = _doubts(state, Numbered.of(passages, task.style))
    return Refine(task.topic, passages, claims, feedback | doubts, task.style)


def _doubts(state: State, name: Numbered) -> dict[str, str]:
    remedy = "Replace it by what the passages say, or remove it."
    refuted = [n for n, judgement in enumerate(state.claims, start=1) if judgement.borne_out is False]
    remarks = [f"{name.noun} {n} is not borne out by another reading of what it cites. {remedy}" for n in refuted]
    return {"doubts": " ".join(remarks)} if remarks else {}


def _new_claims(claims: Sequence[Claim], state: State) -> list[Claim]:
    known = {wording_of(claim.text) for claim in state.holding}
    unique: dict[tuple[str, ...], Claim] = {}
    for claim in claims:
        if wording_of(claim.text) not in known:
            unique.setdefault(wording_of(claim.text), claim)
    return list(unique.values())


def _place_new(state: State, new: Sequence[Judgement]) -> State:
    """Puts new claims in place of those that they rewrite, else at the end."""
    homes = [_home(judgement.claim, state.claims) for judgement in new]
    claims: list[Judgement] = []
    rounds, gone = [], []
    for n, old in enumerate(state.claims):
        successors = [judgement for judgement, home in zip(new, homes, strict=True) if home == n]
        claims += [old] if old.holds else successors
        if not old.holds:
            rounds.append(_change(n, old, successors))
        if not old.holds and not successors:
            gone.append(old.claim.text)
    added = [judgement for judgement, home in zip(new, homes, strict=True) if home is None]
    rounds += [_addition(len(state.claims), judgement.claim) for judgement in added if judgement.holds]
    return state.telling(*rounds).leaving_out(gone).having([*claims, *added])


def _home(new: Claim, claims: Sequence[Judgement]) -> int | None:
    failing = [(n, judgement.claim.text) for n, judgement in enumerate(claims) if not judgement.holds]
    index = rewrites(new.text, [text for _, text in failing])
    return None if index is None else failing[index][0]


def _change(n: int, old: Judgement, successors: Sequence[Judgement]) -> Round:
    holding = [judgement.claim for judgement in successors if judgement.holds]
    way = REWRITTEN if holding else AGAIN if successors else LEFT_OUT
    return Round(
        "repair",
        n + 1,
        read=tuple(dict.fromkeys(id for claim in holding for id in claim.cited)),
        kept=tuple(claim.text for claim in holding),
        dropped=(Dropped(old.claim.text, f"{way} ({old.why})"),),
        chosen=True,
    )


def _addition(count: int, claim: Claim) -> Round:
    return Round("repair", count + 1, read=claim.cited, text=ADDED, kept=(claim.text,), chosen=True)
