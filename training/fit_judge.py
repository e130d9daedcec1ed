"""Fit the lexical judge's coefficients and show which threshold suits it, on the train splits of people's verdicts.

    python training/fit_judge.py

What it prints goes into `toulmin/judges/lexical.py`.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from judge_sets import NATURAL, SETS, Vector, auc, balanced_accuracy, cases

from toulmin.judges.gate import CEILING, Gate, Ruling
from toulmin.judges.lexical import Lexical


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


def main() -> None:
    """Prints the coefficients, the threshold that suits the sets best on average, and how each set fares with them."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    data = training()
    accepted = np.array([gate.ruling is Ruling.ACCEPTED for gate in data.gates])
    beta = fit(Training(data.features[accepted], data.truth[accepted], data.weight[accepted], [], []), CEILING, 1.0)
    share = 1 / (1 + np.exp(-(data.features @ beta)))
    support = np.array([gate.support(part) for gate, part in zip(data.gates, share, strict=True)])
    names, truth = np.array(data.names), data.truth.astype(bool)
    print("COEFFICIENTS = (" + ", ".join(f"{value:.2f}" for value in beta) + ")")
    for level in np.arange(0.40, 0.61, 0.02):
        accuracies = [balanced_accuracy((support >= level)[names == name], truth[names == name]) for name in set(names)]
        print(f"SUPPORTED = {level:.2f}: mean balanced accuracy {np.mean(accuracies):.4f}")
    _print_calibration(support[accepted], data.truth[accepted], data.weight[accepted])
    for name in dict.fromkeys(names):
        _print_rulings(name, data, support, names == name)


def _print_calibration(support: Vector, truth: Vector, weight: Vector) -> None:
    for low in np.arange(0.2, 1.0, 0.1):
        inside = (support >= low) & (support < low + 0.1)
        if inside.any():
            stated, true = (np.average(v[inside], weights=weight[inside]) for v in (support, truth))
            print(
                f"accepted, support {low:.1f} to {low + 0.1:.1f}:"
                f" n {inside.sum():5}, said {stated:.2f}, true {true:.2f}"
            )


def _print_rulings(name: str, data: Training, support: Vector, rows: NDArray[np.bool_]) -> None:
    truth = data.truth.astype(bool)
    print(f"{name:22} AUC {auc(support[rows], truth[rows]):.3f};", end="")
    for ruling in (Ruling.DOUBTED, Ruling.REJECTED, Ruling.CONTRADICTED):
        ruled = rows & np.array([gate.ruling is ruling for gate in data.gates])
        true = truth[ruled].mean() if ruled.any() else 0.0
        print(f" {ruling.name.lower()} {ruled.sum() / rows.sum():.2f} ({true:.2f} true)", end="")
    print()


if __name__ == "__main__":
    main()
