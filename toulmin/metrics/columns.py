"""A metric as a column of a table: its value for each question, and how the values become one number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Column:
    """One metric of a run; `values[i]` belongs to the i-th question and is None where that question does not count.

    The metric is `scale` times the mean of the values. With `weights` it is their sum over the sum of the weights:
    the micro average of shares whose counts are `values` of `weights`.
    """

    name: str
    values: tuple[float | None, ...]
    weights: tuple[float, ...] | None = None
    scale: float = 100.0

    @property
    def n(self) -> int:
        """How many questions count."""
        return sum(value is not None for value in self.values)

    @property
    def value(self) -> float | None:
        """The metric, None where no question counts; the mean is numpy's, as ALCE's is, to the last digit."""
        counted = [value for value in self.values if value is not None]
        if not counted:
            return None
        if self.weights is None:
            return float(self.scale * np.mean(counted))
        whole = sum(w for w, value in zip(self.weights, self.values, strict=True) if value is not None)
        return self.scale * sum(counted) / whole if whole else None


@dataclass(frozen=True, slots=True)
class Derived:
    """A metric made of other metrics of the same run, such as the harmonic mean of two; None where one of them is."""

    name: str
    of: tuple[str, ...]
    combine: Callable[[Sequence[float]], float]


def harmonic(values: Sequence[float]) -> float:
    """The harmonic mean of numbers of 0 or more; 0 if one of them is."""
    return len(values) / sum(1 / value for value in values) if all(values) else 0.0


@dataclass(frozen=True, slots=True)
class Measured:
    """What one measure says of a run: its columns, what is made of them, and why.

    `reasons[i]` are plain JSON values that explain the i-th question's values, by name; `notes` are what a table of
    these metrics should say below itself (what was left out, or counted otherwise than usual).
    """

    columns: tuple[Column, ...]
    derived: tuple[Derived, ...] = ()
    reasons: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
