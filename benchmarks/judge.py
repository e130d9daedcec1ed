"""The lexical judge on people's own verdicts, beside plain word overlap.

    python benchmarks/judge.py            the figures, on the dev splits
    python benchmarks/judge.py --train    the same on the train splits, to look at while working

The claims are those of `judge_sets.py`. The balanced accuracy of overlap is taken at the one level that serves the
train splits best on average. `training/fit_judge.py` fits the judge.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from judge_sets import SETS, Case, Vector, auc, balanced_accuracy, cases
from numpy.typing import NDArray

from toulmin.data import Passage
from toulmin.judges.lexical import Lexical
from toulmin.steps import Pair
from toulmin.text.language import terms


@lru_cache(maxsize=10_000)
def _words(passage: Passage) -> frozenset[str]:
    return frozenset(terms(f"{passage.title} {passage.text}"))


def word_overlap(pair: Pair) -> float:
    """The share of the claim's words that stand in the evidence: the plain measure to beat."""
    claim = terms(pair.claim)
    evidence = [_words(premise) for premise in pair.premises]
    return sum(any(term in held for held in evidence) for term in claim) / len(claim) if claim else 0.0


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", action="store_true")
    report("train" if parser.parse_args().train else "dev")


if __name__ == "__main__":
    main()
