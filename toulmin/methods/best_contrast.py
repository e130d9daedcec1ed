"""The verifier decides about doubtful claims"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from toulmin.data import Dropped, Passage, Round, render
from toulmin.methods.agreement import CORROBORATION
from toulmin.methods.best_claims import Settled
from toulmin.methods.best_state import Task
from toulmin.methods.contrast import cited_by
from toulmin.methods.reporting import left_out, read_by
from toulmin.steps import Program, exchange

CORROBORATED = 0.25  # the verifier's answer must hold more than this share of a claim's word pairs, as in `calm`
NOT_CORROBORATED = "the judge is unsure of it, and the verifier's answer from the same passages does not corroborate it"


class Contrasted(NamedTuple):
    claims: tuple[Settled, ...]
    rounds: tuple[Round, ...] = ()
    invalid: int = 0


def contrasted(task: Task, claims: tuple[Settled, ...], passages: Sequence[Passage], n: int) -> Program[Contrasted]:
    """Keeps a doubtful claim exactly if the verifier corroborates it; one call for all, once for each claim.

    The judge's label stays: the verifier makes no claim supported.
    """
    doubtful = [one for one in claims if one.borne_out is None and task.doubts(one.claim)]
    if not doubtful:
        return Contrasted(claims)
    grounds = cited_by([one.claim for one in doubtful], passages)
    asked = task.answering(grounds)
    done = yield from exchange(asked, "verifier", sample=task.draws.next(asked))
    others = [claim.text for claim in done.value.claims]
    decided = {id(one): _decided(one, others, task) for one in doubtful}
    told = Round(
        "contrast",
        n,
        role="verifier",
        read=read_by(done.prompt),
        text=render(done.value.claims, task.style).text,
        kept=tuple(one.claim.text for one in decided.values() if one.holds),
        dropped=(*(Dropped(one.claim.text, one.why) for one in decided.values() if not one.holds), *left_out(done)),
    )
    return Contrasted(tuple(decided.get(id(one), one) for one in claims), (told,), done.value.invalid)


def _decided(one: Settled, others: Sequence[str], task: Task) -> Settled:
    if others and CORROBORATION[task.style](one.claim.text, others) > CORROBORATED:
        return replace(one, holds=True, borne_out=True)
    return replace(one, holds=False, why=NOT_CORROBORATED, borne_out=False)
