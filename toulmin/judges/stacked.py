"""The embedded judge: a trained network and the lexical measures, weighed together into a calibrated probability.

`stack.json` of the judge's folder holds a logistic regression over the features below, fitted on pairs whose pages
neither network nor regression had seen, a curve that calibrates it on natural claims, and two thresholds: from
`supported` on a claim is supported, from `unsure` on it is unsure; below, it is contradicted where a second regression
says so, else unsupported. `training/stack.py` writes the file.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from toulmin.data import Label, Quote
from toulmin.errors import ModelError
from toulmin.grounding.steps import Pair, Verdict
from toulmin.judges.excerpt import Excerpt
from toulmin.judges.gate import Gate, Ruling
from toulmin.judges.lexical import Lexical, lexical_support
from toulmin.judges.trained import Judged, Model, Shares, Trained

FILE = "stack.json"
FORMAT = 3
FARTHEST = 30.0  # a score beyond is certain to every digit
_LEAST = 1e-4  # shares nearer to 0 or 1 tell nothing more
_LEXICAL = ("constant", "single", "tail", "plain", "pairs", "run", "denied")
_RULED = ("doubted", "rejected", "contradicted")
_READ = ("model supported", "model contradicted", "both")
_MEASURES = (*_LEXICAL, *_RULED, "lexical", "question", "premises", *_READ)
FEATURES = (*_MEASURES, *(f"{name}, by length" for name in _MEASURES[1:]))
_USUAL_LENGTH = 4.5  # of the premises, the logarithm of their words
_LENGTHS = (-2.0, 1.0)  # shorter and longer premises count as these: beyond, little was fitted


def features(shares: Shares, measured: Sequence[float], gate: Gate, pair: Pair) -> tuple[float, ...]:
    """The numbers that the regression weighs, in the order of `FEATURES`; `measured` as `Lexical.features` has them.

    What each is worth hangs on how long the premises are: of long ones a network reads a part, words all.
    """
    ruled = [float(gate.ruling.name.lower() == name) for name in _RULED]
    supported, lexical = _logit(shares.supported), _logit(lexical_support(measured, gate))
    accepted = float(gate.ruling is Ruling.ACCEPTED)
    own = (
        *measured,
        *ruled,
        lexical,
        float(pair.question is not None),
        math.log1p(len(pair.premises)),
        supported,
        _logit(shares.contradicted),
        supported * accepted,
    )
    length = _length(pair)
    return (*own, *(length * one for one in own[1:]))


def _length(pair: Pair) -> float:
    """How much longer than usual the premises are."""
    words = sum(len(passage.text.split()) for passage in pair.premises)
    return min(max(math.log1p(words) - _USUAL_LENGTH, _LENGTHS[0]), _LENGTHS[1])


def _logit(share: float) -> float:
    held = min(max(share, _LEAST), 1 - _LEAST)
    return math.log(held / (1 - held))


@dataclass(frozen=True, slots=True)
class Stack:
    """The regressions, the calibration and the thresholds.

    `support` and `contradiction` weigh `FEATURES`. `curve` are points (score, probability) with both rising; between
    them lies a straight line. Raises `ModelError` for numbers that cannot be such a stack.
    """

    support: tuple[float, ...]
    contradiction: tuple[float, ...]
    curve: tuple[tuple[float, float], ...]
    supported: float
    unsure: float
    contradicted: float

    def __post_init__(self) -> None:
        numbers = [*self.support, *self.contradiction, *(n for point in self.curve for n in point)]
        if not all(math.isfinite(number) for number in numbers):
            raise ModelError("A stack should hold finite numbers only; fit it anew with training/stack.py.")
        if not len(self.support) == len(self.contradiction) == len(FEATURES):
            raise ModelError(f"A stack should weigh {len(FEATURES)} features, not {len(self.support)}; fit it anew.")
        rises = all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(self.curve))
        if not self.curve or not rises or not 0 <= self.curve[0][1] <= self.curve[-1][1] <= 1:
            raise ModelError("A stack's curve should rise within 0 and 1; fit it anew with training/stack.py.")
        if not 0 <= self.unsure <= self.supported <= 1 or not 0 <= self.contradicted <= 1:
            raise ModelError(
                f"A stack's thresholds should be 0 <= unsure <= supported <= 1, not {self.unsure} and {self.supported}."
            )

    def probability(self, given: Sequence[float]) -> float:
        """The calibrated chance that a claim of these features is supported."""
        score = weighed(self.support, given)
        scores, chances = zip(*self.curve, strict=True)
        return float(np.interp(score, scores, chances))

    def against(self, given: Sequence[float]) -> float:
        """The chance that a claim which is not supported is contradicted."""
        return 1 / (1 + math.exp(-weighed(self.contradiction, given)))

    def label(self, support: float, against: float) -> Label:
        """What a verdict says of these chances."""
        if support >= self.supported:
            return "supported"
        if support >= self.unsure:
            return "unsure"
        return "contradicted" if against >= self.contradicted else "unsupported"

    def write(self, path: Path) -> None:
        """As `read_stack` reads it."""
        path.write_text(json.dumps({"format": FORMAT, "features": FEATURES, **asdict(self)}, indent=1), "utf-8")


def weighed(weights: Sequence[float], given: Sequence[float]) -> float:
    """The score of a regression before it becomes a chance, within -30 and 30."""
    return max(-FARTHEST, min(FARTHEST, sum(weight * number for weight, number in zip(weights, given, strict=True))))


def read_stack(path: Path) -> Stack:
    """The stack of a file. Raises `ModelError` for a file that holds none, or one over other features."""
    try:
        told: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if told["format"] != FORMAT or tuple(told["features"]) != FEATURES:
            raise ModelError(f"{path} weighs other features than this version has; install one version of both.")
        return Stack(
            support=tuple(map(float, told["support"])),
            contradiction=tuple(map(float, told["contradiction"])),
            curve=tuple((float(score), float(chance)) for score, chance in told["curve"]),
            supported=float(told["supported"]),
            unsure=float(told["unsure"]),
            contradicted=float(told["contradicted"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} should be a stack that training/stack.py wrote, but: {error!r}") from error


class Embedded:
    """The judge that the trained weights make: deterministic, on the CPU, nothing downloaded.

    Not to be used from several threads at once. Raises `ModelError` where weights or libraries are missing.
    """

    def __init__(self, model: Model, stack: Stack) -> None:
        self.name = model.name
        self.key = json.dumps([model.key, asdict(stack), FORMAT, Lexical.name])
        self._model, self._stack, self._lexical = model, stack, Lexical()

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """One verdict a pair, in order."""
        return [self._verdict(pair, one) for pair, one in zip(pairs, self._model.shares(pairs), strict=True)]

    def _verdict(self, pair: Pair, judged: Judged) -> Verdict:
        measured, gate = self._lexical.features(pair)
        if not any(passage.text.strip() for passage in pair.premises) or not pair.claim.strip():
            return Verdict("unsupported", 0.0, 0.0, self.name, (None,) * len(pair.premises), gate.reason)
        given = features(judged.shares, measured, gate, pair)
        support = self._stack.probability(given)
        against = self._stack.against(given)
        label = self._stack.label(support, against)
        quotes = _quotes(pair, judged.excerpt)
        return Verdict(label, support, (1 - support) * against, self.name, quotes, _reason(label, gate))


def _reason(label: Label, gate: Gate) -> str | None:
    if label == "supported":
        return None
    if gate.reason:
        return gate.reason
    words: dict[Label, str] = {
        "contradicted": "the sources say something else",
        "unsure": "the sources may not say this",
        "unsupported": "the sources do not say this",
    }
    return words[label]


def _quotes(pair: Pair, excerpt: Excerpt) -> tuple[Quote | None, ...]:
    """Of each passage the sentence of the excerpt that holds most of the claim, if it holds anything telling."""
    best = excerpt.decisive(pair.claim)
    return tuple(
        None if (part := best.get(n)) is None else Quote(part.start, part.end, passage.text[part.start : part.end])
        for n, passage in enumerate(pair.premises)
    )


def embedded(folder: str | os.PathLike[str] | None = None) -> Embedded:
    """The judge of a folder, or of the installed weights. Raises `ModelError` where there is none."""
    model = Trained(folder)
    return Embedded(model, read_stack(model.part.file(FILE)))
