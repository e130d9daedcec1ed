"""Whether passages support claims, and which claims stay. Judge requests are batched over all claims; a claim
that cites nothing is unsupported without asking a judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

from toulmin.data import Citation, Claim, Dropped, Label, Passage, Policy, Quote, Style, Support
from toulmin.parsing.marks import content_of
from toulmin.steps import Pair, Program, Verdict, entail

CITATION_RULE = "citation rule"

# Pairs are formed among this many of the best single passages: ten pairs at most.
PAIRED = 5


def hypothesis(claim: Claim, passages: Mapping[str, Passage], question: str, style: Style) -> Pair:
    """The pair of a claim and its cited passages, in citation order.

    An entity or a short answer carries the question. Raises `KeyError` for a cited id that is not in `passages`.
    """
    return _pair(claim, [passages[id] for id in claim.cited], question, style)


def _pair(claim: Claim, premises: Sequence[Passage], question: str, style: Style) -> Pair:
    asked = question if question and style in ("list", "short") else None
    return Pair(tuple(premises), claim.text if asked else content_of(claim.text), asked)


def verify(
    claims: Sequence[Claim], passages: Mapping[str, Passage], question: str, style: Style
) -> Program[tuple[Claim, ...]]:
    """The claims with a verdict on their citations, and each cited passage's decisive sentence, in one
    request.
    """
    citing = [claim for claim in claims if claim.citations]
    verdicts = yield from entail([hypothesis(claim, passages, question, style) for claim in citing])
    judged = iter(verdicts)
    return tuple(
        _with_verdict(claim, [passages[id] for id in claim.cited], next(judged))
        if claim.citations
        else _without_citations(claim)
        for claim in claims
    )


def _with_verdict(claim: Claim, cited: Sequence[Passage], verdict: Verdict) -> Claim:
    quotes = list(verdict.quotes) + [None] * (len(cited) - len(verdict.quotes))
    citations = tuple(Citation(p.id, _valid_quote(q, p)) for p, q in zip(cited, quotes, strict=False))
    return replace(claim, citations=citations, support=_support(verdict, cited))


def _valid_quote(quote: Quote | None, passage: Passage) -> Quote | None:
    """The quote if its offsets are right, else None: a misquote proves nothing."""
    return quote if quote is not None and passage.text[quote.start : quote.end] == quote.text else None


def _support(verdict: Verdict, evidence: Sequence[Passage]) -> Support:
    score = min(1.0, max(0.0, verdict.support))
    return Support(verdict.label, score, verdict.judge, tuple(p.id for p in evidence), verdict.reason)


def _without_citations(claim: Claim, reason: str = "cites no passage") -> Claim:
    return replace(claim, citations=(), support=Support("unsupported", 0.0, CITATION_RULE, (), reason))


# ---------------------------------------------------------------- simplification


def simplify(
    claims: Sequence[Claim], passages: Mapping[str, Passage], question: str, style: Style
) -> Program[tuple[Claim, ...]]:
    """The claims with only the citations they need, by VTG's rule.

    In order, a citation is dropped if the rest still entail the claim; the last never is. All claims are tried at
    one position at once: at most one request a position; equal pairs are judged once. A shortened claim gets the
    verdict on the rest. A claim judged and not supported keeps all.
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
        return _with_verdict(self.claim, [passages[id] for id in self.cited], self.verdict)


# ---------------------------------------------------------------- attribution


class _Trial(NamedTuple):
    premises: tuple[Passage, ...]
    verdict: Verdict


def smallest_support(
    candidate_sets: Sequence[tuple[Claim, Sequence[Passage]]], question: str = "", style: Style = "long"
) -> Program[tuple[Claim, ...]]:
    """The claims, each citing the smallest set of its candidate passages that supports it.

    Single passages come first; the best verdict wins (on a tie, the earlier passage). If none supports or
    contradicts, pairs of the `PAIRED` best are tried. So at most two requests, and one pair a candidate plus ten a
    claim. An unsupported claim cites nothing and carries the strongest verdict with its evidence.
    """
    claims = [claim for claim, _ in candidate_sets]
    alone = [[(p,) for p in dict.fromkeys(candidates)] for _, candidates in candidate_sets]
    singles = yield from _try_sets(claims, alone, question, style)
    pairs = yield from _try_sets(claims, [_pairs_worth_trying(trials) for trials in singles], question, style)
    return tuple(_attribute(*tried) for tried in zip(claims, singles, pairs, strict=True))


def _try_sets(
    claims: Sequence[Claim], sets: Sequence[Sequence[tuple[Passage, ...]]], question: str, style: Style
) -> Program[list[list[_Trial]]]:
    asked = [
        _pair(claim, premises, question, style)
        for claim, claim_sets in zip(claims, sets, strict=True)
        for premises in claim_sets
    ]
    verdicts = iter((yield from entail(asked)))
    return [[_Trial(premises, next(verdicts)) for premises in claim_sets] for claim_sets in sets]


def _pairs_worth_trying(singles: Sequence[_Trial]) -> list[tuple[Passage, ...]]:
    if any(trial.verdict.entails or trial.verdict.label == "contradicted" for trial in singles):
        return []
    best = sorted(range(len(singles)), key=lambda i: (-singles[i].verdict.support, i))[:PAIRED]
    return [(*singles[i].premises, *singles[j].premises) for i, j in combinations(sorted(best), 2)]


def _attribute(claim: Claim, singles: Sequence[_Trial], pairs: Sequence[_Trial]) -> Claim:
    if not singles:
        return _without_citations(claim, "no passage was found for it")
    supporting = [trial for trial in (*singles, *pairs) if trial.verdict.entails]
    if supporting:
        best = max(supporting, key=lambda trial: trial.verdict.support)
        return _with_verdict(claim, best.premises, best.verdict)
    against = [trial for trial in singles if trial.verdict.label == "contradicted"]
    if against:
        best = max(against, key=lambda trial: trial.verdict.contradiction)
    else:
        best = max((*singles, *pairs), key=lambda trial: trial.verdict.support)
    return replace(claim, citations=(), support=_support(best.verdict, best.premises))


# ---------------------------------------------------------------- support elsewhere


def find_elsewhere(candidate_sets: Sequence[tuple[Claim, Sequence[Passage]]]) -> Program[tuple[Claim, ...]]:
    """Failing claims, with the passages among their candidates that say what the cited ones do not.

    The labels stay; the reason names the passages.
    """
    others = [(claim, [p for p in passages if p.id not in claim.cited]) for claim, passages in candidate_sets]
    attributed = yield from smallest_support(others)
    titles = {passage.id: passage.title for _, passages in others for passage in passages}
    return tuple(
        _said_elsewhere(claim, other.cited, titles) if other.is_supported else claim
        for (claim, _), other in zip(others, attributed, strict=True)
    )


def _said_elsewhere(claim: Claim, elsewhere: tuple[str, ...], titles: Mapping[str, str]) -> Claim:
    if claim.support is None:
        return claim
    cited = "the cited passages do" if len(claim.cited) > 1 else "the cited passage does"
    fault = claim.support.reason if claim.support.label == "contradicted" else None
    names = " and ".join(dict.fromkeys(f"“{titles[id]}”" if titles[id] else "another passage" for id in elsewhere))
    does = "do" if len(elsewhere) > 1 else "does"
    reason = f"{fault or f'{cited} not say this'}; {names} {does}"
    return replace(claim, support=replace(claim.support, reason=reason, elsewhere=elsewhere))


# ---------------------------------------------------------------- policy


class Sifted(NamedTuple):
    kept: tuple[Claim, ...]
    dropped: tuple[Dropped, ...]


_WHY: Mapping[Label, str] = {
    "unsure": "the judge is not sure that the cited passages support it",
    "unsupported": "the cited passages do not support it",
    "contradicted": "the cited passages contradict it",
}


def apply_policy(claims: Sequence[Claim], policy: Policy) -> Sifted:
    """Keeps every claim (`keep`, `flag`), or only supported ones (`drop`)."""
    if policy != "drop":
        return Sifted(tuple(claims), ())
    kept = tuple(claim for claim in claims if claim.is_supported)
    return Sifted(kept, tuple(Dropped(claim.text, _why(claim)) for claim in claims if not claim.is_supported))


def _why(claim: Claim) -> str:
    support = claim.support
    if support is None:
        return "it was not checked"
    return support.reason or _WHY[support.label]
