"""Which claims hold, by the judge and without a model call: as cited, cited anew, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toulmin.data import Claim, Passage, Style
from toulmin.methods.reporting import why
from toulmin.steps import Program
from toulmin.verify import simplify, smallest_support, verify

CITED_ANEW = "cited anew: another passage that was read supports it"


@dataclass(frozen=True, slots=True)
class Settled:
    """A judged claim, whether it may stay, and why it may not, or what was done that it may.

    `borne_out` is the word of a verifier model, None where it was not asked.
    """

    claim: Claim
    holds: bool
    why: str = ""
    borne_out: bool | None = None

    @property
    def is_anew(self) -> bool:
        """Whether it cites other passages than it came with."""
        return self.why == CITED_ANEW


def settled(
    claims: Sequence[Claim], passages: Sequence[Passage], question: str, style: Style
) -> Program[tuple[Settled, ...]]:
    """The claims judged by what they cite and, where that fails, by all the passages; each cites no more than it needs.

    All passages means the smallest set that supports the claim, of one or two (`smallest_support`): the more passages
    are read as one, the more easily do their words add up to what none of them says. A claim that nothing supports
    keeps its citations and the verdict on them.
    """
    by_id = {passage.id: passage for passage in passages}
    judged = yield from verify(claims, by_id, question, style)
    weak = [claim for claim in judged if not claim.is_supported]
    anew = iter((yield from smallest_support([(claim, passages) for claim in weak], question, style)))
    found = [_found(claim, None if claim.is_supported else next(anew)) for claim in judged]
    least = yield from simplify([one.claim for one in found], by_id, question, style)
    return tuple(Settled(claim, one.holds, one.why) for claim, one in zip(least, found, strict=True))


def _found(judged: Claim, anew: Claim | None) -> Settled:
    if anew is None:
        return Settled(judged, holds=True)
    return Settled(anew, True, CITED_ANEW) if anew.is_supported else Settled(judged, False, why(judged))
