"""Figures of judges with 95 % intervals that draw pages, since claims of one page stand and fall together.

A measure takes how often each claim counts and gives its figure; whatever is compared is measured on the same draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from intervals import Interval
from numpy.typing import NDArray

RESAMPLES = 2_000
SEED = 20
BINS = 10  # of equal width, for calibration

Vector = NDArray[np.float64]
Truths = NDArray[np.bool_]
Measure = Callable[[Vector], float]


def measured(pages: Sequence[str], measure: Measure, resamples: int = RESAMPLES) -> Interval:
    """The figure with its percentile interval; a draw in which it is not defined is left out."""
    _, page = np.unique(np.array(pages), return_inverse=True)
    count = int(page.max()) + 1
    chance = np.random.default_rng(SEED)
    drawn = (np.bincount(chance.integers(0, count, count), minlength=count) for _ in range(resamples))
    found = np.array([measure(one[page].astype(np.float64)) for one in drawn])
    low, high = np.nanpercentile(found, (2.5, 97.5))
    return Interval(measure(np.ones(len(page))), float(low), float(high))


def share(right: Truths) -> Measure:
    """Of the claims that are right."""
    return lambda counts: _ratio(float(counts @ right), float(counts.sum()))


def balanced_accuracy(said: Truths, truth: Truths) -> Measure:
    """The mean of the shares of true and of untrue claims told right."""
    return lambda counts: (share(said[truth])(counts[truth]) + share(~said[~truth])(counts[~truth])) / 2


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


def shown(one: Interval, signed: bool = False) -> str:
    """In 22 characters: the figure, then its interval."""
    kind = "+.3f" if signed else ".3f"
    return f"{one.mean:{kind}} [{one.low:{kind}}, {one.high:{kind}}]".rjust(24)
