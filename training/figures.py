"""How well chances tell true from false."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
