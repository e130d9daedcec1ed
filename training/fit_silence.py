"""Fits what a trained reader adds to the embedded writer's silence, and shows what it brings.

    python training/fit_silence.py --reader embedded:FOLDER [--most 300]

Fitted on `qa_clapnq`, questions that people typed and one passage each, of which half do not answer: a logistic
regression tells whether a passage answers, over the share of the question that a sentence holds and the reader's log
odds. Its figures are cross-fitted ten times by question. Beside it, fitted on nothing: `squad2_devhalf`, whose
questions without an answer were written to deceive, and `pool_questions` over the first five passages of a search.
The two constants belong in `toulmin/extractive/answering.py`.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from fit_reader import logistic
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from headings import heading
from judge_sets import auc
from reader_sets import Item, sets

from toulmin.build.parts import model_without_cache
from toulmin.config import Settings
from toulmin.extractive import answering
from toulmin.extractive.answering import Manner
from toulmin.extractive.writer import Extractive

FITTED, BESIDE = "qa_clapnq", ("squad2_devhalf", "pool_questions")
PARTS, TIMES = 10, 10

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]


def table_of(items: Sequence[Item], manner: Manner) -> tuple[Floats, Truths]:
    """Of each question 1, the share that a sentence holds, and the reader's log odds; whether its passages answer."""
    rows = []
    for item in items:
        survey = manner.survey(item.question, item.passages)
        odds = survey.span.odds if survey.span else None
        rows.append((1.0, manner.effective_coverage(survey, len(item.passages)), -20.0 if odds is None else odds))
    return np.array(rows), np.array([item.is_answerable for item in items])


def constants(weights: Floats, threshold: float) -> tuple[float, float]:
    """The regression as what is added to the share: its factor, and the odds at which nothing is added."""
    reading = weights[2] / weights[1]
    return float(reading), float((-weights[0] / weights[1] - threshold) / reading)


def scores(table: Floats, reading: float, usual: float) -> Floats:
    """What the writer compares with its threshold."""
    shares: Floats = table[:, 1] + reading * (table[:, 2] - usual)
    return shares


def cross_fit(table: Floats, truth: Truths, threshold: float, seed: int) -> Floats:
    """The scores of each tenth by what the others fitted."""
    parts = np.random.default_rng(seed).permutation(len(truth)) % PARTS
    values = np.zeros(len(truth))
    for part in range(PARTS):
        mask = parts == part
        weights = logistic(table[~mask], truth[~mask].astype(float), np.ones(int((~mask).sum())))
        values[mask] = scores(table[mask], *constants(weights, threshold))
    return values


def fairness(values: Floats, truth: Truths, bar: float) -> float:
    """The mean of answered where there is an answer and silent where there is none."""
    return float(((values[truth] >= bar).mean() + (values[~truth] < bar).mean()) / 2)


def row(name: str, values: Floats, truth: Truths, bar: float) -> None:
    """A line of the table."""
    shares = (
        f"{(values[truth] >= bar).mean():10.3f}{(values[~truth] < bar).mean():8.3f}{fairness(values, truth, bar):10.3f}"
    )
    print(f"{name:40}{len(truth):6}{shares}{auc(values, truth):8.3f}")


def main() -> None:
    """Fits, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", required=True, help="as `toulmin --set reader=` names it")
    parser.add_argument("--most", type=int, default=300, help="questions of a set that is not fitted on")
    chosen = parser.parse_args()
    writer = model_without_cache("extractive", Settings(reader=chosen.reader))
    assert isinstance(writer, Extractive)
    manner, known = writer.manner, sets("dev")
    bar = manner.threshold
    shipped = f"Bar {bar}; shipped {answering.READING}, {answering.USUAL_ODDS}."
    print(heading("fit_silence.py", shipped, "training"))
    table, truth = table_of(known[FITTED], manner)
    weights = logistic(table, truth.astype(float), np.ones(len(truth)))
    print("fitted: reading {:.3f}, usual odds {:.2f}\n".format(*constants(weights, bar)))
    print(f"{'':40}{'n':>6}{'answered':>10}{'silent':>8}{'balanced':>10}{'AUC':>8}")
    row(f"{FITTED}, by words", table[:, 1], truth, bar)
    crossed = np.mean([cross_fit(table, truth, bar, seed) for seed in range(TIMES)], axis=0)
    row(f"{FITTED}, by words and reader", crossed, truth, bar)
    for name in BESIDE:
        drawn = random.Random(name).sample(known[name], min(chosen.most, len(known[name])))
        table, truth = table_of(drawn, manner)
        row(f"{name}, by words", table[:, 1], truth, bar)
        row(f"{name}, as shipped", scores(table, answering.READING, answering.USUAL_ODDS), truth, bar)
    print("```")


if __name__ == "__main__":
    main()
