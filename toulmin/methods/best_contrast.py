"""The verifier decides about doubtful claims"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from toulmin.data import Dropped, Passage, Round, render
from toulmin.methods.agreement import CORROBORATION
from toulmin.methods.best_claims import Judgement
from toulmin.methods.best_state import Task
from toulmin.methods.contrast import passages_cited_by
from toulmin.methods.reporting import omissions, read_by
from toulmin.steps import Program, exchange

CORROBORATED = 0.25  # the verifier's answer must hold more than this share of a claim's word pairs, as in `calm`
NOT_CORROBORATED = "the judge is unsure of it, and the verifier's answer from the same passages does not corroborate it"


class Contrasted(NamedTuple):
    claims: tuple[Judgement, ...]
    rounds: tuple[Round, ...] = ()
    invalid: int = 0


def ask_verifier(task: Task, claims: tuple[Judgement, ...], passages: Sequence[Passage], n: int) -> Program[Contrasted]:
    """Keeps a doubtful claim exactly if the verifier corroborates it; one call for all, once for each claim.

    The judge's label stays: the verifier makes no claim supported.
    """
    doubtful = [judgement for judgement in claims if judgement.borne_out is None and task.doubts(judgement.claim)]
    if not doubtful:
        return Contrasted(claims)
    grounds = passages_cited_by([judgement.claim for judgement in doubtful], passages)
    asked = task.answering(grounds)
    done = yield from exchange(asked, "verifier", sample=task.draws.next(asked))
    others = [claim.text for claim in done.value.claims]
    decided = {id(judgement): _decide(judgement, others, task) for judgement in doubtful}
    contrast_round = Round(
        "contrast",
        n,
        role="verifier",
        read=read_by(done.prompt),
        text=render(done.value.claims, task.style).text,
        kept=tuple(judgement.claim.text for judgement in decided.values() if judgement.holds),
        dropped=(
            *(Dropped(judgement.claim.text, judgement.why) for judgement in decided.values() if not judgement.holds),
            *omissions(done),
        ),
    )
    return Contrasted(
        tuple(decided.get(id(judgement), judgement) for judgement in claims), (contrast_round,), done.value.invalid
    )


def _decide(judgement: Judgement, others: Sequence[str], task: Task) -> Judgement:
    if others and CORROBORATION[task.style](judgement.claim.text, others) > CORROBORATED:
        return replace(judgement, holds=True, borne_out=True)
    return replace(judgement, holds=False, why=NOT_CORROBORATED, borne_out=False)
