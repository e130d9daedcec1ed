"""What a claim gives away by itself: logistic regression over its words and letters, which sees no page.

Features are words, pairs of words and runs of three or four characters, weighted by rarity; rows have length one.
Every claim is judged by a model that saw no claim of its page. It may fall below a half: a value that is true of one
page serves as the untruth of another, and who has seen only the other page's claim takes it for untrue.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

FOLDS = 10
RIDGE = 1.0
STEPS = 100
_RAREST = 3  # claims that a feature must stand in

Vector = NDArray[np.float64]


def _features(claim: str) -> Counter[str]:
    words = re.findall(r"\w+|[^\w\s]", claim.casefold())
    letters = f" {' '.join(words)} "
    runs = (letters[at : at + size] for size in (3, 4) for at in range(len(letters) - size + 1))
    return Counter([*words, *(" ".join(pair) for pair in pairwise(words)), *(f"~{run}" for run in runs)])


class Rows:
    """A sparse matrix, row after row; enough of one for two products."""

    def __init__(self, claims: Sequence[str]) -> None:
        counted = [_features(claim) for claim in claims]
        held = Counter(name for one in counted for name in one)
        known = {name: n for n, name in enumerate(sorted(name for name, count in held.items() if count >= _RAREST))}
        self.width = len(known)
        rarity = np.array([np.log(len(claims) / held[name]) for name in known])
        rows = [[(known[name], count) for name, count in one.items() if name in known] for one in counted]
        self.row = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        self.column = np.array([column for row in rows for column, _ in row], dtype=np.int64)
        weight = np.log1p([count for row in rows for _, count in row]) * rarity[self.column]
        size = np.sqrt(np.bincount(self.row, weight**2, minlength=len(rows)))
        self.value = weight / np.maximum(size, 1e-9)[self.row]
        self.height = len(rows)

    def times(self, slope: Vector) -> Vector:
        """One number a row."""
        return _sums(self.row, self.value * slope[self.column], self.height)

    def back(self, share: Vector) -> Vector:
        """One number a column."""
        return _sums(self.column, self.value * share[self.row], self.width)


def _sums(where: NDArray[np.int64], what: Vector, size: int) -> Vector:
    return np.bincount(where, what, minlength=size).astype(np.float64)


def fold(page: str) -> int:
    """The fold of all claims of a page."""
    return zlib.crc32(page.encode()) % FOLDS


def says_true(claims: Sequence[str], pages: Iterable[str], truth: Sequence[bool]) -> NDArray[np.bool_]:
    """For each claim, whether a model that saw the claims of other folds alone takes it for true."""
    rows, right = Rows(claims), np.array(truth, dtype=np.float64)
    folds = np.array([fold(page) for page in pages])
    said = np.zeros(len(right), dtype=bool)
    for one in np.unique(folds):
        mine = folds == one
        said[mine] = (_fitted(rows, right, (~mine).astype(np.float64)) > 0)[mine]
    return said


def _fitted(rows: Rows, right: Vector, counts: Vector) -> Vector:
    """The scores of all rows, by accelerated descent on the rows that count; both truths weigh the same."""
    share = np.average(right, weights=counts)
    weight = counts * np.where(right > 0, 0.5 / share, 0.5 / (1 - share))
    pace = 1 / (0.25 * weight.sum() * 0.05 + 1.0 + RIDGE)
    slope, ahead, level = np.zeros(rows.width), np.zeros(rows.width), 0.0
    for step in range(STEPS):
        off = weight * (1 / (1 + np.exp(-(rows.times(ahead) + level))) - right)
        level -= off.sum() / weight.sum()
        new = ahead - pace * (rows.back(off) + RIDGE * ahead)
        ahead, slope = new + step / (step + 3) * (new - slope), new
    return rows.times(slope) + level
