"""Means with 95 % intervals by a paired bootstrap over questions; seeds are averaged within a question first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

RESAMPLES = 10_000
SEED = 20

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A mean and the range in which 95 of 100 resamplings of the questions leave it."""

    mean: float
    low: float
    high: float


@lru_cache(maxsize=4)
def _weights(n: int) -> Floats:
    """How often each resample draws each question, as a share; the same for all values, so that pairs stay paired."""
    drawn = np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    return drawn.astype(np.float64) / n


def interval(values: Sequence[float]) -> Interval:
    """Of the mean of one value a question."""
    found = np.asarray(values, dtype=np.float64)
    low, high = np.quantile(_weights(len(found)) @ found, (0.025, 0.975))
    return Interval(float(found.mean()), float(low), float(high))


def difference(values: Sequence[float], others: Sequence[float]) -> Interval:
    """Of the mean difference, question by question."""
    return interval([a - b for a, b in zip(values, others, strict=True)])
