"""Fit the stack: model and lexical measures to a calibrated probability, by folds of pages.

    python training/stack.py --pairs DIR --scores RUN0 RUN1 ... --out stack.json [--folds 5] [--cross FILE]

`scores.jsonl` of each run holds the scores of a network for pairs whose pages it never saw (`training/judge.py`, one
run a fold for a cross-fitting, or one run with the dev split held out). Every figure printed is cross-fitted: the
regression and the curve that judge a pair never saw its page either. The stack that is written is fitted on all of
them. What stands apart among the pairs is judged and never fitted on. `--cross` writes the verdict of the whole judge
on each pair, rules and objections included, with a network and a stack that never saw its page, for `--scores` of
`benchmarks/judge_table.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pairs
from claims.pair import APART, folds
from figures import auc, ece
from judge import denial_id
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier

from toulmin.judges.embedded import (
    FARTHEST,
    MEASURES,
    TERMS,
    EmbeddedJudge,
    Node,
    Stack,
    Trees,
    clamp,
    denial_of,
    measures,
    terms,
)
from toulmin.judges.lexical import Lexical
from toulmin.judges.trained import OUTCOMES, Excerpt, NetworkVerdict, Shares, excerpts
from toulmin.runtime.windows import hypothesis
from toulmin.steps import Pair

Floats = NDArray[np.float64]
RIDGE = 1e-2
EVENED = 0.5  # 0 lets every pair count alike, 1 every source and side
# What people and models wrote of their own accord, and how much more it counts than claims made to deceive.
NATURAL = {"AttributionBench", "BEGIN", "FActScore", "Q2", "WiCE"}
NATURALLY = 4.0
RATE = 0.1
GROWN: dict[str, Any] = {
    "n_estimators": 60,
    "learning_rate": RATE,
    "max_depth": None,
    "max_leaf_nodes": 8,
    "min_samples_leaf": 40,
    "subsample": 0.5,
    "random_state": 0,
}
ROUNDS = 50
POINTS = 40  # of the curve, at most
LEVELS = np.arange(0.30, 0.86, 0.01).round(2)  # of the chance from which a claim is supported
# The least chance of a contradiction that is called one: below it twice as many true claims are (FEVER, FoolMeTwice).
CAREFUL = 0.6
PROMISED = 0.85  # share of the natural claims called supported that are
LEAST_RECALL = 0.72  # share of the supported natural claims that are called so
CONFLICTS = np.arange(0.20, 0.96, 0.01).round(2)  # of the probability from which a claim may be contradicted
AT_FIRST_SIGHT = 0.5  # of the second regression alone, whatever the support
KEPT = 0.92  # share of the refuted claims called so at first sight that must stay; some lack a sentence to quote
UNSURE = 0.75  # share of the `supported` threshold from which a claim is unsure
AS_LEXICAL = np.eye(len(TERMS))[TERMS.index("lexical")]  # few pairs leave the stack near the lexical judge
_LEAST_GAIN = 1e-12
_ALIKE = 1e-9  # a feature that varies less is a constant, but for rounding
_LEAST_STEP = 1e-6  # between two scores of the curve


EXCERPT = 100  # words that the network reads of claim and premises together, about

Names = NDArray[np.str_]


class Table(NamedTuple):
    """Measures, one row a pair; whether it is supported, contradicted, vague, apart; lexical support; what it is."""

    measures: Floats
    supported: NDArray[np.bool_]
    contradicted: NDArray[np.bool_]
    vague: NDArray[np.bool_]
    apart: NDArray[np.bool_]
    lexical: Floats
    ids: Names
    sources: Names
    pages: Names

    def of(self, chosen: NDArray[np.bool_]) -> Table:
        """The chosen rows."""
        columns: list[Any] = [column[chosen] for column in self]
        return Table(*columns)

    @property
    def terms(self) -> Floats:
        """What the regressions weigh, one row a pair."""
        return np.array([terms(row) for row in self.measures])


def table(entries: Sequence[pairs.Entry], scores: Mapping[str, Shares]) -> Table:
    """Every entry that was scored."""
    judge, scored = Lexical(), [entry for entry in entries if entry.id in scores]
    rows, lexical = [], []
    for entry in scored:
        pair = pairs.pair(entry)
        measured, gate = judge.features(pair)
        rows.append(measures(scores[entry.id], measured, gate, pair))
        lexical.append(judge.judge([pair])[0].support)
    label = np.array([entry.label for entry in scored])
    return Table(
        np.array(rows),
        label == OUTCOMES.index("supported"),
        label == OUTCOMES.index("contradicted"),
        np.array([entry.is_vague for entry in scored]),
        np.array([entry.split == APART for entry in scored]),
        np.array(lexical),
        *(np.array([getattr(entry, field) for entry in scored]) for field in ("id", "source", "page")),
    )


def weights(data: Table, evened: float = EVENED) -> Floats:
    """What each pair counts: less where its side of its source has many, more where it is natural; 1 on average."""
    sides = Counter(zip(data.sources, data.supported, strict=True))
    natural = np.isin([source.partition("/")[0] for source in data.sources], sorted(NATURAL))
    even = [sides[side] ** -evened for side in zip(data.sources, data.supported, strict=True)]
    weight: Floats = np.array(even) * np.where(natural, NATURALLY, 1.0)
    return weight / float(weight.mean())


def telling(data: Table) -> Table:
    """The pairs of sources that have both kinds: the others would teach how they look, not whether they are true."""
    rows = np.zeros(len(data.pages), bool)
    for source in np.unique(data.sources):
        of_source = data.sources == source
        rows |= of_source & (len(np.unique(data.supported[of_source])) == 2)
    return data.of(rows) if rows.any() else data


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

    beta, reached = start, loss(start)
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(scaled @ beta, -FARTHEST, FARTHEST)))
        bend = (scaled.T * (weight * chance * (1 - chance))) @ scaled + penalty
        step = np.linalg.solve(bend, scaled.T @ (weight * (chance - y)) + penalty @ (beta - start))
        while (now := loss(beta - step)) > reached and np.abs(step).max() > _LEAST_STEP:
            step = step / 2  # a whole step overshoots where the data are all but told apart
        if reached - now < _LEAST_GAIN:
            break
        beta, reached = beta - step, now
    return beta / spread


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


def grown(data: Table) -> Trees:
    """Boosted trees over the measures, in our form."""
    weight = weights(data)
    model = GradientBoostingClassifier(**GROWN)
    model.fit(data.measures, data.supported, sample_weight=weight)
    share = np.average(data.supported, weights=weight)
    return Trees(float(np.log(share / (1 - share))), tuple(map(_nodes, model.estimators_[:, 0])))


def _nodes(estimator: Any) -> tuple[Node, ...]:
    """A tree of scikit-learn, which marks a leaf by children of -1."""
    tree = estimator.tree_
    rows = zip(tree.feature, tree.threshold, tree.children_left, tree.children_right, tree.value[:, 0, 0], strict=True)
    return tuple(
        Node(0, 0.0, 0, 0, RATE * float(value))
        if left < 0
        else Node(int(measure), float(level), int(left), int(right), 0.0)
        for measure, level, left, right, value in rows
    )


class Ranking(NamedTuple):
    """Regression and trees, whose sum ranks claims."""

    support: Floats
    trees: Trees

    def scores(self, data: Table) -> Floats:
        """One score a row, as `Stack.score` has it."""
        regressed = data.terms @ self.support
        grown = [self.trees.score(row) for row in data.measures]
        return np.array([clamp(score) for score in regressed + np.array(grown)])


def ranking(data: Table) -> Ranking:
    """Fitted on these pairs; on pairs that are all alike, the lexical judge's score."""
    if not data.supported.any() or data.supported.all():
        return Ranking(AS_LEXICAL, Trees(0.0, ()))
    support = logistic(data.terms, data.supported, weights(data), AS_LEXICAL)
    return Ranking(support, grown(data))


def fit_stack(data: Table) -> Stack:
    """The stack of these pairs; the curve is fitted on scores of halves of the pages that the other half fitted."""
    data = telling(data)
    half = np.array([folds(f"half {page}", 2) for page in data.pages]) == 0
    scores, against = np.zeros(len(data.pages)), np.zeros(len(data.pages))
    for part in (half, ~half):
        if part.any():
            scores[part] = ranking(data.of(~part)).scores(data.of(part))
            against[part] = chances_against(data.of(part), opposition(data.of(~part)))
    curve = rising(scores, data.supported, np.ones(len(scores)))
    made = ranking(data)
    scored, heights = zip(*curve, strict=True)
    chances = np.interp(scores, scored, heights)
    level = level_of_promise(chances, data)
    conflict = max(CAREFUL, conflict_level(chances, against, data, UNSURE * level))
    support, contradiction = tuple(map(float, made.support)), tuple(map(float, opposition(data)))
    return Stack(support, contradiction, made.trees, curve, level, UNSURE * level, conflict)


def opposition(data: Table) -> Floats:
    """The regression that tells contradicted claims from those that are only unsupported."""
    plain = data.of(~data.supported & ~data.vague)
    mixed = plain.contradicted.any() and not plain.contradicted.all()
    return logistic(plain.terms, plain.contradicted, weights(plain)) if mixed else np.eye(1, len(TERMS))[0] * -3.0


def chances_against(data: Table, regression: Floats) -> Floats:
    """As the judge has them: 1 where the gate shows what the source says instead."""
    chances = 1 / (1 + np.exp(-np.clip(data.terms @ regression, -FARTHEST, FARTHEST)))
    return np.where(data.measures[:, MEASURES.index("contradicted")] > 0, 1.0, chances)


def conflict_level(chances: Floats, against: Floats, data: Table, unsure: float) -> float:
    """The greatest probability of contradiction from which `KEPT` of the refuted claims found so far still are.

    So far means by the second regression alone, which says it of true claims too; with the support in the product fewer
    of those remain. Counts sets that have supported and contradicted claims, all alike.
    """
    sets = np.array([source.partition("/")[0] for source in data.sources])
    low = chances < unsure
    seen = low & (against >= AT_FIRST_SIGHT)
    refuted = [data.contradicted & (sets == name) for name in np.unique(sets[data.supported])]
    refuted = [rows for rows in refuted if (rows & seen).any()]
    product = (1 - chances) * against

    def share_kept(level: float) -> float:
        called = low & ((against == 1.0) | (product >= level))
        return float(np.mean([(called & rows).sum() / (seen & rows).sum() for rows in refuted]))

    return max((float(level) for level in CONFLICTS if refuted and share_kept(level) >= KEPT), default=AT_FIRST_SIGHT)


def level_of_promise(chances: Floats, data: Table) -> float:
    """The least chance from which `PROMISED` of what is called supported is so, on natural claims, every set alike.

    Never so high that less than `LEAST_RECALL` of what is supported is called so. Without natural claims all count.
    """
    sets = np.array([source.partition("/")[0] for source in data.sources])
    natural = np.isin(sets, sorted(NATURAL))
    names = np.unique(sets[natural] if natural.any() else sets)
    rows = [(chances[sets == name], data.supported[sets == name]) for name in names]
    best = float(LEVELS[0])
    for level in map(float, LEVELS):
        precision = np.mean([truth[says >= level].mean() if (says >= level).any() else 1.0 for says, truth in rows])
        recall = np.mean([(says[truth] >= level).mean() if truth.any() else 1.0 for says, truth in rows])
        if recall < LEAST_RECALL:
            break
        best = level
        if precision >= PROMISED:
            break
    return best


# ---------------------------------------------------------------- the command

Folds = list[tuple[NDArray[np.bool_], Stack]]  # which pairs are of a fold, and a stack that never saw their pages


def cross_fitted(data: Table, k: int) -> Folds:
    """A stack for each fold of the pages."""
    fold = np.array([folds(page, k) for page in data.pages])
    rows = [fold == n for n in range(k) if (fold == n).any()]
    return [(part, fit_stack(data.of(~part & ~data.apart))) for part in rows]


def cross_chances(data: Table, made: Folds) -> Floats:
    """The chance of each pair, by the stack of its fold."""
    chances = np.full(len(data.pages), np.nan)
    for part, stack in made:
        chances[part] = [stack.probability(row) for row in data.measures[part]]
    return chances


class ReplayNetwork:
    """A network that says again what it said of `pairs`, in their order."""

    name = key = "cross"

    def __init__(self, shares: Mapping[Pair, Shares]) -> None:
        self._shares = shares

    def shares(self, pairs: Sequence[Pair]) -> list[NetworkVerdict]:
        """Raises KeyError for a pair of which nothing is recorded."""
        return [NetworkVerdict(self._shares[pair], _excerpt(pair)) for pair in pairs]


def _excerpt(pair: Pair) -> Excerpt:
    """Nearly what the network read: only what is quoted of it counts here."""
    claim = hypothesis(pair)
    return excerpts(claim, pair.premises, EXCERPT - len(claim.split()), lambda text: len(text.split()), 1)[0]


def cross_verdicts(
    entries: Mapping[str, pairs.Entry], scores: Mapping[str, Shares], data: Table, made: Folds
) -> Iterator[dict[str, Any]]:
    """What the whole judge says of each pair, with the network that held it out and the stack of its fold."""
    for part, stack in made:
        for id in data.ids[part].tolist():
            pair = pairs.pair(entries[id])
            shares = {pair: scores[id]}
            if denial := denial_of(pair):
                shares[replace(pair, claim=denial.positive)] = scores[denial_id(id)]
            (verdict,) = EmbeddedJudge(ReplayNetwork(shares), stack).judge([pair])
            yield {"id": id, "score": verdict.support, "label": verdict.label}


def report(data: Table, chances: Floats) -> None:
    """AUC of the lexical judge, the network and the stack, source by source and pooled; the stack's ECE."""
    print(f"{'source':40}{'n':>7}{'lexical':>9}{'network':>9}{'stack':>8}{'ECE':>7}")
    network = data.measures[:, MEASURES.index("model supported")]
    for name in (*np.unique(data.sources), None):
        rows = data.sources == name if name else np.ones(len(data.sources), bool)
        truth = data.supported[rows]
        if truth.any() and not truth.all():
            areas = [auc(each[rows], truth) for each in (data.lexical, network, chances)]
            figures = f"{areas[0]:9.3f}{areas[1]:9.3f}{areas[2]:8.3f}{ece(chances[rows], truth):7.3f}"
            print(f"{name or 'pooled':40}{rows.sum():7}{figures}")


def read_scores(runs: Sequence[Path]) -> dict[str, Shares]:
    """What the runs say; of a pair that several held out, the mean."""
    by_pair: dict[str, list[list[float]]] = defaultdict(list)
    for run in runs:
        with (run / "scores.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                by_pair[row["id"]].append(row["shares"])
    return {name: Shares(*np.mean(shares, axis=0).tolist()) for name, shares in by_pair.items()}


def main(arguments: Sequence[str]) -> None:
    """Fits a stack, and prints how it does beside its parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--scores", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--cross", type=Path, help="a file for the cross-fitted chances")
    chosen = parser.parse_args(arguments)
    entries, scores = pairs.entries(chosen.pairs), read_scores(chosen.scores)
    data = table(entries, scores)
    made = cross_fitted(data, chosen.folds)
    report(data, cross_chances(data, made))
    if chosen.cross is not None:
        lines = cross_verdicts({entry.id: entry for entry in entries}, scores, data, made)
        chosen.cross.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    stack = fit_stack(data.of(~data.apart))
    stack.write(chosen.out)
    print(
        f"{chosen.out}: supported from {stack.supported:.2f}, unsure from {stack.unsure:.2f}"
        f", contradicted from {stack.contradicted:.2f}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
