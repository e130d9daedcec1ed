"""What is scored, an answer with its question, and what metrics give: columns of values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from toulmin.data import Answer, Passage, Round, render
from toulmin.datasets.item import Item


@dataclass(frozen=True, slots=True)
class Answered:
    """`honest` reads `answer`, whose claims cite passages by id; `alce` reads `output`, whose `[n]` means `docs[n -
    1]`. `final` is the short answer that `output` led to (VTG), None where it is in `output`. Failed answers are
    counted, not scored.
    """

    item: Item
    answer: Answer
    output: str
    docs: tuple[Passage, ...]
    final: str | None = None

    @property
    def is_failed(self) -> bool:
        return self.answer.status == "failed"


def answer_to_score(item: Item, answer: Answer) -> Answered:
    """An answer of ours as ALCE's evaluator reads one.

    Where a model's reply is the answer, it is that reply as it was written, and the passages are those that it was
    shown. Else it is the claims on one line, numbered as on a page, without marks of the policy `flag`; uncited
    passages follow the cited. Failed answers are empty.
    """
    passages = {passage.id: passage for passage in reversed(answer.passages)}
    rendered = render(answer.claims, answer.style).text
    for step in reversed(answer.rounds):
        if _is_whole(step, rendered) and answer.status != "failed" and passages.keys() >= set(step.read):
            return _as_written(item, answer, step, passages)
    cited = answer.cited
    others = tuple(dict.fromkeys(p for p in answer.passages if p not in cited))
    return Answered(item, answer, " ".join(rendered.split()), (*cited, *others))


def _is_whole(step: Round, rendered: str) -> bool:
    """Whether the answer is what was written in that step, or was drawn from it."""
    return step.written is not None and step.chosen is not False and (step.role is None or step.text == rendered)


def _as_written(item: Item, answer: Answer, step: Round, passages: Mapping[str, Passage]) -> Answered:
    docs = tuple(passages[id] for id in step.read)
    if step.role is not None:
        return Answered(item, answer, step.written or "", docs)
    docs = tuple({passage.id: passage for passage in (*docs, *answer.cited, *passages.values())}.values())
    numbers = {passage.id: n for n, passage in enumerate(docs, start=1)}
    final = render(answer.claims, answer.style, numbers=numbers).text
    return Answered(item, answer, step.written or "", docs, " ".join(final.split()))


# ---------------------------------------------------------------- metrics as columns of values


@dataclass(frozen=True, slots=True)
class Column:
    """One metric of a run; `values[i]` is None if the i-th question does not count.

    The metric is `scale` times the values' mean, or with `weights` (micro average) their sum over the sum of
    weights.
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
        """None if no question counts; the mean is numpy's, as in ALCE."""
        counted = [value for value in self.values if value is not None]
        if not counted:
            return None
        if self.weights is None:
            return float(self.scale * np.mean(counted))
        whole = sum(w for w, value in zip(self.weights, self.values, strict=True) if value is not None)
        return self.scale * sum(counted) / whole if whole else None


@dataclass(frozen=True, slots=True)
class Derived:
    """A metric made of others of the run; None if one of them is."""

    name: str
    of: tuple[str, ...]
    combine: Callable[[Sequence[float]], float]


def harmonic(values: Sequence[float]) -> float:
    """The harmonic mean of values of 0 or more; 0 if one is."""
    return len(values) / sum(1 / value for value in values) if all(values) else 0.0


@dataclass(frozen=True, slots=True)
class Measured:
    """`reasons[i]` are JSON values by name that explain the i-th question's values. `notes` belong below a table:
    what was left out, or counted unusually.
    """

    columns: tuple[Column, ...]
    derived: tuple[Derived, ...] = ()
    reasons: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
