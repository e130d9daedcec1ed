"""Weights for the spans of the embedded reader: a softmax over the candidates of each question, fitted by Adam.

The loss of a question is -log of the chance that its right candidates have together: those that equal an answer, or
where none does those that share most words with one (F1 of at least a half). A question without either is left out.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from reader_sets import Item

from toulmin.extractive.question import parse_question
from toulmin.extractive.reader import places
from toulmin.extractive.spans import span_features

STEPS, RATE, DECAY = 150, 0.1, 0.002
ENOUGH = 0.5
FEWEST = 300  # candidates of which a feature must be told, to have a weight

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """Candidates of all questions as rows of a sparse matrix; `owner` is a row's question, `right` if it answers."""

    names: list[str]
    columns: NDArray[np.int32]
    values: Floats
    rows: NDArray[np.int32]
    owner: NDArray[np.int32]
    right: NDArray[np.bool_]


def candidates(item: Item) -> list[tuple[dict[str, float], str]]:
    """The features of each candidate with its text."""
    question = parse_question(item.question)
    return [
        (place.features | features, place.passage.text[candidate.start : candidate.end])
        for place in places(question, item.passages)
        for candidate, features in span_features(question, place.sentence)
    ]


def right_ones(item: Item, texts: Sequence[str]) -> list[bool]:
    known = {text: item.exact(text) for text in set(texts)}
    if not any(known.values()):
        known = {text: item.f1(text) for text in known}
        best = max(known.values(), default=0.0)
        known = {text: float(best >= ENOUGH and f1 == best) for text, f1 in known.items()}
    return [known[text] > 0 for text in texts]


def table(items: Iterable[Item]) -> Table:
    index: dict[str, int] = {}
    columns = array("i")
    values = array("f")
    lengths: list[int] = []
    owner: list[int] = []
    right: list[bool] = []
    asked_of = 0
    for item in items:
        found = candidates(item)
        holds = right_ones(item, [text for _, text in found])
        if not any(holds):
            continue
        for features, _ in found:
            told = [(index.setdefault(name, len(index)), value) for name, value in features.items() if value]
            columns.extend(column for column, _ in told)
            values.extend(value for _, value in told)
            lengths.append(len(told))
        owner.extend([asked_of] * len(found))
        right.extend(holds)
        asked_of += 1
    rows = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    return Table(
        list(index),
        np.array(columns, np.int32),
        np.array(values, np.float64),
        rows,
        np.array(owner, np.int32),
        np.array(right),
    )


def loss(data: Table, weights: Floats) -> tuple[float, Floats]:
    """The mean loss of a question, and its gradient."""
    count = int(data.owner[-1]) + 1
    scores = np.bincount(data.rows, data.values * weights[data.columns], len(data.owner))
    best = np.full(count, -np.inf)
    np.maximum.at(best, data.owner, scores)
    chances = np.exp(scores - best[data.owner])
    chances /= np.bincount(data.owner, chances, count)[data.owner]
    held = np.bincount(data.owner, chances * data.right, count)
    aim = np.where(data.right, chances / held[data.owner], 0.0)
    gradient = np.bincount(data.columns, ((chances - aim)[data.rows]) * data.values, len(weights))
    return -float(np.log(held).mean()), gradient / count


def fitted(data: Table) -> Floats:
    """The weights of least loss; 0 for what is told of very few candidates."""
    told_of = np.bincount(data.columns, minlength=len(data.names))
    kept = told_of >= FEWEST
    weights = first = second = np.zeros(len(data.names))
    for step in range(1, STEPS + 1):
        _, gradient = loss(data, weights)
        gradient = (gradient + DECAY * weights) * kept
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient**2
        rate = RATE * (1 - step / (STEPS + 1))
        weights = weights - rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    result: Floats = weights
    return result
