"""Evidence for failing claims, then their rewriting"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toulmin.data import Claim, Dropped, Passage, Round
from toulmin.methods.aims import aims
from toulmin.methods.assessing import assess
from toulmin.methods.best_claims import CITED_ANEW, Settled, settled
from toulmin.methods.best_state import LEFT_OUT, State, Task
from toulmin.methods.evidence import evidence
from toulmin.methods.feedback import Numbered, grounded
from toulmin.methods.reporting import draft_round, unsaid
from toulmin.methods.rewriting import REWRITTEN, rewrites
from toulmin.methods.sentence_wording import worded
from toulmin.prompts.types import Queries, Refine
from toulmin.steps import Program, exchange, generate

AGAIN = "rewritten, but the new sentence is not supported either"
ADDED = "added: a passage that was read says it"


def with_evidence(task: Task, state: State, n: int) -> Program[State]:
    queries = yield from _queries(task, state)
    state = state.searching((yield from evidence(queries, task.per_query)), n + 1)
    failing = [one.claim for one in state.failing]
    judged = iter((yield from settled(failing, state.answer.passages, task.asked, task.style)))
    after = tuple(one if one.holds else _better(one, next(judged)) for one in state.claims)
    return state.telling(*anew_rounds(after, state.claims)).having(after)


def _better(before: Settled, now: Settled) -> Settled:
    """A claim that failed by its own citations needs others to hold."""
    return now if now.is_anew else before


def anew_rounds(claims: Sequence[Settled], before: Sequence[Settled] = ()) -> list[Round]:
    return [
        Round(
            "repair",
            n,
            read=one.claim.cited,
            kept=(one.claim.text,),
            dropped=(Dropped(one.claim.text, CITED_ANEW),),
            chosen=True,
        )
        for n, one in enumerate(claims, start=1)
        if one.is_anew and one not in before
    ]


def _queries(task: Task, state: State) -> Program[tuple[str, ...]]:
    """An entity or a short answer is searched for together with the question."""
    texts = [one.claim.text for one in state.failing]
    alone = tuple(f"{task.asked} {text}" for text in texts) if task.style in ("list", "short") else tuple(texts)
    if not task.queries:
        return alone
    written = " ".join(claim.text for claim in state.holding)
    asked = Queries(task.asked, written, " ".join(texts), task.queries)
    given = yield from generate(asked, sample=task.draws.next(asked))
    distinct_ones = dict.fromkeys(" ".join(query.split()) for query in given)
    return tuple(query for query in distinct_ones if query)[: task.queries] or alone


# ---------------------------------------------------------------- rewriting


def rewritten(task: Task, state: State, n: int) -> Program[State]:
    """Has the model rewrite the failing claims, from the whole answer, all passages read and feedback.

    Claims that hold never change. New ones are judged like a draft; those that fail are the failing ones now.
    """
    passages = state.answer.passages
    asked = yield from _asked(task, state, passages)
    done = yield from exchange(asked, sample=task.draws.next(asked))
    new = _new(done.value.claims, state)
    judged = yield from settled(new, passages, task.asked, task.style)
    told = draft_round(done, task.style, kind="refine", n=n)
    state = replace(state.telling(told, invalid=done.value.invalid), unsaid=unsaid(done))
    return _placed(state, judged)


def _asked(task: Task, state: State, passages: tuple[Passage, ...]) -> Program[Refine]:
    claims = tuple(one.claim for one in state.claims)
    goals = aims(task.style, None, None, None)
    assessed = yield from assess(claims, passages, task.asked, task.style)
    said = grounded(goals.assessment(assessed, (task.asked,)), goals, passages, (task.asked,), task.style)
    doubts = _doubts(state, Numbered.of(passages, task.style))
    return Refine(task.asked, passages, claims, said | doubts, task.style)


def _doubts(state: State, name: Numbered) -> dict[str, str]:
    remedy = "Replace it by what the passages say, or remove it."
    refuted = [n for n, one in enumerate(state.claims, start=1) if one.borne_out is False]
    found = [f"{name.noun} {n} is not borne out by another reading of what it cites. {remedy}" for n in refuted]
    return {"doubts": " ".join(found)} if found else {}


def _new(claims: Sequence[Claim], state: State) -> list[Claim]:
    known = {worded(claim.text) for claim in state.holding}
    found: dict[tuple[str, ...], Claim] = {}
    for claim in claims:
        if worded(claim.text) not in known:
            found.setdefault(worded(claim.text), claim)
    return list(found.values())


def _placed(state: State, new: Sequence[Settled]) -> State:
    """Puts new claims in place of those that they rewrite, else at the end."""
    homes = [_home(one.claim, state.claims) for one in new]
    claims: list[Settled] = []
    told, gone = [], []
    for n, old in enumerate(state.claims):
        own = [one for one, home in zip(new, homes, strict=True) if home == n]
        claims += [old] if old.holds else own
        if not old.holds:
            told.append(_change(n, old, own))
        if not old.holds and not own:
            gone.append(old.claim.text)
    added = [one for one, home in zip(new, homes, strict=True) if home is None]
    told += [_addition(len(state.claims), one.claim) for one in added if one.holds]
    return state.telling(*told).leaving_out(gone).having([*claims, *added])


def _home(new: Claim, claims: Sequence[Settled]) -> int | None:
    failing = [(n, one.claim.text) for n, one in enumerate(claims) if not one.holds]
    place = rewrites(new.text, [text for _, text in failing])
    return None if place is None else failing[place][0]


def _change(n: int, old: Settled, own: Sequence[Settled]) -> Round:
    holding = [one.claim for one in own if one.holds]
    way = REWRITTEN if holding else AGAIN if own else LEFT_OUT
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
