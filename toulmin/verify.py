"""Whether passages support claims: verification, simplification, attribution, and what becomes of the rest.

All of it is asked in batches over all claims at once. A claim that cites nothing is never sent to a judge: by the
citation rule it is unsupported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

from toulmin.data import Citation, Claim, Dropped, Label, Passage, Policy, Quote, Style, Support
from toulmin.steps import Pair, Program, Verdict, entail

CITATION_RULE = "citation rule"

# Pairs of passages are formed among this many that support a claim best by themselves: ten pairs at most.
PAIRED = 5


def hypothesis(claim: Claim, passages: Mapping[str, Passage], question: str, style: Style) -> Pair:
    """What a judge is asked about a claim: its cited passages together, in citation order.

    An entity or a short answer is no sentence of its own and carries the question. Raises KeyError for a cited id that
    is not among `passages`.
    """
    return _pair(claim, [passages[id] for id in claim.cited], question, style)


def _pair(claim: Claim, premises: Sequence[Passage], question: str, style: Style) -> Pair:
    asked = question if question and style in ("list", "short") else None
    return Pair(tuple(premises), claim.text, asked)


def verify(
    claims: Sequence[Claim], passages: Mapping[str, Passage], question: str, style: Style
) -> Program[tuple[Claim, ...]]:
    """The claims with the judge's verdict on what they cite, and the decisive sentence of each cited passage.

    One request for all of them, one pair a claim that cites something.
    """
    citing = [claim for claim in claims if claim.citations]
    verdicts = yield from entail([hypothesis(claim, passages, question, style) for claim in citing])
    judged = iter(verdicts)
    return tuple(
        _judged(claim, [passages[id] for id in claim.cited], next(judged)) if claim.citations else _uncited(claim)
        for claim in claims
    )


def _judged(claim: Claim, cited: Sequence[Passage], verdict: Verdict) -> Claim:
    """The claim as citing exactly these passages, with a verdict on them."""
    quotes = list(verdict.quotes) + [None] * (len(cited) - len(verdict.quotes))
    citations = tuple(Citation(p.id, _standing(q, p)) for p, q in zip(cited, quotes, strict=False))
    return replace(claim, citations=citations, support=_support(verdict, cited))


def _standing(quote: Quote | None, passage: Passage) -> Quote | None:
    """The quote if it stands at its offsets; a judge that misquotes has shown nothing."""
    return quote if quote is not None and passage.text[quote.start : quote.end] == quote.text else None


def _support(verdict: Verdict, evidence: Sequence[Passage]) -> Support:
    score = min(1.0, max(0.0, verdict.support))
    return Support(verdict.label, score, verdict.judge, tuple(p.id for p in evidence), verdict.reason)


def _uncited(claim: Claim, reason: str = "cites no passage") -> Claim:
    return replace(claim, citations=(), support=Support("unsupported", 0.0, CITATION_RULE, (), reason))


# ---------------------------------------------------------------- simplification


def simplify(
    claims: Sequence[Claim], passages: Mapping[str, Passage], question: str, style: Style
) -> Program[tuple[Claim, ...]]:
    """The claims with only the citations that they need, by VTG's rule.

    The rule goes through a claim's citations in order and drops one when the rest still entail the claim; the last is
    never dropped. Here all claims are at the same position at once: at most one request a position (so as many as the
    longest citation list has entries) and at most one pair a citation, the very sets that the rule tests; equal sets
    of equal claims are judged once. A claim that lost a citation takes over the verdict on what is left. A claim that
    was judged and not found supported keeps all its citations: there is nothing to be sufficient for.
    """
    states = [_Simplified(claim) for claim in claims]
    known: dict[Pair, Verdict] = {}
    for position in range(max((len(claim.citations) for claim in claims), default=0)):
        trials = [(n, state.without(position)) for n, state in enumerate(states) if state.can_lose(position)]
        asked = {n: _pair(claims[n], [passages[id] for id in rest], question, style) for n, rest in trials}
        new = [pair for pair in dict.fromkeys(asked.values()) if pair not in known]
        known.update(zip(new, (yield from entail(new)), strict=True))
        for n, rest in trials:
            if known[asked[n]].entails:
                states[n] = _Simplified(states[n].claim, rest, known[asked[n]])
    return tuple(state.result(passages) for state in states)


@dataclass(frozen=True, slots=True)
class _Simplified:
    """A claim on its way: the citations kept so far (None: all), and the verdict that let the others go."""

    claim: Claim
    kept: tuple[str, ...] | None = None
    verdict: Verdict | None = None

    @property
    def cited(self) -> tuple[str, ...]:
        return self.claim.cited if self.kept is None else self.kept

    def can_lose(self, position: int) -> bool:
        refuted = self.claim.support is not None and not self.claim.is_supported
        return not refuted and position < len(self.claim.citations) and len(self.cited) > 1

    def without(self, position: int) -> tuple[str, ...]:
        dropped = self.claim.cited[position]
        return tuple(id for id in self.cited if id != dropped)

    def result(self, passages: Mapping[str, Passage]) -> Claim:
        if self.verdict is None:
            return self.claim
        return _judged(self.claim, [passages[id] for id in self.cited], self.verdict)


# ---------------------------------------------------------------- attribution


class _Trial(NamedTuple):
    """A set of candidate passages, and what the judge said of it."""

    premises: tuple[Passage, ...]
    verdict: Verdict


def smallest_support(
    found: Sequence[tuple[Claim, Sequence[Passage]]], question: str = "", style: Style = "long"
) -> Program[tuple[Claim, ...]]:
    """The claims, each citing the smallest set among its own candidate passages that supports it.

    Single passages come first, the best verdict wins (the earlier passage where two are equal); only a claim that none
    supports is tried with pairs of passages *together*, those among the `PAIRED` best singles. So two requests at
    most, and one pair a candidate plus ten a claim. Where nothing supports the claim it cites nothing and carries the
    strongest verdict against or for it, with the passages that were judged as evidence.
    """
    claims = [claim for claim, _ in found]
    alone = [[(p,) for p in dict.fromkeys(candidates)] for _, candidates in found]
    singles = yield from _tried(claims, alone, question, style)
    pairs = yield from _tried(claims, [_pairs_worth_trying(trials) for trials in singles], question, style)
    return tuple(_attributed(*tried) for tried in zip(claims, singles, pairs, strict=True))


def _tried(
    claims: Sequence[Claim], sets: Sequence[Sequence[tuple[Passage, ...]]], question: str, style: Style
) -> Program[list[list[_Trial]]]:
    """Every claim judged against every set of its own, in one request."""
    asked = [_pair(claim, one, question, style) for claim, own in zip(claims, sets, strict=True) for one in own]
    verdicts = iter((yield from entail(asked)))
    return [[_Trial(one, next(verdicts)) for one in own] for own in sets]


def _pairs_worth_trying(singles: Sequence[_Trial]) -> list[tuple[Passage, ...]]:
    """Pairs of the best single passages in their given order; none where a single one supports or contradicts."""
    if any(trial.verdict.entails or trial.verdict.label == "contradicted" for trial in singles):
        return []
    best = sorted(range(len(singles)), key=lambda i: (-singles[i].verdict.support, i))[:PAIRED]
    return [(*singles[i].premises, *singles[j].premises) for i, j in combinations(sorted(best), 2)]


def _attributed(claim: Claim, singles: Sequence[_Trial], pairs: Sequence[_Trial]) -> Claim:
    if not singles:
        return _uncited(claim, "no passage was found for it")
    supporting = [trial for trial in (*singles, *pairs) if trial.verdict.entails]
    if supporting:
        best = max(supporting, key=lambda trial: trial.verdict.support)
        return _judged(claim, best.premises, best.verdict)
    against = [trial for trial in singles if trial.verdict.label == "contradicted"]
    if against:
        best = max(against, key=lambda trial: trial.verdict.contradiction)
    else:
        best = max((*singles, *pairs), key=lambda trial: trial.verdict.support)
    return replace(claim, citations=(), support=_support(best.verdict, best.premises))


# ---------------------------------------------------------------- policy


class Sifted(NamedTuple):
    """The claims that stay, and those that went, with why."""

    kept: tuple[Claim, ...]
    dropped: tuple[Dropped, ...]


_WHY: Mapping[Label, str] = {
    "unsure": "the judge is not sure that the cited passages support it",
    "unsupported": "the cited passages do not support it",
    "contradicted": "the cited passages contradict it",
}


def apply_policy(claims: Sequence[Claim], policy: Policy) -> Sifted:
    """Keeps every claim (`keep`, `flag`: a rendering names what lacks support), or only supported ones (`drop`).

    Under `drop` what is unsure or was never checked goes too.
    """
    if policy != "drop":
        return Sifted(tuple(claims), ())
    kept = tuple(claim for claim in claims if claim.is_supported)
    return Sifted(kept, tuple(Dropped(claim.text, _why(claim)) for claim in claims if not claim.is_supported))


def _why(claim: Claim) -> str:
    support = claim.support
    if support is None:
        return "it was not checked"
    return support.reason or _WHY[support.label]
