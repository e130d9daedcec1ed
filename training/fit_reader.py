"""Fits the embedded reader on the train splits: the weights of spans, then the coefficients of the confidence.

    python training/fit_reader.py                both, as `span_weights.tsv` and `COEFFICIENTS` have them
    python training/fit_reader.py --calibrate    the confidence alone

The weights are a softmax over the candidates of each question, fitted by Adam. The loss of a question is -log of the
chance that its right candidates have together: those that equal an answer, or where none does those that share most
words with one (F1 of at least a half). A question without either is left out. The confidence is a logistic regression.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from reader_sets import Item, sets

from toulmin.extractive import reader
from toulmin.extractive.question import Form, parse_question
from toulmin.extractive.reader import WEIGHTS, Signs, places
from toulmin.extractive.spans import span_features

STEPS, RATE, DECAY = 150, 0.1, 0.002
ENOUGH = 0.5
FEWEST = 300  # candidates that must have a feature, for it to have a weight
LEAST_WEIGHT = 0.03
MOST_FITTED = 6000  # questions for the weights of spans, by a hash of their text
ROUNDS, RIDGE = 30, 1e-3  # of the confidence

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
    question = 0
    for item in items:
        spans = candidates(item)
        holds = right_ones(item, [text for _, text in spans])
        if not any(holds):
            continue
        for features, _ in spans:
            cells = [(index.setdefault(name, len(index)), value) for name, value in features.items() if value]
            columns.extend(column for column, _ in cells)
            values.extend(value for _, value in cells)
            lengths.append(len(cells))
        owner.extend([question] * len(spans))
        right.extend(holds)
        question += 1
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


def least_loss(data: Table) -> Floats:
    """The weights of least loss; 0 for a feature that very few candidates have."""
    kept = np.bincount(data.columns, minlength=len(data.names)) >= FEWEST
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


def logistic(features: Floats, right: Floats, counts: Floats) -> Floats:
    """The coefficients of least loss, by Newton's method."""
    coefficients = np.zeros(features.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-features @ coefficients))
        gradient = features.T @ (counts * (chance - right)) + RIDGE * coefficients
        bend = (features.T * (counts * chance * (1 - chance))) @ features + RIDGE * np.eye(len(coefficients))
        coefficients = coefficients - np.linalg.solve(bend, gradient)
    return coefficients


def as_table(weights: Mapping[str, float]) -> str:
    """As `toulmin/extractive/span_weights.tsv` has them."""
    columns: dict[str, str] = {"any": ""} | {form: f"{form}: " for form in get_args(Form)}
    rows = dict.fromkeys(name.partition(": ")[2] if name.partition(": ")[0] in columns else name for name in weights)
    lines = ["\t".join(("feature", *columns))]
    for row in sorted(rows):
        values = (weights.get(f"{prefix}{row}") for prefix in columns.values())
        lines.append("\t".join((row, *("" if value is None else f"{value:.2f}" for value in values))))
    return "\n".join(lines)


def fit(known: Mapping[str, Sequence[Item]]) -> None:
    """The weights of spans; each question counts the same."""
    able = [item for items in known.values() for item in items if item.is_answerable]
    able.sort(key=lambda item: zlib.crc32(item.question.encode()))
    data = table(able[:MOST_FITTED])
    weights = dict(zip(data.names, least_loss(data), strict=True))
    WEIGHTS.clear()
    WEIGHTS.update({n: round(float(w), 2) for n, w in sorted(weights.items()) if abs(w) >= LEAST_WEIGHT})
    print(as_table(WEIGHTS))


def calibrate(known: Mapping[str, Sequence[Item]]) -> None:
    """The coefficients of the confidence; each set counts the same."""
    features, right, counts = [], [], []
    for items in known.values():
        pairs = [(item, span) for item in items if (span := reader.find(item.question, item.passages)) is not None]
        features += [span.signs for _, span in pairs]
        right += [float(item.is_right(span.text, span.signs.whole > 0)) for item, span in pairs]
        counts += [1e4 / len(pairs)] * len(pairs)
    coefficients = logistic(np.array(features), np.array(right), np.array(counts))
    print("COEFFICIENTS")
    for name, value in zip(Signs._fields, coefficients, strict=True):
        print(f"    {name}={value:.2f},")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calibrate", action="store_true", help="the confidence alone")
    options = parser.parse_args()
    known = sets("train")
    if not options.calibrate:
        fit(known)
    calibrate(known)


if __name__ == "__main__":
    main()
