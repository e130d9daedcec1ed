"""VTG's citations, and the two tiers that verify them: the cited passages, then everything in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toulmin.data import Citation, Claim, Omission, Passage, Round, Style
from toulmin.methods.evidence import windows
from toulmin.methods.reporting import omissions, read_by, why
from toulmin.prompts.types import Cite
from toulmin.steps import Program, exchange
from toulmin.verify import simplify, verify

GENERATION = "generation verifier"
MEMORY = "memory verifier"
NOT_NEEDED = "not needed: the other passages support the claim without it"


@dataclass(frozen=True, slots=True)
class Verifier:
    """`window`: the most words (titles and texts) that the judge reads at once, None for no limit.

    `is_simplifying`: citations that a claim does not need are dropped.
    """

    question: str
    window: int | None = None
    is_simplifying: bool = True


@dataclass(frozen=True, slots=True)
class TierResult:
    """A judged claim: `read` are the passages that decided it, `summary` says how, `scores` are by tier."""

    claim: Claim
    read: tuple[str, ...]
    summary: str
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    claim: Claim
    round: Round


def check_claim(by: Verifier, claim: Claim, memory: Sequence[Passage], style: Style) -> Program[CheckedClaim]:
    """The claim from the first tier that supports it, else with its own citations and their verdict.

    `memory` includes the passages that the claim cites.
    """
    passages = {passage.id: passage for passage in memory}
    result = yield from _verify_tiers(by, claim, passages, style)
    kept = result.claim
    if by.is_simplifying:
        (kept,) = yield from simplify([kept], passages, by.question, style)
    return CheckedClaim(kept, _round(result, kept))


def _verify_tiers(by: Verifier, claim: Claim, passages: Mapping[str, Passage], style: Style) -> Program[TierResult]:
    (generated,) = yield from verify([claim], passages, by.question, style)
    scores = _scores(GENERATION, [generated] if claim.citations else [])
    if generated.is_supported:
        return TierResult(generated, claim.cited, "supported by the passages that it cites", scores)
    cut = windows(passages.values(), by.window)
    rescues = [replace(claim, citations=tuple(Citation(p.id) for p in window)) for window in cut]
    judged = yield from verify(rescues, passages, by.question, style)
    scores |= _scores(MEMORY, judged)
    for number, rescue in enumerate(judged, start=1):
        if rescue.is_supported:
            place = "the memory" if len(cut) == 1 else f"window {number} of {len(cut)} of the memory"
            return TierResult(rescue, rescue.cited, f"supported by {place}", scores)
    where = "" if len(cut) == 1 else f", in {len(cut)} windows"
    summary = f"supported neither by the passages that it cites nor by the memory{where}"
    return TierResult(generated, tuple(passages), summary, scores)


def _scores(tier: str, judged: Sequence[Claim]) -> dict[str, float]:
    scores = [claim.support.score for claim in judged if claim.support]
    return {tier: max(scores)} if scores else {}


def _round(result: TierResult, kept: Claim) -> Round:
    entry = Round("verify", read=result.read, text=result.summary, scores=result.scores, chosen=kept.is_supported)
    if not kept.is_supported:
        return replace(entry, dropped=(Omission(kept.text, why(kept)),))
    needless = tuple(Omission(id, NOT_NEEDED) for id in result.claim.cited if id not in kept.cited)
    return replace(entry, kept=kept.cited, dropped=needless)


# ---------------------------------------------------------------- the citation generator


MOST = 3
BEYOND = f"a claim has {MOST} citations at most"


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """`invalid` counts labels that were not offered."""

    claim: Claim
    dropped: tuple[Omission, ...]
    invalid: int


def cite(text: str, passages: Sequence[Passage], sample: int) -> Program[CitedClaim]:
    """The sentence, unchanged, with the first three citations that the model names for it, or none."""
    done = yield from exchange(Cite(text, tuple(passages)), sample=sample)
    offered = read_by(done.prompt)
    named = [id for id in dict.fromkeys(done.value.ids) if id in offered]
    invalid = done.value.invalid + len(set(done.value.ids) - set(offered))
    claim = Claim(text, tuple(Citation(id) for id in named[:MOST]))
    return CitedClaim(claim, (*omissions(done), *(Omission(id, BEYOND) for id in named[MOST:])), invalid)
