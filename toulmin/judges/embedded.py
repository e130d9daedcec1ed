"""The embedded judge: a trained network and lexical measures, combined into a calibrated probability.

`stack.json` (from `training/stack.py`) holds a logistic regression, boosted trees, a calibration curve and thresholds,
fitted on pages new to all parts. A claim is supported from `supported` on, unsure from `unsure` on. Below, it is
contradicted if the gate names the change, or if a sentence can be quoted and a second regression reaches
`contradicted`.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toulmin.data import Label, Passage, Quote
from toulmin.errors import ModelError
from toulmin.judges import objections
from toulmin.judges.gate import Gate, Ruling
from toulmin.judges.lexical import Lexical, lexical_support
from toulmin.judges.trained import KIND, LARGE, Excerpt, JudgeNetwork, Model, NetworkVerdict, Shares, shared_words
from toulmin.steps import Pair, Verdict
from toulmin.text.language import sentences
from toulmin.text.oppositions import Denial, find_denial

# ---------------------------------------------------------------- boosted decision trees in JSON


class Node(NamedTuple):
    """A split: `measure` up to `level` goes left. A leaf has `left` and `right` 0."""

    measure: int
    level: float
    left: int
    right: int
    value: float


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees whose first node is the root. Raises `ModelError` for nodes that lead nowhere, or back."""

    base: float
    trees: tuple[tuple[Node, ...], ...]

    def __post_init__(self) -> None:
        leads_on = all(
            at < min(node.left, node.right) and max(node.left, node.right) < len(tree)
            for tree in self.trees
            for at, node in enumerate(tree)
            if node.left or node.right
        )
        numbers = [self.base, *(number for tree in self.trees for node in tree for number in (node.level, node.value))]
        if not leads_on or not all(self.trees) or not all(map(math.isfinite, numbers)):
            raise ModelError("The trees of a stack should end in numbers; fit it again with training/stack.py.")

    @property
    def measures(self) -> int:
        """The least number of measures needed."""
        return 1 + max((node.measure for tree in self.trees for node in tree if node.left), default=-1)

    def score(self, measures: Sequence[float]) -> float:
        return self.base + sum(_leaf(tree, measures) for tree in self.trees)


def _leaf(tree: Sequence[Node], measures: Sequence[float]) -> float:
    node = tree[0]
    while node.left:
        node = tree[node.left if measures[node.measure] <= node.level else node.right]
    return node.value


# ---------------------------------------------------------------- the judge


FILE = "stack.json"
FORMAT = 4
DENIED = 1.0  # at 2.0 a third fewer true denials pass; of what the sources do not mention 1 in 100 does at either
EVEN = 0.5  # below this share of support the network rather finds a claim not supported
FARTHEST = 30.0  # a score beyond this is certain in every digit
_LEAST = 1e-4  # shares closer to 0 or 1 say no more
_LEXICAL = ("constant", "single", "tail", "plain", "pairs", "run", "denied")
# A sentence with less of a claim's words is about something else, whatever the network takes it for: of true claims of
# FoolMeTwice and FEVER two fifths as many are then called contradicted, of refuted ones three fifths.
_ABOUT = 0.5
_RULED = ("doubted", "rejected", "contradicted")
_READ = ("model supported", "model contradicted", "both")
_WEIGHED = (*_LEXICAL, *_RULED, "lexical", "question", "premises", *_READ)
MEASURES = (*_WEIGHED, "length of premises", "length of claim")
TERMS = tuple(f"{name}{when}" for when in ("", ", by length", ", if asked") for name in _WEIGHED[bool(when) :])
_USUAL = (4.5, 3.0)  # the logarithm of the words of premises and claim
_REASONS: dict[Label, str] = {"unsure": "the sources may not say this", "unsupported": "the sources do not say this"}
_FARTHEST_LENGTHS = ((-2.0, 1.0), (-1.2, 0.8))  # lengths are clipped to these: beyond them there was little to fit


def measures(shares: Shares, measured: Sequence[float], gate: Gate, pair: Pair) -> tuple[float, ...]:
    """In the order of `MEASURES`; `measured` comes from `Lexical.features`."""
    ruled = [float(gate.ruling.name.lower() == name) for name in _RULED]
    supported, lexical = _logit(shares.supported), _logit(lexical_support(measured, gate))
    return (
        *measured,
        *ruled,
        lexical,
        float(pair.question is not None),
        math.log1p(len(pair.premises)),
        supported,
        _logit(shares.contradicted),
        supported * (gate.ruling is Ruling.ACCEPTED),
        *_lengths(pair),
    )


def terms(measures: Sequence[float]) -> tuple[float, ...]:
    """In the order of `TERMS`."""
    plain = measures[: len(_WEIGHED)]
    length, asked = measures[len(_WEIGHED)], measures[_WEIGHED.index("question")]
    return (*plain, *(length * value for value in plain[1:]), *(asked * value for value in plain[1:]))


def _lengths(pair: Pair) -> list[float]:
    words = sum(len(passage.text.split()) for passage in pair.premises), len(pair.claim.split())
    above = [math.log1p(count) - usual for count, usual in zip(words, _USUAL, strict=True)]
    return [min(max(length, least), most) for length, (least, most) in zip(above, _FARTHEST_LENGTHS, strict=True)]


def _logit(share: float) -> float:
    clipped = min(max(share, _LEAST), 1 - _LEAST)
    return math.log(clipped / (1 - clipped))


@dataclass(frozen=True, slots=True)
class Stack:
    """`support` and `contradiction` weigh `TERMS`; `trees` read `MEASURES`.

    `curve` holds rising points (score, probability). A sentence is denied if its log odds of "contradicted" reach
    `denied`. Raises `ModelError` for other numbers.
    """

    support: tuple[float, ...]
    contradiction: tuple[float, ...]
    trees: Trees
    curve: tuple[tuple[float, float], ...]
    supported: float
    unsure: float
    contradicted: float
    denied: float = DENIED

    def __post_init__(self) -> None:
        numbers = [self.denied, *self.support, *self.contradiction, *(n for point in self.curve for n in point)]
        if not all(math.isfinite(number) for number in numbers):
            raise ModelError("A stack should hold finite numbers only; fit it again with training/stack.py.")
        if not len(self.support) == len(self.contradiction) == len(TERMS) or self.trees.measures > len(MEASURES):
            raise ModelError(f"A stack should weigh {len(TERMS)} terms, not {len(self.support)}; fit it again.")
        rises = all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(self.curve))
        if not self.curve or not rises or not 0 <= self.curve[0][1] <= self.curve[-1][1] <= 1:
            raise ModelError("A stack's curve should rise within 0 and 1; fit it again with training/stack.py.")
        if not 0 <= self.unsure <= self.supported <= 1 or not 0 <= self.contradicted <= 1:
            raise ModelError(
                f"A stack's thresholds should be 0 <= unsure <= supported <= 1, not {self.unsure} and {self.supported}."
            )

    def score(self, measures: Sequence[float]) -> float:
        """From -30 to 30."""
        return clamp(regression_score(self.support, terms(measures)) + self.trees.score(measures))

    def probability(self, measures: Sequence[float]) -> float:
        scores, chances = zip(*self.curve, strict=True)
        return float(np.interp(self.score(measures), scores, chances))

    def against(self, measures: Sequence[float]) -> float:
        """The probability that an unsupported claim is contradicted."""
        return 1 / (1 + math.exp(-clamp(regression_score(self.contradiction, terms(measures)))))

    def label(self, support: float) -> Label:
        """Never contradicted."""
        if support >= self.supported:
            return "supported"
        return "unsure" if support >= self.unsure else "unsupported"

    def write(self, path: Path) -> None:
        path.write_text(json.dumps({"format": FORMAT, "terms": TERMS, "measures": MEASURES, **asdict(self)}), "utf-8")


def regression_score(weights: Sequence[float], values: Sequence[float]) -> float:
    return sum(weight * number for weight, number in zip(weights, values, strict=True))


def clamp(score: float) -> float:
    return max(-FARTHEST, min(FARTHEST, score))


def read_stack(path: Path) -> Stack:
    """Raises `ModelError` for another file, or a stack over other measures."""
    try:
        fields: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if fields["format"] != FORMAT or tuple(fields["terms"]) != TERMS or tuple(fields["measures"]) != MEASURES:
            raise ModelError(f"{path} weighs other measures than this version has; install one version of both.")
        trees = tuple(tuple(Node(*row) for row in tree) for tree in fields["trees"]["trees"])
        support, contradiction = (tuple(map(float, fields[name])) for name in ("support", "contradiction"))
        curve = tuple((float(score), float(chance)) for score, chance in fields["curve"])
        grown = Trees(fields["trees"]["base"], trees)
        supported, unsure, contradicted = (float(fields[name]) for name in ("supported", "unsure", "contradicted"))
        denied = fields.get("denied", DENIED)
        return Stack(support, contradiction, grown, curve, supported, unsure, contradicted, denied)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} should be a stack that training/stack.py wrote, but: {error!r}") from error


class EmbeddedJudge:
    """The judge of the trained weights: deterministic, on the CPU. Not thread-safe."""

    def __init__(self, model: Model, stack: Stack, looks: Sequence[objections.Look] = objections.LOOKS) -> None:
        self.name = model.name
        self.key = json.dumps([model.key, asdict(stack), FORMAT, Lexical.name, objections.RULES])
        self._model, self._stack = model, stack
        self._lexical = Lexical(looks=looks)

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return objections.judge_respelled(pairs, self._judge)

    def _judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        denials = {n: denial for n, pair in enumerate(pairs) if (denial := denial_of(pair)) is not None}
        positives = [replace(pairs[n], claim=denial.positive) for n, denial in denials.items()]
        judged = self._model.shares([*pairs, *positives])
        verdicts = [self._verdict(pair, known) for pair, known in zip(pairs, judged, strict=False)]
        for n, positive, known in zip(denials, positives, judged[len(pairs) :], strict=True):
            verdicts[n] = self._of_denial(pairs[n], denials[n].subject, verdicts[n], positive, known)
        return [objections.lower_fragment(*both) for both in zip(pairs, verdicts, strict=True)]

    def _verdict(self, pair: Pair, judged: NetworkVerdict) -> Verdict:
        measured, gate = self._lexical.features(pair)
        if not any(passage.text.strip() for passage in pair.premises) or not pair.claim.strip():
            return Verdict("unsupported", 0.0, 0.0, self.name, (None,) * len(pair.premises), gate.reason)
        values = measures(judged.shares, measured, gate, pair)
        support = self._stack.probability(values)
        is_changed = gate.ruling is Ruling.CONTRADICTED
        against = (1 - support) * (1.0 if is_changed else self._stack.against(values))
        conflict = gate.reason if is_changed else None
        if conflict is None and against >= self._stack.contradicted:
            sentence = judged.excerpt.nearest(pair.claim, _ABOUT)
            conflict = sentence and f"the source says “{objections.shorten(sentence)}”"
        label = self._stack.label(support)
        label = "contradicted" if label == "unsupported" and conflict else label
        reason = {"supported": None, "contradicted": conflict}.get(label, gate.reason or _REASONS.get(label))
        verdict = Verdict(label, support, against, self.name, _quotes(pair, judged.excerpt), reason)
        return self._lexical.lower(pair, verdict, objections.framed_claim, *_doubts(judged.shares.supported))

    def _of_denial(self, pair: Pair, subject: str, verdict: Verdict, positive: Pair, judged: NetworkVerdict) -> Verdict:
        """The verdict of a denial, from the network's shares for the denied sentence.

        The sources must contain the names before the negator. If the source denies too, that verdict stands.
        """
        measured, _ = self._lexical.features(pair)
        positive_verdict = self._verdict(positive, judged)
        if not positive_verdict.entails and _logit(judged.shares.contradicted) >= self._stack.denied:
            support = max(verdict.support, self._stack.supported)
            raised = replace(verdict, label="supported", support=support, contradiction=0.0, reason=None)
            return self._lexical.lower(replace(pair, claim=_FIGURE.sub("", subject)), raised)
        if not measured[_LEXICAL.index("denied")]:
            return verdict
        objection = objections.Objection("unsure", "the sources do not deny this")
        if positive_verdict.entails:
            objection = objections.Objection("unsupported", "the sources say what the claim denies")
        return self._lexical.lower(pair, verdict, lambda _: objection)


def _doubts(share: float) -> tuple[objections.Look, ...]:
    return tuple(look for level, look in _DOUBTS if share < level)


def _unread_denial(case: objections.Case) -> objections.Objection | None:
    """A denial that the network does not find: its words are those of the opposite too."""
    denies = any(sentence.denials for sentence in case.claim.sentences)
    return objections.Objection("unsure", "the sources have these words, but may not deny this") if denies else None


def _unread_claim(case: objections.Case) -> objections.Objection | None:
    """A short claim that the network does not find, though the sources contain its words."""
    reason = "the sources have these words, but may not say this"
    return objections.Objection("unsure", reason) if objections.is_short(case) else None


# Shares below which each is looked at, chosen on `manual_claims_train.jsonl` and natural sets.
_DOUBTS: tuple[tuple[float, objections.Look], ...] = ((EVEN, _unread_denial), (0.4, _unread_claim))
_FIGURE = re.compile(r"(?<!\w)\d[\d.,]*")


def denial_of(pair: Pair) -> Denial | None:
    """None for a claim that is not judged by the sentence that it denies."""
    return None if pair.question or len(sentences(pair.claim)) != 1 else find_denial(pair.claim)


def _quotes(pair: Pair, excerpt: Excerpt) -> tuple[Quote | None, ...]:
    best = excerpt.decisive(pair.claim)
    return tuple(
        None if (part := best.get(n)) is None else Quote(part.start, part.end, passage.text[part.start : part.end])
        for n, passage in enumerate(pair.premises)
    )


# ---------------------------------------------------------------- the large judge


LARGE_LOOKS: tuple[objections.Look, ...] = (objections.absent_figure, objections.framed_claim, objections.changed_value)
_OF_A_COPY = 0.98
_RELATED = 0.1  # share of the claim's words, by weight, below which a source is about something else
BARS = "bars.json"


@dataclass(frozen=True, slots=True)
class Bars:
    """The chance of support is a logistic function of the network's log odds; `training/large.py` fits it."""

    slope: float
    offset: float
    supported: float
    unsure: float
    contradicted: float

    def chance(self, shares: Shares) -> float:
        return 1 / (1 + math.exp(-clamp(self.slope * _logit(shares.supported) + self.offset)))

    def label(self, support: float) -> Label:
        if support >= self.supported:
            return "supported"
        return "unsure" if support >= self.unsure else "unsupported"


def read_bars(path: Path) -> Bars:
    """Raises `ModelError` for another file."""
    try:
        return Bars(**{name: float(value) for name, value in json.loads(path.read_text("utf-8")).items()})
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} should hold the bars that training/large.py wrote, but: {error!r}") from error


class LargeJudge:
    """The judge of the large network, which reads a claim with its evidence and needs no measures beside it.

    Three rules stay, for a number, option or path that no source has, a value of another amount, and what the source
    only plans, denies or reports. Deterministic, on the CPU. Not thread-safe.
    """

    def __init__(self, model: Model, bars: Bars, looks: Sequence[objections.Look] = LARGE_LOOKS) -> None:
        self.name = model.name
        self.key = json.dumps([model.key, asdict(bars), Lexical.name, objections.RULES])
        self._model, self._bars = model, bars
        self._lexical = Lexical(looks=looks)

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return objections.judge_respelled(pairs, self._judge)

    def _judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        plain = [self._unread(pair) for pair in pairs]
        read = iter(self._read([pair for pair, known in zip(pairs, plain, strict=True) if known is None]))
        verdicts = [known or self._verdict(pair, *next(read)) for pair, known in zip(pairs, plain, strict=True)]
        return [objections.lower_fragment(*both) for both in zip(pairs, verdicts, strict=True)]

    def _read(self, pairs: Sequence[Pair]) -> list[tuple[NetworkVerdict, float]]:
        """With the chance of support: alone, and no higher than beside all that was found."""
        alone = self._model.shares(pairs)
        chances = [self._bars.chance(judged.shares) for judged in alone]
        passing = [n for n, pair in enumerate(pairs) if len(pair.read) > 1 and chances[n] >= self._bars.supported]
        together = self._model.shares([replace(pairs[n], premises=pairs[n].read) for n in passing])
        for n, judged in zip(passing, together, strict=True):
            chances[n] = min(chances[n], self._bars.chance(judged.shares))
        return list(zip(alone, chances, strict=True))

    def _unread(self, pair: Pair) -> Verdict | None:
        """The verdict where the network need not read: where the sources have next to none of the claim's words, on a
        claim that states nothing, and on a source's own sentence, unless what is around it takes it back.
        """
        quotes = tuple(_copied(passage, pair.claim) for passage in pair.premises)
        has_text = pair.claim.strip() and any(passage.text.strip() for passage in pair.premises)
        is_related = has_text and (pair.question is not None or shared_words(pair) >= _RELATED)
        states_nothing = pair.question is None and objections.is_fragment(pair.claim)
        if is_related and (states_nothing or (any(quotes) and self._lexical.is_verbatim(pair))):
            verdict = Verdict("supported", _OF_A_COPY, 0.0, self.name, quotes)
        elif not is_related:
            verdict = Verdict("unsupported", 0.0, 0.0, self.name, (None,) * len(quotes), _REASONS["unsupported"])
        else:
            return None
        return self._lexical.lower(pair, verdict)

    def _verdict(self, pair: Pair, judged: NetworkVerdict, support: float) -> Verdict:
        shares = judged.shares
        label, reason = self._bars.label(support), None
        against = (1 - support) * shares.contradicted / max(1 - shares.supported, _LEAST)
        if label == "unsupported" and against >= self._bars.contradicted:
            sentence = judged.excerpt.nearest(pair.claim, _ABOUT)
            quoted = sentence and f"the source says “{objections.shorten(sentence)}”"
            label, reason = ("contradicted", quoted) if sentence else (label, None)
        quotes = _quotes(pair, judged.excerpt)
        verdict = Verdict(label, support, against, self.name, quotes, reason or _REASONS.get(label))
        return self._lexical.lower(pair, verdict)


def _copied(passage: Passage, claim: str) -> Quote | None:
    found = re.search(r"\s+".join(map(re.escape, claim.split())), passage.text) if claim.strip() else None
    return found and Quote(*found.span(), found[0])


def load_judge(folder: str | os.PathLike[str] | None = None, size: str = "large") -> EmbeddedJudge | LargeJudge:
    """The judge of a folder, or the installed one of that size. Raises `ModelError` if it or a library is missing."""
    is_large = Path(folder, BARS).exists() if folder else size == "large"
    model = JudgeNetwork(folder, kind=LARGE if is_large else KIND)
    if is_large:
        return LargeJudge(model, read_bars(model.part.file(BARS)))
    return EmbeddedJudge(model, read_stack(model.part.file(FILE)))
