"""The lexical judge on people's own verdicts, beside plain word overlap.

    python benchmarks/judge.py            the figures, on the dev splits
    python benchmarks/judge.py --train    the same on the train splits, to look at while working
    python benchmarks/judge.py --fit      fits the judge's coefficients and thresholds on the train splits

Premises are never cut: every sentence of the evidence is read. Neighbouring evidence of one title is one passage
(WiCE and SciFact give single sentences); FActScore's evidence is the whole page. HaluEval's claims are answers, so
they are judged with their question; other claims stand alone. The balanced accuracy of overlap is taken at the one
level that serves the train splits best on average.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from data import rows
from numpy.typing import NDArray

from toulmin.data import Passage
from toulmin.judges.gate import CEILING, Gate, Ruling
from toulmin.judges.lexical import Lexical
from toulmin.steps import Pair
from toulmin.text.language import terms

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


@lru_cache(maxsize=10_000)
def _words(passage: Passage) -> frozenset[str]:
    return frozenset(terms(f"{passage.title} {passage.text}"))


def word_overlap(pair: Pair) -> float:
    """The share of the claim's words that stand in the evidence: the plain measure to beat."""
    claim = terms(pair.claim)
    evidence = [_words(premise) for premise in pair.premises]
    return sum(any(term in held for held in evidence) for term in claim) / len(claim) if claim else 0.0


def auc(scores: Vector, truth: NDArray[np.bool_]) -> float:
    """The chance that a supported claim scores above an unsupported one; ties count half."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive = int(truth.sum())
    return float((ranks[truth].sum() - positive * (positive + 1) / 2) / (positive * (len(truth) - positive)))


def balanced_accuracy(said: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """The mean of the shares of supported and of unsupported claims told right."""
    return float((said[truth].mean() + (~said[~truth]).mean()) / 2)


class Scored(NamedTuple):
    """One set's plain overlaps, with the truth."""

    overlap: Vector
    truth: NDArray[np.bool_]


def _overlaps(held: Sequence[Case]) -> Scored:
    overlap = np.array([word_overlap(case.pair) for case in held])
    return Scored(overlap, np.array([case.supported for case in held]))


def overlap_level() -> float:
    """The overlap from which "supported" is right most often on the mean of the train splits."""
    scored = [_overlaps(held) for name in SETS if (held := cases(name, "train"))]
    grid = np.arange(0.3, 1.0, 0.02)
    means = [np.mean([balanced_accuracy(one.overlap >= level, one.truth) for one in scored]) for level in grid]
    return float(grid[int(np.argmax(means))])


def report(split: str) -> None:
    """One line a set: ROC AUC and balanced accuracy of plain overlap and of the judge."""
    judge, level = Lexical(), overlap_level()
    print(f"{'set (' + split + ')':22}{'n':>6}{'overlap AUC':>13}{'judge AUC':>11}{'gain':>8}", end="")
    print(f"{'overlap acc.':>14}{'judge acc.':>12}")
    table = []
    for name in SETS:
        held = cases(name, split)
        if held:
            verdicts = judge.judge([case.pair for case in held])
            plain, truth = _overlaps(held)
            ours = auc(np.array([verdict.support for verdict in verdicts]), truth)
            said = balanced_accuracy(np.array([verdict.entails for verdict in verdicts]), truth)
            row = (auc(plain, truth), ours, ours - auc(plain, truth), balanced_accuracy(plain >= level, truth), said)
            table.append(row)
            print(f"{name:22}{len(held):6}{row[0]:13.3f}{row[1]:11.3f}{row[2]:+8.3f}{row[3]:14.3f}{row[4]:12.3f}")
    _print_summary(np.array(table))


def _print_summary(table: Vector) -> None:
    gains = table[:, 2]
    print(f"{'mean':28}" + "{:13.3f}{:11.3f}{:+8.3f}{:14.3f}{:12.3f}".format(*table.mean(axis=0)))
    print(f"above overlap on {(gains > 0).sum()} of {len(gains)} sets (target 9 of 11); mean gain {gains.mean():+.3f}")
    print(f"(target +0.06); worst {gains.min():+.3f} (target -0.03 or better)")


class Training(NamedTuple):
    """Features, truth, weight and the gate's word, one row a case."""

    features: Vector
    truth: Vector
    weight: Vector
    gates: list[Gate]
    names: list[str]


def training() -> Training:
    """Every train case; each set weighs the same however large, natural sets twice, and each class half of it."""
    judge, features, truth, weight, gates, names = Lexical(), [], [], [], [], []
    for name in SETS:
        held = cases(name, "train")
        share = defaultdict(int, {label: sum(case.supported == label for case in held) for label in (True, False)})
        for case in held:
            vector, gate = judge.features(case.pair)
            features.append(vector)
            truth.append(case.supported)
            gates.append(gate)
            weight.append((2.0 if name in NATURAL else 1.0) / share[case.supported])
            names.append(name)
    return Training(np.array(features), np.array(truth, float), np.array(weight), gates, names)


def fit(data: Training, low: float, high: float, ridge: float = 1e-3) -> Vector:
    """Logistic regression whose curve runs from `low` to `high`, by Fisher scoring; a small ridge on the slopes."""
    x, y, w = data.features, data.truth, data.weight / data.weight.sum()
    penalty = ridge * np.eye(x.shape[1])
    penalty[0, 0] = 0.0
    beta = np.zeros(x.shape[1])
    for _ in range(100):
        share = 1 / (1 + np.exp(-(x @ beta)))
        p = np.clip(low + (high - low) * share, 1e-6, 1 - 1e-6)
        slope = (high - low) * share * (1 - share)
        gradient = x.T @ (w * (y - p) * slope / (p * (1 - p))) - penalty @ beta
        information = (x * (w * slope**2 / (p * (1 - p)))[:, None]).T @ x + penalty
        beta = beta + 0.7 * np.linalg.solve(information, gradient)
    return beta


def print_fit() -> None:
    """The coefficients, the threshold that suits the sets best on average, and how each set fares with them."""
    data = training()
    accepted = np.array([gate.ruling is Ruling.ACCEPTED for gate in data.gates])
    beta = fit(Training(data.features[accepted], data.truth[accepted], data.weight[accepted], [], []), CEILING, 1.0)
    share = 1 / (1 + np.exp(-(data.features @ beta)))
    support = np.array([gate.support(part) for gate, part in zip(data.gates, share, strict=True)])
    names, truth = np.array(data.names), data.truth.astype(bool)
    print("COEFFICIENTS = (" + ", ".join(f"{value:.2f}" for value in beta) + ")")
    for level in np.arange(0.40, 0.61, 0.02):
        told = [balanced_accuracy((support >= level)[names == name], truth[names == name]) for name in set(names)]
        print(f"SUPPORTED = {level:.2f}: mean balanced accuracy {np.mean(told):.4f}")
    _print_calibration(support[accepted], data.truth[accepted], data.weight[accepted])
    for name in dict.fromkeys(names):
        _print_rulings(name, data, support, names == name)


def _print_calibration(support: Vector, truth: Vector, weight: Vector) -> None:
    for low in np.arange(0.2, 1.0, 0.1):
        inside = (support >= low) & (support < low + 0.1)
        if inside.any():
            said, true = (np.average(v[inside], weights=weight[inside]) for v in (support, truth))
            print(
                f"accepted, support {low:.1f} to {low + 0.1:.1f}: n {inside.sum():5}, said {said:.2f}, true {true:.2f}"
            )


def _print_rulings(name: str, data: Training, support: Vector, own: NDArray[np.bool_]) -> None:
    truth = data.truth.astype(bool)
    print(f"{name:22} AUC {auc(support[own], truth[own]):.3f};", end="")
    for ruling in (Ruling.DOUBTED, Ruling.REJECTED, Ruling.CONTRADICTED):
        told = own & np.array([gate.ruling is ruling for gate in data.gates])
        true = truth[told].mean() if told.any() else 0.0
        print(f" {ruling.name.lower()} {told.sum() / own.sum():.2f} ({true:.2f} true)", end="")
    print()


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
