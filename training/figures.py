"""How well chances tell true from false, and a regression that gives chances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize  # type: ignore[import-untyped]

BINS = 10


def auc(scores: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """The chance that a supported pair scores above an unsupported one; ties count half."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive = int(truth.sum())
    return float((ranks[truth].sum() - positive * (positive + 1) / 2) / (positive * (len(truth) - positive)))


def ece(chances: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """The mean distance of chance and truth over ten bins of equal width, by their size."""
    place = np.minimum((chances * BINS).astype(int), BINS - 1)
    masks = [place == n for n in range(BINS)]
    return float(sum(abs(chances[m].mean() - truth[m].mean()) * m.sum() for m in masks if m.any()) / len(truth))


def logistic(x: NDArray[np.float64], truth: NDArray[np.bool_], ridge: float = 1e-3) -> NDArray[np.float64]:
    """The coefficients of least loss; the first column of `x` is the constant, which is not held back.

    Features are scaled to one while it is looked for, so that all are held back alike.
    """
    spread = np.where(x.std(0) > 1e-9, x.std(0), 1.0)
    scaled, held = x / spread, np.array([0.0, *[ridge] * (x.shape[1] - 1)])

    def loss(at: NDArray[np.float64]) -> float:
        score = scaled @ at
        return float(np.mean(np.logaddexp(0, score) - truth * score) + held @ at**2 / 2)

    fitted: NDArray[np.float64] = minimize(loss, np.zeros(x.shape[1])).x
    return fitted / spread
