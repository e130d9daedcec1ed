"""A judge without a model: hard rules, then a logistic regression on how well the premises cover the claim.

The probability is calibrated on human verdicts from ten sets, half of them supported (`training/fit_judge.py`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from toulmin.data import Label, Passage, Quote
from toulmin.judges import objections
from toulmin.judges.coverage import Best, Coverage, Reading, Source, measure, read, weights
from toulmin.judges.framing import Framing
from toulmin.judges.gate import SUPPORTED, Gate, Ruling, is_verbatim, rule
from toulmin.steps import Pair, Verdict, chance

# Constant, single, tail, plain, pairs, run squared, denied: see `Coverage.features`.
COEFFICIENTS = (-2.94, 1.35, 1.23, 1.11, 0.56, 1.59)
UNSURE = 0.35  # the support from which a claim that is not supported is unsure
QUOTED = 0.2  # share of the claim that a sentence must hold to be quoted


class Lexical:
    """Judges by words: deterministic and without a model. Not thread-safe.

    Caches up to `remembered` characters of parsed texts (about 90 bytes each). Titles count as premises, the words of a
    question as the claim's.
    """

    name = "lexical-3"
    key = f"{name}, rules {objections.RULES}"  # of kept verdicts

    def __init__(self, remembered: int = 250_000, looks: Sequence[objections.Look] = objections.LOOKS) -> None:
        self._remembered, self._looks = remembered, looks
        self._readings: OrderedDict[str, Reading] = OrderedDict()
        self._characters = 0

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return objections.judge_respelled(
            pairs, lambda each: [objections.lower_fragment(pair, self._verdict(pair)) for pair in each]
        )

    def features(self, pair: Pair) -> tuple[tuple[float, ...], Gate]:
        """The input of the regression, and the gate's ruling."""
        coverage, gate = self._measure(pair)
        return coverage.features(), gate

    def lower(self, pair: Pair, verdict: Verdict, framing: Framing | None = None) -> Verdict:
        """The verdict after the objections of the judge's looks."""
        case = objections.Case(pair, self._read(pair.claim), self._sources(pair), verdict.label, framing)
        return objections.lower(verdict, objections.find_objection(case, self._looks))

    def is_verbatim(self, pair: Pair) -> bool:
        """Whether the sources have each sentence of the claim word for word."""
        return is_verbatim(self._read(pair.claim), self._sources(pair))

    def _read(self, text: str) -> Reading:
        known = self._readings.pop(text, None)
        if known is None:
            known = read(text)
            self._characters += len(text)
        self._readings[text] = known
        while self._characters > self._remembered and len(self._readings) > 1:
            forgotten, _ = self._readings.popitem(last=False)
            self._characters -= len(forgotten)
        return known

    def _measure(self, pair: Pair) -> tuple[Coverage, Gate]:
        sources, claim = self._sources(pair), self._read(pair.claim)
        question = self._read(pair.question) if pair.question else None
        wanted = weights(question) | weights(claim) if question else weights(claim)
        coverage = measure(claim, wanted, sources)
        return coverage, rule(claim, coverage, sources, is_answer=question is not None)

    def _sources(self, pair: Pair) -> tuple[Source, ...]:
        return tuple(Source(self._read(premise.text), self._read(premise.title)) for premise in pair.premises)

    def _verdict(self, pair: Pair) -> Verdict:
        coverage, gate = self._measure(pair)
        support = lexical_support(coverage.features(), gate)
        label, weak = _label(support, gate.ruling)
        # 88 % of the claims that the gate calls contradicted are unsupported (train splits); else words say little.
        contradiction = 0.9 if gate.ruling is Ruling.CONTRADICTED else (1 - support) * 0.2
        quotes = tuple(_quote(p, best) for p, best in zip(pair.premises, coverage.best, strict=True))
        verdict = Verdict(label, support, contradiction, self.name, quotes, gate.reason or weak)
        return self.lower(pair, verdict)


def lexical_support(measured: Sequence[float], gate: Gate) -> float:
    """A probability; `measured` comes from `Lexical.features`."""
    return gate.support(chance(sum(c * x for c, x in zip(COEFFICIENTS, measured, strict=True))))


def _label(support: float, ruling: Ruling) -> tuple[Label, str | None]:
    if ruling is Ruling.CONTRADICTED:
        return "contradicted", None
    if support >= SUPPORTED:
        return "supported", None
    if support >= UNSURE:
        return "unsure", "the sources say only part of this"
    return "unsupported", "the sources do not say this"


def _quote(premise: Passage, best: Best | None) -> Quote | None:
    if best is None or best.share < QUOTED:
        return None
    return premise.quote(best.sentence.start, best.sentence.end)
