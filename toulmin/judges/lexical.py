"""A judge without a model: how well the words of the premises cover a claim, behind a gate of hard rules.

The gate rejects a claim with a number, date or name that no premise contains, one that changed a fact or turned a
sentence it nearly copies, and a short answer whose words stand nowhere. What it rejects ranks below all that it
accepts and is never labelled supported. Behind the gate a logistic regression over a few measures of coverage gives
a probability; `benchmarks/judge.py --fit` prints its coefficients.

Text of passages is compared word by word and never interpreted: marks, commands and escape codes in it are words.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from toulmin.data import Label, Passage, Quote
from toulmin.grounding.steps import Pair, Verdict
from toulmin.judges.conflicts import NEAR_COPY, compare, conflict
from toulmin.judges.coverage import Best, Coverage, Source, measure, weights
from toulmin.judges.missing import has_term, missing
from toulmin.judges.reading import Reading, Sentence, read
from toulmin.language import STOPWORDS

COEFFICIENTS = (
    -2.593,
    0.344,
    0.449,
    1.417,
    0.421,
    0.930,
    -0.020,
    0.450,
    -0.122,
    -0.336,
    -0.239,
    0.189,
    -0.057,
    0.476,
    0.377,
)
SUPPORTED = 0.56  # the probability from which an accepted claim counts as supported
UNSURE = 0.3
CEILING = 0.2  # what the gate rejects has less than this, what it accepts has more
QUOTED = 0.2  # share of the claim that a sentence must hold to be quoted
SIMILAR = 0.1  # near copies within this share of the nearest are read too


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why the gate rejects a claim; `contradicts` where the premises say otherwise."""

    reason: str
    contradicts: bool


class Lexical:
    """Judges claims by their words alone: deterministic, no model, nothing downloaded.

    `remembered` texts are kept analysed, so that many claims over the same passages are cheap. Titles count as
    premise. A pair with a question is judged by its answer's words and the question's together.
    """

    name = "lexical-1"

    def __init__(self, remembered: int = 4096) -> None:
        self._remembered = remembered
        self._readings: OrderedDict[str, Reading] = OrderedDict()

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """One verdict a pair, in order."""
        return [self._verdict(pair) for pair in pairs]

    def features(self, pair: Pair) -> tuple[tuple[float, ...], bool]:
        """What the regression sees of a pair, and whether the gate accepts it: for fitting."""
        sources = self._sources(pair)
        claim, found = self._measured(pair, sources)
        return found.features(), _rejection(pair, claim, sources) is None

    def _read(self, text: str) -> Reading:
        known = self._readings.pop(text, None) or read(text)
        self._readings[text] = known
        if len(self._readings) > self._remembered:
            self._readings.popitem(last=False)
        return known

    def _sources(self, pair: Pair) -> list[Source]:
        return [Source(self._read(premise.text), self._read(premise.title)) for premise in pair.premises]

    def _measured(self, pair: Pair, sources: Sequence[Source]) -> tuple[Reading, Coverage]:
        claim = self._read(pair.claim)
        wanted = weights(claim)
        if pair.question:
            wanted = weights(self._read(pair.question)) | wanted
        return claim, measure(claim, wanted, sources)

    def _verdict(self, pair: Pair) -> Verdict:
        sources = self._sources(pair)
        claim, found = self._measured(pair, sources)
        rejection = _rejection(pair, claim, sources)
        probability = _probability(found)
        support = CEILING * probability if rejection else CEILING + (1 - CEILING) * probability
        label, reason = _label(support, rejection)
        quotes = tuple(_quote(p, best) for p, best in zip(pair.premises, found.best, strict=True))
        return Verdict(label, support, _contradiction(support, rejection), self.name, quotes, reason)


def _probability(found: Coverage) -> float:
    score = sum(c * x for c, x in zip(COEFFICIENTS, found.features(), strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def _label(support: float, rejection: Rejection | None) -> tuple[Label, str | None]:
    if rejection is not None:
        return ("contradicted" if rejection.contradicts else "unsupported"), rejection.reason
    if support >= SUPPORTED:
        return "supported", None
    weak = "the sources say only part of this" if support >= UNSURE else "the sources do not say this"
    return ("unsure" if support >= UNSURE else "unsupported"), weak


def _contradiction(support: float, rejection: Rejection | None) -> float:
    if rejection is not None and rejection.contradicts:
        return 0.9
    return (1 - support) * 0.2


def _quote(premise: Passage, best: Best | None) -> Quote | None:
    if best is None or best.share < QUOTED:
        return None
    start, end = best.sentence.start, best.sentence.end
    return Quote(start, end, premise.text[start:end])


# ---------------------------------------------------------------- the gate


def _rejection(pair: Pair, claim: Reading, sources: Sequence[Source]) -> Rejection | None:
    """Why the claim cannot be supported, whatever the coverage; None if nothing speaks against it."""
    readings = [reading for source in sources for reading in (source.text, source.title) if reading.sentences]
    if not any(source.text.sentences for source in sources):
        return Rejection("there are no sources", contradicts=False)
    if not any(sentence.keys for sentence in claim.sentences):
        return Rejection("the claim has no words", contradicts=False)
    changed = _changed(claim, sources)
    if changed:
        return Rejection(changed, contradicts=True)
    absent = [claim.text[fact.start : fact.end] for fact in missing(claim, readings)]
    if pair.question and not absent:
        absent = _absent_words(claim, readings)
    if absent:
        return Rejection(_absence(absent), contradicts=False)
    return None


def _absence(absent: Sequence[str]) -> str:
    named = " and ".join(dict.fromkeys(absent))
    return f"{named} {'is' if len(set(absent)) == 1 else 'are'} not in the sources"


def _absent_words(claim: Reading, readings: Sequence[Reading]) -> list[str]:
    return [
        shown
        for sentence in claim.sentences
        for at, (key, shown) in enumerate(zip(sentence.keys, sentence.shown, strict=True))
        if at not in sentence.facts and key not in STOPWORDS and not has_term(key, readings)
    ]


def _changed(claim: Reading, sources: Sequence[Source]) -> str | None:
    return next((reason for said in claim.sentences if (reason := _changed_sentence(said, sources))), None)


def _changed_sentence(said: Sentence, sources: Sequence[Source]) -> str | None:
    """What the claim's sentence changed against every sentence that it nearly copies; None if one agrees."""
    nearest = 0.0
    near: list[tuple[float, str | None]] = []
    for source in sources:
        title = {key for sentence in source.title.sentences for key in sentence.held}
        loose = said.held - title
        for sentence in source.text.sentences:
            if len(loose & sentence.held) < (NEAR_COPY - 0.2) * len(loose):
                continue
            beside = compare(said, sentence, title)
            if beside.share >= NEAR_COPY:
                nearest = max(nearest, beside.share)
                near.append((beside.share, conflict(beside)))
    reasons = [reason for share, reason in near if share >= nearest - SIMILAR]
    return None if None in reasons else next(iter(reasons), None)
