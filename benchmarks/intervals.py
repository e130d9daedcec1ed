"""Means with 95 % intervals by the product's paired bootstrap over questions; seeds are averaged within one first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toulmin.evaluation import significance
from toulmin.metrics.answered import Column

RESAMPLES = 10_000


@dataclass(frozen=True)
class Interval:
    """A mean and its 95 % interval; of one question, or of none that differ, it has no width."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:5.1f} [{self.low:5.1f}, {self.high:5.1f}]"


def interval(values: Sequence[float]) -> Interval:
    """Of the mean of one value a question."""
    ids = tuple(f"{n:09}" for n in range(len(values)))
    table = significance.Table(ids, (Column("mean", tuple(values), scale=1.0),))
    estimate = significance.interval(table, resamples=RESAMPLES)["mean"]
    mean = float("nan") if estimate.value is None else estimate.value
    return Interval(
        mean, mean if estimate.low is None else estimate.low, mean if estimate.high is None else estimate.high
    )


def difference(values: Sequence[float], others: Sequence[float]) -> Interval:
    """Of the mean difference, question by question."""
    return interval([a - b for a, b in zip(values, others, strict=True)])
