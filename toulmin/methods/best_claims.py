"""Which claims hold, by the judge alone"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toulmin.data import Claim, Passage, Style
from toulmin.methods.reporting import why
from toulmin.steps import Program
from toulmin.verify import simplify, smallest_support, verify

CITED_ANEW = "cited anew: another passage that was read supports it"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judged claim: whether it may stay, and why it may not or what was changed.

    `borne_out` is the verifier's view, None if it was not asked.
    """

    claim: Claim
    holds: bool
    why: str = ""
    borne_out: bool | None = None

    @property
    def has_new_citations(self) -> bool:
        return self.why == CITED_ANEW


def judge_claims(
    claims: Sequence[Claim], passages: Sequence[Passage], question: str, style: Style
) -> Program[tuple[Judgement, ...]]:
    """Judges claims by their citations, else by the smallest set of one or two passages that supports them.

    More passages read as one easily add up to what none of them says. Each claim then cites no more than it needs;
    one that nothing supports keeps its citations and their verdict.
    """
    by_id = {passage.id: passage for passage in passages}
    judged = yield from verify(claims, by_id, question, style)
    weak = [claim for claim in judged if not claim.is_supported]
    anew = iter((yield from smallest_support([(claim, passages) for claim in weak], question, style)))
    judgements = [_judgement_of(claim, None if claim.is_supported else next(anew)) for claim in judged]
    least = yield from simplify([judgement.claim for judgement in judgements], by_id, question, style)
    return tuple(
        Judgement(claim, judgement.holds, judgement.why) for claim, judgement in zip(least, judgements, strict=True)
    )


def _judgement_of(judged: Claim, anew: Claim | None) -> Judgement:
    if anew is None:
        return Judgement(judged, holds=True)
    return Judgement(anew, True, CITED_ANEW) if anew.is_supported else Judgement(judged, False, why(judged))
