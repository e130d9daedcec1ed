"""An answer with its question, as metrics read it, and the columns of values that they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from toulmin.data import Answer, Passage, render
from toulmin.datasets.item import Item


@dataclass(frozen=True, slots=True)
class ScoringItem:
    """`honest` reads `answer`; `alce` reads `output`, whose `[n]` means `docs[n - 1]`. `final` is the short answer that
    follows from `output` (VTG).
    """

    item: Item
    answer: Answer
    output: str
    docs: tuple[Passage, ...]
    final: str | None = None

    @property
    def is_failed(self) -> bool:
        return self.answer.status == "failed"


def answer_to_score(item: Item, answer: Answer) -> ScoringItem:
    """Our answer as ALCE's evaluator reads it: the model's reply if the answer is that reply, else one line, numbered
    as on a page, uncited passages after the cited. A failed answer is empty.
    """
    rendered = render(answer.claims, answer.style).text
    for step in reversed(answer.rounds if answer.status != "failed" else ()):
        if step.written is not None and step.chosen is not False and (step.role is None or step.text == rendered):
            final = None if step.role else render(answer.claims, answer.style, numbers={}).text
            return ScoringItem(item, answer, step.written, tuple(map(answer.passage, step.read)), final)
    cited = answer.cited
    others = tuple(dict.fromkeys(p for p in answer.passages if p not in cited))
    return ScoringItem(item, answer, " ".join(rendered.split()), (*cited, *others))


# ---------------------------------------------------------------- metrics as columns of values


@dataclass(frozen=True, slots=True)
class Column:
    """One metric of a run: `scale` times the mean of the values, or with `weights` (micro average) their sum over the
    sum of weights. `values[i]` is None if the i-th question does not count.
    """

    name: str
    values: tuple[float | None, ...]
    weights: tuple[float, ...] | None = None
    scale: float = 100.0

    @property
    def n(self) -> int:
        return sum(value is not None for value in self.values)

    @property
    def value(self) -> float | None:
        """None if no question counts; the mean is numpy's, as in ALCE."""
        counted = [value for value in self.values if value is not None]
        if not counted:
            return None
        if self.weights is None:
            return float(self.scale * np.mean(counted))
        whole = sum(w for w, value in zip(self.weights, self.values, strict=True) if value is not None)
        return self.scale * sum(counted) / whole if whole else None


def columns(names: Sequence[str], rows: Sequence[Sequence[float | None] | None]) -> tuple[Column, ...]:
    """One column a name; a row holds one question's values, or is None."""
    return tuple(Column(name, tuple(None if row is None else row[i] for row in rows)) for i, name in enumerate(names))


class DerivedMetric(NamedTuple):
    """A metric computed from others of the run; None if one of them is."""

    name: str
    of: tuple[str, ...]
    combine: Callable[[Sequence[float]], float]


def harmonic(values: Sequence[float]) -> float:
    """The harmonic mean of values of 0 or more; 0 if one is."""
    return len(values) / sum(1 / value for value in values) if all(values) else 0.0


@dataclass(frozen=True, slots=True)
class MetricTable:
    """`reasons[i]` explain the i-th question's values (JSON by name). `notes` are shown below a table."""

    columns: tuple[Column, ...]
    derived: tuple[DerivedMetric, ...] = ()
    reasons: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
