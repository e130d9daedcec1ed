"""The lexical judge on people's own verdicts, beside plain word overlap.

    python benchmarks/judge.py            the figures, on the dev splits
    python benchmarks/judge.py --train    the same on the train splits, to look at while working
    python benchmarks/judge.py --fit      fits the judge's coefficients and thresholds on the train splits

Premises are never cut: every sentence of the evidence is read. Neighbouring evidence of one title is one passage
(WiCE and SciFact give single sentences); FActScore's evidence is the whole page. HaluEval's claims are answers, so
they are judged with their question; other claims stand alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toulmin.data import Passage
from toulmin.grounding.steps import Pair
from toulmin.judges.lexical import CEILING, Lexical
from toulmin.language import terms

DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
SETS = (
    "attributionbench_dev begin_dev factscore fever_paperdev fever_symmetric_dev fm2_dev halueval_qa q2_wow"
    " scifact_train summedits_eval wice_dev"
).split()
JUDGED_WITH_QUESTION = {"halueval_qa"}
# What people and models wrote of their own accord counts more than claims made to deceive.
NATURAL = {"attributionbench_dev", "begin_dev", "factscore", "q2_wow", "scifact_train", "wice_dev"}

Vector = NDArray[np.float64]


class Case(NamedTuple):
    """A claim with its evidence and whether people found it supported."""

    pair: Pair
    supported: bool


def rows(name: str) -> Iterator[dict[str, Any]]:
    """The records of one data file."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _passages(evidence: Sequence[dict[str, Any]]) -> tuple[Passage, ...]:
    grouped = groupby(evidence, key=lambda item: item["title"] or "")
    return tuple(Passage.of("\n\n".join(item["text"] for item in items), title) for title, items in grouped)


def cases(name: str, split: str) -> list[Case]:
    """The cases of one `attr_*` set with evidence."""
    pages = {row["topic"]: row["passages"] for row in rows("attr_factscore_pages")} if name == "factscore" else {}
    known = {topic: tuple(Passage.of(text, topic) for text in texts) for topic, texts in pages.items()}
    found = []
    for row in rows(f"attr_{name}"):
        premises = known.get(row.get("evidence_page") or "") or _passages(row["evidence"])
        if row["split"] == split and premises:
            question = row["question"] if name in JUDGED_WITH_QUESTION else None
            found.append(Case(Pair(premises, row["claim"], question), row["supported"]))
    return found


def word_overlap(pair: Pair) -> float:
    """The share of the claim's words that stand in the evidence: the plain measure to beat."""
    evidence = {term for p in pair.premises for term in terms(f"{p.title} {p.text}")}
    claim = terms(pair.claim)
    return sum(term in evidence for term in claim) / len(claim) if claim else 0.0


def auc(scores: Vector, truth: NDArray[np.bool_]) -> float:
    """The chance that a supported claim scores above an unsupported one; ties count half."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive = int(truth.sum())
    return float((ranks[truth].sum() - positive * (positive + 1) / 2) / (positive * (len(truth) - positive)))


def balanced_accuracy(said: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """The mean of the shares of supported and of unsupported claims told right."""
    return float((said[truth].mean() + (~said[~truth]).mean()) / 2)


def report(split: str) -> None:
    """One line a set; the overlap's threshold is the one best on its own train split."""
    judge = Lexical()
    print(f"{'set (' + split + ')':28}{'n':>6}{'overlap AUC':>13}{'judge AUC':>11}{'gain':>8}{'bal. acc.':>11}")
    gains, accuracies = [], []
    for name in SETS:
        held = cases(name, split)
        if not held:
            continue
        truth = np.array([case.supported for case in held])
        verdicts = judge.judge([case.pair for case in held])
        plain = auc(np.array([word_overlap(case.pair) for case in held]), truth)
        ours = auc(np.array([verdict.support for verdict in verdicts]), truth)
        accuracy = balanced_accuracy(np.array([verdict.entails for verdict in verdicts]), truth)
        gains.append(ours - plain)
        accuracies.append(accuracy)
        print(f"{name:28}{len(held):6}{plain:13.3f}{ours:11.3f}{gains[-1]:+8.3f}{accuracy:11.3f}")
    above = sum(gain > 0 for gain in gains)
    print(f"above overlap on {above} of {len(gains)} (target 9 of 11); mean gain {np.mean(gains):+.3f} (target +0.06);")
    print(f"worst {min(gains):+.3f} (target -0.03 or better); mean balanced accuracy {np.mean(accuracies):.3f}")


class Training(NamedTuple):
    """Features, truth, weight and the gate's word, one row a case."""

    features: Vector
    truth: Vector
    weight: Vector
    accepted: NDArray[np.bool_]
    names: list[str]


def training() -> Training:
    """Every train case; each set weighs the same however large, natural sets twice, and each class half of it."""
    judge, features, truth, weight, accepted, names = Lexical(), [], [], [], [], []
    for name in SETS:
        held = cases(name, "train")
        share = defaultdict(int, {label: sum(case.supported == label for case in held) for label in (True, False)})
        for case in held:
            vector, passes = judge.features(case.pair)
            features.append(vector)
            truth.append(case.supported)
            accepted.append(passes)
            weight.append((2.0 if name in NATURAL else 1.0) / share[case.supported])
            names.append(name)
    return Training(np.array(features), np.array(truth, float), np.array(weight), np.array(accepted), names)


def fit(data: Training, ridge: float = 1e-3) -> Vector:
    """Logistic regression by Newton's method, with a small ridge on all but the constant."""
    x, y, w = data.features, data.truth, data.weight / data.weight.sum()
    penalty = ridge * np.eye(x.shape[1])
    penalty[0, 0] = 0.0
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-(x @ beta)))
        gradient = x.T @ (w * (y - p)) - penalty @ beta
        hessian = (x * (w * p * (1 - p))[:, None]).T @ x + penalty
        beta = beta + np.linalg.solve(hessian, gradient)
    return beta


def print_fit() -> None:
    data = training()
    beta = fit(data)
    p = 1 / (1 + np.exp(-(data.features @ beta)))
    support = np.where(data.accepted, CEILING + (1 - CEILING) * p, CEILING * p)
    names = np.array(data.names)
    truth = data.truth.astype(bool)
    print("COEFFICIENTS = (" + ", ".join(f"{value:.3f}" for value in beta) + ")")
    grid = np.arange(0.2, 0.96, 0.01)
    found = [
        np.mean([balanced_accuracy((support >= t)[names == n], truth[names == n]) for n in set(names)]) for t in grid
    ]
    print(f"SUPPORTED = {grid[int(np.argmax(found))]:.2f}  # mean balanced accuracy {max(found):.3f}")
    for name in dict.fromkeys(names):
        own = names == name
        rejected = own & ~data.accepted
        print(
            f"{name:28} AUC {auc(support[own], truth[own]):.3f}, without the gate {auc(p[own], truth[own]):.3f};"
            f" rejected {rejected.sum() / own.sum():.2f}, of these supported {truth[rejected].mean():.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--train", action="store_true")
    arguments = parser.parse_args()
    if arguments.fit:
        print_fit()
    else:
        report("train" if arguments.train else "dev")


if __name__ == "__main__":
    main()
