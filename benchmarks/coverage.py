"""Whether the intervals of a paired comparison hold the truth, and how often equal runs look different.

    python benchmarks/coverage.py                       200 comparisons a line, in a minute
    python benchmarks/coverage.py --comparisons 2000    the same with less chance in the figures

Simulation: questions are drawn from a population whose truth is known (the same metrics over 200,000 questions). A
question is harder or easier for both runs, and each run has its own luck with it, so the runs are correlated as real
ones are. Values are what real ones look like: right or wrong, shares of one to five statements, a micro average of
their counts, the harmonic mean of two metrics; one question in twenty does not count. Wanted: 92 to 98 % of the
intervals hold the truth, 2 to 9 % of the pairs without a difference are called real at a probability of 0.95. A line of
200 falls out of that by chance alone about once in twenty; with 2000 none should.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from headings import heading

from toulmin.evaluation.significance import Difference, Table, compare_tables
from toulmin.metrics.answered import Column, DerivedMetric, harmonic

POPULATION = 200_000
SETTINGS = ((40, 1), (100, 1), (100, 3), (300, 1))  # questions, seeds a run
EFFECT = 0.4  # log-odds by which the second run is better, where it is
METRICS = ("em", "citation_rec", "citation_prec", "micro", "citation_f1")
ALARM = 0.95
SEED = 20


@dataclass(frozen=True)
class Outcome:
    """Of a number of comparisons, the shares in which the interval holds the truth and equal runs look different."""

    coverage: float
    alarms: float


def runs(generator: np.random.Generator, n: int, seeds: int, effect: float) -> tuple[Table, Table]:
    """Two runs over the same n questions; `effect` is how much better the second is, in log-odds of each statement."""
    hardness = generator.normal(size=n)
    return tuple(_run(generator, hardness, seeds, shift) for shift in (0.0, effect))  # type: ignore[return-value]


def _run(generator: np.random.Generator, hardness: np.ndarray, seeds: int, shift: float) -> Table:
    n = len(hardness)
    luck = hardness + generator.normal(scale=0.7, size=n) + shift
    chances = np.tile(1 / (1 + np.exp(-luck - 0.5)), seeds)
    statements = generator.integers(1, 6, size=n * seeds)
    citations = generator.integers(1, 9, size=n * seeds)
    supported = generator.binomial(statements, chances)
    needed = generator.binomial(citations, chances)
    counts = generator.random(n * seeds) >= 0.05
    ids = tuple(f"{i:06}" for _ in range(seeds) for i in range(n))
    columns = (
        _column("em", generator.random(n * seeds) < chances, counts),
        _column("citation_rec", supported / statements, counts),
        _column("citation_prec", needed / citations, counts),
        _column("micro", supported, counts, tuple(statements.astype(float).tolist())),
    )
    return Table(ids, columns, (DerivedMetric("citation_f1", ("citation_rec", "citation_prec"), harmonic),))


def _column(name: str, values: np.ndarray, counts: np.ndarray, weights: tuple[float, ...] | None = None) -> Column:
    rows = zip(values.astype(float).tolist(), counts.tolist(), strict=True)
    return Column(name, tuple(value if is_there else None for value, is_there in rows), weights)


def comparisons(
    seed: int, times: int, n: int, seeds: int, effect: float, resamples: int
) -> Iterator[dict[str, Difference]]:
    """As many simulated comparisons, each of other questions and other draws."""
    generator = np.random.default_rng(seed)
    for time in range(times):
        yield compare_tables(*runs(generator, n, seeds, effect), resamples=resamples, seed=time)


def truth(effect: float, questions: int = POPULATION) -> dict[str, float]:
    """The differences over the population."""
    first, other = runs(np.random.default_rng(0), questions, 1, effect)
    return {name: gap.difference or 0.0 for name, gap in compare_tables(first, other, resamples=1).items()}


def measure(seed: int, times: int, n: int, seeds: int, resamples: int, known: dict[str, float]) -> dict[str, Outcome]:
    """For each metric, how the intervals and the probabilities came out."""
    different = list(comparisons(seed, times, n, seeds, EFFECT, resamples))
    equal = list(comparisons(seed + 1, times, n, seeds, 0.0, resamples))
    return {
        name: Outcome(
            sum(_holds(row[name], known[name]) for row in different) / times,
            sum((row[name].probability or 0.0) >= ALARM for row in equal) / times,
        )
        for name in METRICS
    }


def _holds(difference: Difference, value: float) -> bool:
    return difference.low is not None and difference.high is not None and difference.low <= value <= difference.high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args()
    known = truth(EFFECT)
    settings = (
        f"Simulation: {asked.comparisons} comparisons a line and as many pairs without a difference, {asked.resamples}"
        f" resamples, seed {asked.seed}.\nTrue differences: "
        + ", ".join(f"{name} {gap:.2f}" for name, gap in known.items())
    )
    print(heading("coverage.py", settings))
    print(f"\n{'questions':>9}{'seeds':>6}  {'metric':15}{'interval holds the truth':>25}{'false alarms':>14}")
    for n, seeds in SETTINGS:
        outcomes = measure(asked.seed, asked.comparisons, n, seeds, asked.resamples, known)
        for name, outcome in outcomes.items():
            print(f"{n:9}{seeds:6}  {name:15}{outcome.coverage:25.1%}{outcome.alarms:14.1%}", flush=True)
    print("```")


if __name__ == "__main__":
    main()
