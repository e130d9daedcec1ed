"""Fit the weights by which the embedded writer measures how far a sentence answers a question, on train splits.

    python training/fit_evidence.py

A question's sentences share its evidence by a softmax of their weighted features; the weights are those under which
the sentences that hold an answer have most of it: least mean -log of what the holders of an answer have together. Half
of the loss are short questions, half the sets of ambiguous ones. Printed are the loss of questions not fitted on (four
folds, by a hash of the question), and the weights to be put into
`toulmin/extractive/evidence.py`. Nothing is drawn.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from writer_sets import (
    Item,
    Pool,
    asqa_snippets,
    asqa_train,
    feedback_train,
    normalised,
    short_answers,
)

from toulmin.extractive.evidence import Features, Question, gather

FOLDS = 4
STEPS, RATE = 150, 0.05
DECAY = 0.001
ALL = 10**6

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A question's sentences by their features, which slots each holds, and what the question counts."""

    fold: int
    features: Floats
    holds: Floats
    counts: float


def case(item: Item, counts: float, most: int) -> Case | None:
    """None where no sentence holds any slot."""
    entries = gather(Question.of(item.question), item.passages, most)
    texts = [normalised(entry.sentence.text) for entry in entries]
    holds = [[any(alias in text for alias in slot) for text in texts] for slot in item.slots]
    held = np.array([slot for slot in holds if any(slot)], float)
    fold = zlib.crc32(item.question.encode()) % FOLDS
    return Case(fold, np.array([entry.features for entry in entries]), held, counts) if len(held) else None


def cases(items: Iterable[Item], share: float, most: int) -> list[Case]:
    questions = list(items)
    known = (case(item, share / len(questions), most) for item in questions)
    return [each for each in known if each is not None]


def loss(case: Case, weights: Floats) -> tuple[float, Floats]:
    """The case's loss and its gradient."""
    scores = case.features @ weights
    chance = np.exp(scores - scores.max())
    chance /= chance.sum()
    shares = case.holds @ chance
    aim = (case.holds * chance / shares[:, None]).mean(axis=0)
    return -case.counts * float(np.log(shares).mean()), case.counts * (chance - aim) @ case.features


def least_loss(cases: Sequence[Case]) -> Floats:
    """The weights of least loss, found by Adam over all cases at once, each feature on its own scale."""
    scale = 1 / (np.concatenate([case.features for case in cases]).std(axis=0) + 1e-9)
    whole = sum(case.counts for case in cases)
    weights = first = second = np.zeros(len(scale))
    for step in range(1, STEPS + 1):
        gradients = [loss(case, weights * scale)[1] for case in cases]
        gradient = sum(gradients, np.zeros(len(scale))) * scale / whole + DECAY * weights
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        rate = RATE * (1 - step / (STEPS + 1))
        weights = weights - rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    result: Floats = weights * scale
    return result


def unseen_loss(cases: Sequence[Case]) -> float:
    """The mean loss of each fold under the weights fitted to the others."""
    total = 0.0
    for fold in range(FOLDS):
        weights = least_loss([case for case in cases if case.fold != fold])
        total += sum(loss(case, weights)[0] for case in cases if case.fold == fold)
    return total / sum(case.counts for case in cases)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=ALL, help="sentences of a question: the most promising by words")
    parser.add_argument("--every", type=int, default=1, help="of the short questions")
    options = parser.parse_args()
    pool = Pool()
    short = cases(short_answers(pool, "train", options.every), 0.5, options.most)
    ambiguous = [asqa_train(pool), asqa_train(Pool(asqa_snippets())), feedback_train(None), feedback_train(pool)]
    parts = [cases(items, 0.5 / len(ambiguous), options.most) for items in ambiguous]
    known = short + [each for part in parts for each in part]
    print(f"{len(known)} questions, mean loss of those not fitted on {unseen_loss(known):.4f}")
    for name, weight in zip(Features._fields, least_loss(known), strict=True):
        print(f"    {name}={weight:.2f},")


if __name__ == "__main__":
    main()
