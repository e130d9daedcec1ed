"""Fit the stack: model and lexical measures to a calibrated probability, by folds of pages.

    python training/stack.py --pairs DIR --scores RUN0 RUN1 ... --out stack.json [--folds 5] [--cross FILE]

`scores.jsonl` of each run holds what a network says of pairs whose pages it never saw (`training/judge.py`, one run a
fold for a cross-fitting, or one run with the dev split held out). Every figure printed is cross-fitted: the regression
and the curve that judge a pair never saw its page either. The stack that is written is fitted on all of them. What
stands apart among the pairs is judged and never fitted on. `--cross` writes each pair's cross-fitted chance, as
`benchmarks/judge_natural.py --scores` reads it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pairs
from claims.pair import APART, folds
from judge import auc, ece
from numpy.typing import NDArray

from toulmin.judges.lexical import Lexical
from toulmin.judges.stacked import FARTHEST, FEATURES, Stack, features
from toulmin.judges.trained import OUTCOMES, Shares

Floats = NDArray[np.float64]
RIDGE = 1e-2
EVENED = 0.75  # 0 lets every pair count alike, 1 every source and side
ROUNDS = 50
POINTS = 40  # of the curve, at most
UNSURE = 0.75  # share of the `supported` threshold from which a claim is unsure
AS_LEXICAL = np.eye(len(FEATURES))[FEATURES.index("lexical")]  # few pairs leave the stack near the lexical judge
_LEAST_GAIN = 1e-12
_ALIKE = 1e-9  # a feature that varies less is a constant, but for rounding
_LEAST_STEP = 1e-6  # between two scores of the curve


class Table(NamedTuple):
    """Features, one row a pair; whether it is supported, contradicted, vague, apart; lexical support; what it is."""

    features: Floats
    supported: NDArray[np.bool_]
    contradicted: NDArray[np.bool_]
    vague: NDArray[np.bool_]
    apart: NDArray[np.bool_]
    lexical: Floats
    ids: list[str]
    sources: list[str]
    pages: list[str]
    weight: Floats

    def of(self, chosen: NDArray[np.bool_]) -> Table:
        """The chosen rows."""
        return Table(
            self.features[chosen],
            self.supported[chosen],
            self.contradicted[chosen],
            self.vague[chosen],
            self.apart[chosen],
            self.lexical[chosen],
            [name for name, own in zip(self.ids, chosen, strict=True) if own],
            [name for name, own in zip(self.sources, chosen, strict=True) if own],
            [name for name, own in zip(self.pages, chosen, strict=True) if own],
            self.weight[chosen],
        )


def table(entries: Sequence[pairs.Entry], scores: Mapping[str, Shares]) -> Table:
    """Every entry that was scored; each side of a source weighs by the fourth root of its size."""
    judge, told = Lexical(), [entry for entry in entries if entry.id in scores]
    rows, lexical = [], []
    for entry in told:
        pair = pairs.pair(entry)
        measured, gate = judge.features(pair)
        rows.append(features(scores[entry.id], measured, gate, pair))
        lexical.append(judge.judge([pair])[0].support)
    label = np.array([entry.label for entry in told])
    sizes: dict[tuple[str, bool], int] = defaultdict(int)
    for entry in told:
        sizes[entry.source, entry.label == 0] += 1
    weight = [sizes[entry.source, entry.label == 0] ** -EVENED for entry in told]
    return Table(
        np.array(rows),
        label == OUTCOMES.index("supported"),
        label == OUTCOMES.index("contradicted"),
        np.array([entry.is_vague for entry in told]),
        np.array([entry.split == APART for entry in told]),
        np.array(lexical),
        [entry.id for entry in told],
        [entry.source for entry in told],
        [entry.page for entry in told],
        np.array(weight) / np.mean(weight),
    )


def logistic(
    x: Floats, y: NDArray[np.bool_], weight: Floats, expected: Floats | None = None, ridge: float = RIDGE
) -> Floats:
    """The coefficients of least loss, drawn by `ridge` towards what was expected of them (nothing, if not told).

    By Newton's method. Features are scaled to one while it is looked for, so that all are drawn alike.
    """
    spread = np.where(x.std(0) > _ALIKE, x.std(0), 1.0)
    scaled, weight = x / spread, weight / weight.sum()
    start = np.zeros(x.shape[1]) if expected is None else expected * spread
    penalty = ridge * np.eye(x.shape[1])
    penalty[0, 0] = 1e-9

    def loss(at: Floats) -> float:
        score = scaled @ at
        return float(weight @ (np.logaddexp(0, score) - y * score) + (at - start) @ penalty @ (at - start) / 2)

    found, reached = start, loss(start)
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(scaled @ found, -FARTHEST, FARTHEST)))
        bend = (scaled.T * (weight * chance * (1 - chance))) @ scaled + penalty
        step = np.linalg.solve(bend, scaled.T @ (weight * (chance - y)) + penalty @ (found - start))
        while (now := loss(found - step)) > reached and np.abs(step).max() > _LEAST_STEP:
            step = step / 2  # a whole step overshoots where the data are all but told apart
        if reached - now < _LEAST_GAIN:
            break
        found, reached = found - step, now
    return found / spread


def rising(scores: Floats, truth: NDArray[np.bool_], weight: Floats) -> tuple[tuple[float, float], ...]:
    """The curve that rises with the score and lies nearest to the truth, by pooling neighbours that fall.

    Its points are the middles of the pooled stretches, at most `POINTS`, and one at each end, half as far from
    certainty as the stretch beside it: there too more score is more chance. None says 0 or 1.
    """
    order = np.argsort(scores, kind="stable")
    held: list[list[float]] = []  # weight, sum of truth, sum of scores
    for part in np.array_split(order, min(POINTS, len(order))):
        held.append([weight[part].sum(), (weight * truth)[part].sum(), (weight * scores)[part].sum()])
        while len(held) > 1 and held[-2][1] / held[-2][0] >= held[-1][1] / held[-1][0]:
            last = held.pop()
            held[-1] = [a + b for a, b in zip(held[-1], last, strict=True)]
    points = [(s / w, min(max(t / w, 0.01), 0.99)) for w, t, s in held]
    apart = [point for n, point in enumerate(points) if not n or point[0] > points[n - 1][0] + _LEAST_STEP]
    lowest, highest = apart[0][1], apart[-1][1]
    ends = (-FARTHEST - _LEAST_STEP, lowest / 2), (FARTHEST + _LEAST_STEP, (1 + highest) / 2)
    return tuple((float(score), float(chance)) for score, chance in (ends[0], *apart, ends[1]))


def fitted(data: Table) -> Stack:
    """The stack of these pairs; the curve is fitted on scores of halves of the pages that the other half fitted."""
    weights = logistic(data.features, data.supported, data.weight, AS_LEXICAL)
    half = np.array([folds(f"half {page}", 2) for page in data.pages]) == 0
    scores = np.zeros(len(data.pages))
    for own in (half, ~half):
        scores[own] = np.clip(data.features[own] @ _or(data, ~own, weights), -FARTHEST, FARTHEST)
    curve = rising(scores, data.supported, np.ones_like(data.weight))
    plain = ~data.supported & ~data.vague
    mixed = data.contradicted[plain].any() and not data.contradicted[plain].all()
    against = (
        logistic(data.features[plain], data.contradicted[plain], data.weight[plain])
        if mixed
        else np.eye(1, len(FEATURES))[0] * -3.0
    )
    made = Stack(tuple(map(float, weights)), tuple(map(float, against)), curve, 0.5, 0.0, 0.5)
    level = best_level(np.array([made.probability(row) for row in data.features]), data)
    return Stack(made.support, made.contradiction, curve, level, UNSURE * level, 0.5)


def _or(data: Table, chosen: NDArray[np.bool_], otherwise: Floats) -> Floats:
    """The coefficients of the chosen rows; others where these are all alike."""
    part = data.of(chosen)
    if not part.supported.any() or part.supported.all():
        return otherwise
    return logistic(part.features, part.supported, part.weight, AS_LEXICAL)


def best_level(chances: Floats, data: Table) -> float:
    """The chance from which "supported" is right most often, both kinds counting alike, on the mean of the sources."""
    levels = np.arange(0.30, 0.71, 0.02)
    names = np.array(data.sources)
    means = []
    for level in levels:
        said, told = chances >= level, []
        for name in dict.fromkeys(data.sources):
            own = names == name
            yes, no = own & data.supported, own & ~data.supported
            if yes.any() and no.any():
                told.append((said[yes].mean() + (~said[no]).mean()) / 2)
        means.append(np.mean(told) if told else 0.0)
    return float(levels[int(np.argmax(means))])


# ---------------------------------------------------------------- the command


def cross_fitted(data: Table, k: int) -> Floats:
    """The chance of each pair by a stack that never saw its page."""
    fold = np.array([folds(page, k) for page in data.pages])
    chances = np.full(len(fold), np.nan)
    for n in range(k):
        own = fold == n
        if own.any():
            stack = fitted(data.of(~own & ~data.apart))
            chances[own] = [stack.probability(row) for row in data.features[own]]
    return chances


def report(data: Table, chances: Floats) -> None:
    """AUC of the lexical judge, the network and the stack, source by source and pooled; the stack's ECE."""
    print(f"{'source':40}{'n':>7}{'lexical':>9}{'network':>9}{'stack':>8}{'ECE':>7}")
    names = np.array(data.sources)
    network = data.features[:, FEATURES.index("model supported")]
    for name in (*dict.fromkeys(data.sources), None):
        own = names == name if name else np.ones(len(names), bool)
        truth = data.supported[own]
        if truth.any() and not truth.all():
            areas = [auc(each[own], truth) for each in (data.lexical, network, chances)]
            told = f"{areas[0]:9.3f}{areas[1]:9.3f}{areas[2]:8.3f}{ece(chances[own], truth):7.3f}"
            print(f"{name or 'pooled':40}{own.sum():7}{told}")


def read_scores(runs: Sequence[Path]) -> dict[str, Shares]:
    """What the runs say; of a pair that several held out, the mean."""
    found: dict[str, list[list[float]]] = defaultdict(list)
    for run in runs:
        with (run / "scores.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                found[row["id"]].append(row["shares"])
    return {name: Shares(*np.mean(shares, axis=0).tolist()) for name, shares in found.items()}


def main(arguments: Sequence[str]) -> None:
    """Fits a stack, and prints how it does beside its parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--scores", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--cross", type=Path, help="a file for the cross-fitted chances")
    chosen = parser.parse_args(arguments)
    data = table(pairs.entries(chosen.pairs), read_scores(chosen.scores))
    chances = cross_fitted(data, chosen.folds)
    report(data, chances)
    if chosen.cross is not None:
        rows = zip(data.ids, chances.tolist(), strict=True)
        chosen.cross.write_text("".join(json.dumps({"id": id, "score": chance}) + "\n" for id, chance in rows), "utf-8")
    stack = fitted(data.of(~data.apart))
    stack.write(chosen.out)
    print(f"{chosen.out}: supported from {stack.supported:.2f}, unsure from {stack.unsure:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
