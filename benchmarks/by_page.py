"""Figures of judges with 95 % intervals that draw pages, since claims of one page stand and fall together.

A measure takes how often each claim counts and gives its figure; whatever is compared is measured on the same draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from intervals import Interval
from numpy.typing import NDArray

RESAMPLES = 2_000
SEED = 20
BINS = 10  # of equal width, for calibration

Vector = NDArray[np.float64]
Truths = NDArray[np.bool_]
Measure = Callable[[Vector], float]


def with_interval(pages: Sequence[str], measure: Measure, resamples: int = RESAMPLES) -> Interval:
    """The figure with its percentile interval; a draw in which it is not defined is left out."""
    _, page = np.unique(np.array(pages), return_inverse=True)
    count = int(page.max()) + 1
    chance = np.random.default_rng(SEED)
    drawn = (np.bincount(chance.integers(0, count, count), minlength=count) for _ in range(resamples))
    figures = np.array([measure(draw[page].astype(np.float64)) for draw in drawn])
    low, high = np.nanpercentile(figures, (2.5, 97.5))
    return Interval(measure(np.ones(len(page))), float(low), float(high))


def share(right: Truths) -> Measure:
    """Of the claims that are right."""
    return lambda counts: _ratio(float(counts @ right), float(counts.sum()))


def among(some: Truths, right: Truths) -> Measure:
    """Of some claims, the share that is right."""
    return lambda counts: share(right[some])(counts[some])


def balanced_accuracy(labels: Truths, truth: Truths) -> Measure:
    """The mean of the shares of true and of untrue claims told right."""
    return lambda counts: (share(labels[truth])(counts[truth]) + share(~labels[~truth])(counts[~truth])) / 2


def auc(scores: Vector, truth: Truths) -> Measure:
    """The chance that a true claim scores above an untrue one; ties count half."""
    _, place = np.unique(scores, return_inverse=True)

    def area(counts: Vector) -> float:
        true = np.bincount(place, counts * truth)
        untrue = np.bincount(place, counts * ~truth)
        below = np.cumsum(untrue) - untrue / 2
        return _ratio(float(true @ below), float(true.sum() * untrue.sum()))

    return area


def calibration_error(scores: Vector, truth: Truths) -> Measure:
    """The mean distance, over bins of the score, between the score and the share that is true; bins weigh by claims."""
    inside = np.minimum((np.clip(scores, 0, 1) * BINS).astype(np.int64), BINS - 1)

    def error(counts: Vector) -> float:
        off = np.bincount(inside, counts * (scores - truth), minlength=BINS)
        return _ratio(float(np.abs(off).sum()), float(counts.sum()))

    return error


def gain(measure: Measure, other: Measure) -> Measure:
    """By how much the first is above the other."""
    return lambda counts: measure(counts) - other(counts)


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else float("nan")


def text_of(interval: Interval, signed: bool = False) -> str:
    """In 22 characters: the figure, then its interval."""
    kind = "+.3f" if signed else ".3f"
    return f"{interval.mean:{kind}} [{interval.low:{kind}}, {interval.high:{kind}}]".rjust(24)


# ---------------------------------------------------------------- verdicts, and the rows of a table


class Verdicts(NamedTuple):
    """Claims as columns, with their truth and what a judge says of them."""

    pages: Sequence[str]
    truth: Truths
    label: Sequence[str]
    support: Vector

    @property
    def accepted(self) -> Truths:
        """Which are called supported or likely."""
        return self.says("supported") | self.says("likely")

    @property
    def is_mixed(self) -> bool:
        """Whether both true claims and untrue ones are among them."""
        return bool(self.truth.any() and not self.truth.all())

    def says(self, label: str) -> Truths:
        return np.array([each == label for each in self.label], bool)

    def some(self, which: Sequence[bool] | Truths) -> Verdicts:
        picked = [n for n, is_picked in enumerate(which) if is_picked]
        pages, label = ([column[n] for n in picked] for column in (self.pages, self.label))
        return Verdicts(pages, self.truth[picked], label, self.support[picked])

    def beside(self, other: Verdicts) -> Verdicts:
        """Both, one after the other."""
        truth, support = np.append(self.truth, other.truth), np.append(self.support, other.support)
        return Verdicts([*self.pages, *other.pages], truth, [*self.label, *other.label], support)


class Row(NamedTuple):
    """A figure of a judge, with the pages that intervals draw."""

    section: str
    name: str
    pages: Sequence[str]
    measure: Measure
    target: float | None = None


def accuracy(section: str, name: str, seen: Verdicts, target: float | None = None) -> Row:
    return Row(section, name, seen.pages, balanced_accuracy(seen.accepted, seen.truth), target)


def area(section: str, name: str, seen: Verdicts, target: float | None = None) -> Row:
    return Row(section, name, seen.pages, auc(seen.support, seen.truth), target)


def share_of(section: str, name: str, seen: Verdicts, right: Truths, target: float | None = None) -> Row:
    return Row(section, name, seen.pages, share(right), target)


def both(section: str, name: str, seen: Verdicts, target: float | None = None) -> list[Row]:
    """Balanced accuracy and AUC, each in a section of its own; nothing where all claims are of one kind."""
    if not seen.is_mixed:
        return []
    sections = f"{section}: balanced accuracy of its label", f"{section}: AUC of its support"
    return [accuracy(sections[0], name, seen, target), area(sections[1], name, seen)]


def mean_of(section: str, name: str, some: Sequence[Row], target: float | None = None) -> Row:
    """The mean of some rows, each counting alike."""
    ends = np.cumsum([0, *(len(row.pages) for row in some)])

    def mean(counts: Vector) -> float:
        return float(np.mean([row.measure(counts[ends[n] : ends[n + 1]]) for n, row in enumerate(some)]))

    return Row(section, name, [page for row in some for page in row.pages], mean, target)


def precision(seen: Verdicts) -> Row:
    """Of what is called supported, the share that is."""
    return Row("", "", seen.pages, among(seen.accepted, seen.truth))


def recall(seen: Verdicts) -> Row:
    """Of what is supported, the share that is called so."""
    return Row("", "", seen.pages, among(seen.truth, seen.accepted))
