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
from enum import Enum

from toulmin.data import Label, Passage, Quote
from toulmin.grounding.steps import Pair, Verdict
from toulmin.judges.conflicts import NEAR_COPY, compare, conflict, reversed_share
from toulmin.judges.coverage import Best, Coverage, Source, measure, weights
from toulmin.judges.missing import has_term, missing
from toulmin.judges.reading import Reading, Sentence, read
from toulmin.language import STOPWORDS

# Constant, single, tail, plain, pairs, run squared, denied: see `Coverage.features`.
COEFFICIENTS = (-2.94, 1.36, 1.21, 1.12, 0.57, 1.57, -0.94)
SUPPORTED = 0.50  # the probability from which an accepted claim counts as supported
UNSURE = 0.35
CEILING = 0.2  # what the gate rejects has less than this, what it accepts has more
LEAST_COVERED = 0.35  # share of the claim's weighted terms below which the sources are about something else
QUOTED = 0.2  # share of the claim that a sentence must hold to be quoted
SIMILAR = 0.1  # near copies within this share of the nearest are read too


class Ruling(Enum):
    """What the gate does with a claim: the range of support that it leaves open."""

    ACCEPTED = (CEILING, 1.0)
    DOUBTED = (CEILING, SUPPORTED - 0.01)  # never supported, but not sure to be wrong
    REJECTED = (0.0, CEILING)
    CONTRADICTED = (0.0, CEILING / 2)


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate's ruling and its reason in words."""

    ruling: Ruling
    reason: str | None = None

    def support(self, share: float) -> float:
        """The probability of support that lies at this share of the open range."""
        low, high = self.ruling.value
        return low + (high - low) * share


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

    def features(self, pair: Pair) -> tuple[tuple[float, ...], Gate]:
        """What the regression sees of a pair, and what the gate says of it: for fitting."""
        sources = self._sources(pair)
        claim, found = self._measured(pair, sources)
        return found.features(), _gate(pair, claim, found, sources)

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
        gate = _gate(pair, claim, found, sources)
        support = gate.support(_share(found))
        label, weak = _label(support, gate.ruling)
        quotes = tuple(_quote(p, best) for p, best in zip(pair.premises, found.best, strict=True))
        return Verdict(label, support, _contradiction(support, gate.ruling), self.name, quotes, gate.reason or weak)


def _share(found: Coverage) -> float:
    score = sum(c * x for c, x in zip(COEFFICIENTS, found.features(), strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def _label(support: float, ruling: Ruling) -> tuple[Label, str | None]:
    if ruling is Ruling.CONTRADICTED:
        return "contradicted", None
    if support >= SUPPORTED:
        return "supported", None
    if support >= UNSURE:
        return "unsure", "the sources say only part of this"
    return "unsupported", "the sources do not say this"


def _contradiction(support: float, ruling: Ruling) -> float:
    return 0.9 if ruling is Ruling.CONTRADICTED else (1 - support) * 0.2


def _quote(premise: Passage, best: Best | None) -> Quote | None:
    if best is None or best.share < QUOTED:
        return None
    start, end = best.sentence.start, best.sentence.end
    return Quote(start, end, premise.text[start:end])


# ---------------------------------------------------------------- the gate


def _gate(pair: Pair, claim: Reading, found: Coverage, sources: Sequence[Source]) -> Gate:
    """Whether anything forbids support, whatever the coverage."""
    if not any(source.text.sentences for source in sources):
        return Gate(Ruling.REJECTED, "there are no sources")
    if not any(sentence.keys for sentence in claim.sentences):
        return Gate(Ruling.REJECTED, "the claim has no words")
    if changed := _changed(claim, sources):
        return Gate(Ruling.CONTRADICTED, changed)
    readings = [reading for source in sources for reading in (source.text, source.title) if reading.sentences]
    absent = missing(claim, readings)
    sure = absent.sure or (_absent_words(claim, readings) if pair.question else ())
    if sure:
        return Gate(Ruling.REJECTED, _absence(sure))
    if found.whole < LEAST_COVERED:
        return Gate(Ruling.REJECTED, "the sources do not speak of this")
    if absent.doubtful:
        return Gate(Ruling.DOUBTED, _absence(absent.doubtful))
    return Gate(Ruling.ACCEPTED)


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
    """What the claim's sentence changed against every sentence that it is most like; None if one of them agrees."""
    copied: list[tuple[float, str | None]] = []
    told: list[tuple[float, str | None]] = []
    for source in sources:
        title = source.title.where.keys() | {key for sentence in source.title.sentences for key in sentence.held}
        loose = said.held - title
        for sentence in source.text.sentences:
            if len(loose & sentence.held) >= (NEAR_COPY - 0.2) * len(loose):
                beside = compare(said, sentence, title)
                if beside.share >= NEAR_COPY:
                    copied.append((beside.share, conflict(beside)))
            told.append(reversed_share(said, sentence, title))
    return _agreed(copied, SIMILAR) or (_agreed(told, 0.0) if not copied else None)


def _agreed(found: Sequence[tuple[float, str | None]], within: float) -> str | None:
    """The first reason of those nearest to the top share, if all of these have one."""
    nearest = max((share for share, _ in found), default=0.0)
    reasons = [reason for share, reason in found if share >= nearest - within]
    return None if None in reasons else next(iter(reasons), None)
