"""A judge without a model: hard rules, then a logistic regression on how well the premises cover the claim.

A claim is rejected if no source contains one of its numbers, dates or names, if the sources cover little of it, or if a
short answer has words of no source. Verbatim copies are accepted. A doubted claim is never labelled supported.

The probability is calibrated on human verdicts from ten sets, half of them supported (`training/fit_judge.py`).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from toulmin.data import Label, Passage, Quote
from toulmin.judges import facts, objections
from toulmin.judges.coverage import Best, Coverage, Reading, Source, is_verbatim, measure, read, weights
from toulmin.steps import Pair, Verdict
from toulmin.text.language import STOPWORDS

# The support from which a claim counts as supported: within 0.005 of the best balanced accuracy on the train splits.
SUPPORTED = 0.50
CEILING = 0.2  # support of rejected claims is below this, of others above
LEAST_COVERED = 0.35  # below this share of the claim's weighted terms, the sources are about something else


class Ruling(Enum):
    """The range of support that the rules allow."""

    ACCEPTED = (CEILING, 1.0)
    DOUBTED = (CEILING, SUPPORTED - 0.01)
    REJECTED = (0.0, CEILING)


@dataclass(frozen=True, slots=True)
class Gate:
    ruling: Ruling
    reason: str | None = None

    def support(self, share: float) -> float:
        """The share, scaled to the range of the ruling."""
        low, high = self.ruling.value
        return low + (high - low) * share


def rule(claim: Reading, coverage: Coverage, sources: Sequence[Source], *, is_answer: bool) -> Gate:
    """For `is_answer`, the sources must contain every content word."""
    if not any(source.text.sentences for source in sources):
        return Gate(Ruling.REJECTED, "there are no sources")
    if not any(sentence.keys for sentence in claim.sentences):
        return Gate(Ruling.REJECTED, "the claim has no words")
    if is_verbatim(claim, sources):
        return Gate(Ruling.ACCEPTED)
    absent = facts.absence(claim, sources)
    if sure := absent.sure or (_absent_words(claim, sources) if is_answer else ()):
        return Gate(Ruling.REJECTED, facts.absence_reason(sure))
    if coverage.whole < LEAST_COVERED:
        return Gate(Ruling.REJECTED, "the sources do not speak of this")
    if absent.doubtful:
        return Gate(Ruling.DOUBTED, facts.absence_reason(absent.doubtful))
    if coverage.denied:
        return Gate(Ruling.DOUBTED, "the claim denies what the source may say")
    return Gate(Ruling.ACCEPTED)


def _absent_words(claim: Reading, sources: Sequence[Source]) -> list[str]:
    readings = [reading for source in sources for reading in source if reading.sentences]
    return [
        shown
        for sentence in claim.sentences
        for at, (key, shown) in enumerate(zip(sentence.keys, sentence.shown, strict=True))
        if at not in sentence.facts and key not in STOPWORDS and not facts.has_term(key, readings)
    ]


# Constant, single, tail, plain, pairs, run squared, denied: see `Coverage.features`.
COEFFICIENTS = (-2.94, 1.35, 1.23, 1.11, 0.56, 1.59, -0.96)
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

    def lower(self, pair: Pair, verdict: Verdict, *looks: objections.Look) -> Verdict:
        """The verdict after the objections of the judge's looks and of these."""
        case = objections.Case(pair, self._read(pair.claim), self._sources(pair), verdict.label)
        return objections.lower(verdict, objections.find_objection(case, (*self._looks, *looks)))

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
        label, weak = _label(support)
        quotes = tuple(_quote(p, best) for p, best in zip(pair.premises, coverage.best, strict=True))
        verdict = Verdict(label, support, (1 - support) * 0.2, self.name, quotes, gate.reason or weak)
        return self.lower(pair, verdict, objections.framed_claim)


def lexical_support(measured: Sequence[float], gate: Gate) -> float:
    """A probability; `measured` comes from `Lexical.features`."""
    score = sum(c * x for c, x in zip(COEFFICIENTS, measured, strict=True))
    return gate.support(1 / (1 + math.exp(-max(-30.0, min(30.0, score)))))


def _label(support: float) -> tuple[Label, str | None]:
    if support >= SUPPORTED:
        return "supported", None
    if support >= UNSURE:
        return "unsure", "the sources say only part of this"
    return "unsupported", "the sources do not say this"


def _quote(premise: Passage, best: Best | None) -> Quote | None:
    if best is None or best.share < QUOTED:
        return None
    start, end = best.sentence.start, best.sentence.end
    return Quote(start, end, premise.text[start:end])
