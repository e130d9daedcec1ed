"""Intervals of metrics and differences between runs, by a bootstrap over questions.

* Questions are drawn. One with several seeds counts once, as their mean.
* A resample recomputes every metric from the same draws: micro averages as ratios of sums, derived metrics from their
  parts. Two runs share the draws.
* Percentile intervals are too narrow for few questions, so they are widened as Student's t is against the normal
  distribution, and by n / (n - 1) in the variance (Hesterberg 2015, "expanded percentile").
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from toulmin.metrics.answered import Column, DerivedMetric

RESAMPLES = 5_000
SEED = 20
CONFIDENCE = 0.95

_BLOCK = 2_000_000  # draws held in memory at a time
_NOTHING = 1e-9  # rounding error between equal sums of floats, which would break ties at zero

Floats = npt.NDArray[np.float64]
_normal = NormalDist()


@dataclass(frozen=True, slots=True)
class Interval:
    """A metric of one run with its 95 % interval.

    `n` questions count (for a derived metric, the fewest of its parts). `value` is None for n = 0, `low` and `high`
    below 2. Equal values give no width.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Difference:
    """How far the second run's metric is above the first's, on the `n` questions that count in both.

    `probability` is one minus the two-sided p-value: the highest confidence at which the interval excludes zero (from
    ten questions on), uniform from 0 to 1 without a difference; not the probability that the second run is better. None
    if `low` and `high` are.
    """

    difference: float | None
    low: float | None
    high: float | None
    probability: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Table:
    """A run's metrics; the i-th values belong to question `ids[i]`, one row a seed. Derived ones follow their parts."""

    ids: tuple[str, ...]
    columns: tuple[Column, ...]
    derived: tuple[DerivedMetric, ...] = ()

    def by_question(self) -> Table:
        """One row a question, ordered by id: the mean over the seeds that count."""
        rows: dict[str, list[int]] = {}
        for row, id in enumerate(self.ids):
            rows.setdefault(id, []).append(row)
        groups = [rows[id] for id in sorted(rows)]
        return Table(tuple(sorted(rows)), tuple(_average_rows(c, groups) for c in self.columns), self.derived)


def interval(table: Table, *, resamples: int = RESAMPLES, seed: int = SEED) -> dict[str, Interval]:
    """95 % intervals. Without repeated questions, values are the columns' own."""
    asked = table.by_question()
    ways = _Metrics.of(asked)
    values = _Metrics.of(table).values() if len(asked.ids) == len(table.ids) else ways.values()
    drawn = [ways.resample(draws) for draws in _draws(len(asked.ids), resamples, seed)]
    intervals = {}
    for name, n in ways.question_counts().items():
        low, high = _bounds(np.concatenate([block[name] for block in drawn]), n) if drawn else (None, None)
        intervals[name] = Interval(values[name], low, high, n)
    return intervals


def compare_tables(
    first: Table, other: Table, *, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Difference]:
    """How far each common metric of `other` is above that of `first`.

    Paired on the questions that count in both, so it may differ from the difference of two values in a table.
    """
    ours, theirs = _pair_tables(first.by_question(), other.by_question())
    before, after = _Metrics.of(ours), _Metrics.of(theirs)
    values = before.values(), after.values()
    drawn = [(before.resample(draws), after.resample(draws)) for draws in _draws(len(ours.ids), resamples, seed)]
    differences = {}
    for name, n in before.question_counts().items():
        was, became = (metrics[name] for metrics in values)
        gaps = np.concatenate([b[name] - a[name] for a, b in drawn]) if drawn else np.empty(0)
        gaps[np.abs(gaps) < _NOTHING] = 0.0
        low, high = _bounds(gaps, n)
        sure = None if low is None else _probability(gaps[~np.isnan(gaps)], n)
        gap = None if was is None or became is None else became - was
        differences[name] = Difference(gap, low, high, sure, n)
    return differences


# ---------------------------------------------------------------- questions


def _average_rows(column: Column, groups: Sequence[Sequence[int]]) -> Column:
    counted = [[row for row in rows if column.values[row] is not None] for rows in groups]
    values = tuple(_mean([column.values[row] or 0.0 for row in rows]) for rows in counted)
    weights = column.weights and tuple(_mean([column.weights[row] for row in rows]) or 0.0 for rows in counted)
    return replace(column, values=values, weights=weights)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _pair_tables(first: Table, other: Table) -> tuple[Table, Table]:
    """What does not count in one table counts in neither."""
    places = {id: row for row, id in enumerate(other.ids)}
    pairs = [(row, places[id]) for row, id in enumerate(first.ids) if id in places]
    ids = tuple(first.ids[row] for row, _ in pairs)
    theirs = {column.name: column for column in other.columns}
    columns = [_both(column, theirs[column.name], pairs) for column in first.columns if column.name in theirs]
    known = {ours.name for ours, _ in columns}
    shared = {made.name for made in other.derived}
    derived = tuple(made for made in first.derived if made.name in shared and known.issuperset(made.of))
    return Table(ids, tuple(a for a, _ in columns), derived), Table(ids, tuple(b for _, b in columns), derived)


def _both(ours: Column, theirs: Column, pairs: Sequence[tuple[int, int]]) -> tuple[Column, Column]:
    counts = [ours.values[a] is not None and theirs.values[b] is not None for a, b in pairs]
    return _cut(ours, [a for a, _ in pairs], counts), _cut(theirs, [b for _, b in pairs], counts)


def _cut(column: Column, rows: Sequence[int], counts: Sequence[bool]) -> Column:
    values = tuple(column.values[row] if is_counted else None for row, is_counted in zip(rows, counts, strict=True))
    weights = None if column.weights is None else tuple(column.weights[row] for row in rows)
    return replace(column, values=values, weights=weights)


# ---------------------------------------------------------------- resamples


def _draws(n: int, resamples: int, seed: int) -> Iterator[Floats]:
    generator = np.random.default_rng(seed)
    size = max(1, _BLOCK // max(n, 1))
    for start in range(0, resamples if n > 1 else 0, size):
        rows = min(size, resamples - start)
        drawn = generator.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


@dataclass(frozen=True, slots=True)
class _Metrics:
    """A metric is `scales` times the sum of `tops` over that of `bottoms`."""

    table: Table
    tops: Floats
    bottoms: Floats
    scales: Floats

    @classmethod
    def of(cls, table: Table) -> _Metrics:
        columns = table.columns
        counts = np.array([[v is not None for v in c.values] for c in columns], dtype=np.float64)
        weights = np.array([c.weights or (1.0,) * len(c.values) for c in columns], dtype=np.float64)
        tops = np.array([[v or 0.0 for v in c.values] for c in columns], dtype=np.float64)
        shape = (len(columns), len(table.ids))
        scales = np.array([c.scale for c in columns], dtype=np.float64)
        return cls(table, tops.reshape(shape).T, (counts * weights).reshape(shape).T, scales)

    def question_counts(self) -> dict[str, int]:
        counts = {column.name: column.n for column in self.table.columns}
        for made in self.table.derived:
            counts[made.name] = min((counts[name] for name in made.of), default=0)
        return counts

    def values(self) -> dict[str, float | None]:
        metrics = {column.name: column.value for column in self.table.columns}
        for made in self.table.derived:
            parts = [metrics[name] for name in made.of]
            known = [part for part in parts if part is not None]
            metrics[made.name] = made.combine(known) if len(known) == len(parts) else None
        return metrics

    def resample(self, draws: Floats) -> Mapping[str, Floats]:
        """NaN if no question that counts was drawn."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = (draws @ self.tops) / (draws @ self.bottoms) * self.scales
        ratios[~np.isfinite(ratios)] = np.nan
        metrics = {column.name: ratios[:, i] for i, column in enumerate(self.table.columns)}
        for made in self.table.derived:
            parts = np.stack([metrics[name] for name in made.of], axis=1)
            whole = ~np.isnan(parts).any(axis=1)
            metrics[made.name] = np.full(len(parts), np.nan)
            metrics[made.name][whole] = [made.combine(values) for values in parts[whole].tolist()]
        return metrics


# ---------------------------------------------------------------- from resamples to results


def _bounds(values: Floats, n: int) -> tuple[float | None, float | None]:
    values = values[~np.isnan(values)]
    if n < 2 or not len(values):
        return None, None
    z = -_normal.inv_cdf((1 - CONFIDENCE) / 2)
    level = _normal.cdf(-_as_t(z, n - 1) * math.sqrt(n / (n - 1)))
    low, high = np.quantile(values, (level, 1 - level))
    return float(low), float(high)


def _probability(gaps: Floats, n: int) -> float:
    """The inverse of `_bounds`, from an interval that touches zero."""
    beyond = min(int((gaps <= 0).sum()), int((gaps >= 0).sum()))
    share = min((beyond + 1) / (len(gaps) + 1), 0.5)
    z = _as_z(-_normal.inv_cdf(share) * math.sqrt((n - 1) / n), n - 1)
    return 1 - 2 * _normal.cdf(-z)


def _as_z(t: float, freedom: int) -> float:
    """The normal deviate as rare as a t (Wallace 1959, good to 0.01 from 3 degrees of freedom)."""
    return (8 * freedom + 1) / (8 * freedom + 3) * math.sqrt(freedom * math.log1p(t * t / freedom))


def _as_t(z: float, freedom: int) -> float:
    """The inverse of `_as_z`."""
    scaled = z * (8 * freedom + 3) / (8 * freedom + 1)
    return math.sqrt(freedom * math.expm1(scaled * scaled / freedom))
