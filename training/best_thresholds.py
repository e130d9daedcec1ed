"""Choose the numbers of `best` on the train split, in simulation, beside the methods that it should beat.

    python training/best_thresholds.py [--each 50] [--seeds 2] [--rates 0,0.15,0.3,0.5]
    python training/best_thresholds.py --doubt [--cases 400]

The numbers of `best` are changed one at a time: passages read, rounds, whether the model writes the queries for failing
claims, how many passages each query returns, whether the verifier model is asked, and up to which score of the judge.
The questions are those of `calm_settings.py`: `pool_questions` train, short and multihop, and, since train has no
unanswerable ones, short ones whose facts the writers do not know. `benchmarks/methods.py` reports what was chosen here,
on dev.

The lexical judge is rarely unsure of what the simulated writers write, so the bounds between which the verifier is
asked come from claims that people judged: `--doubt` prints, by the judge's score, the share of claims that people call
supported (train splits of the sets of `benchmarks/judge_sets.py`; supported and unsupported claims weigh the same).
Where that share is near one half, a second opinion is worth a call.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import NamedTuple

from calm_settings import questions_of_kinds

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from intervals import Interval, difference
from judge_sets import SETS, Case, cases
from scoring import Score
from simulation import Row, Run, by_question, kit, pool_index, run, writers

from toulmin.judges.lexical import Lexical

CHOSEN = "best"
OTHERS = (
    Row("vanilla", "vanilla"),
    Row("vanilla, k doubled", "vanilla", {"k": 10}),
    Row("rerank", "rerank"),
    Row("a2r", "a2r"),
    Row("vtg", "vtg"),
)
TRIED = (
    Row(CHOSEN, "best"),
    Row("best, k 5", "best", {"k": 5}),
    Row("best, no round", "best", {"max_rounds": 0}),
    Row("best, 1 round", "best", {"max_rounds": 1}),
    Row("best, 2 rounds", "best", {"max_rounds": 2}),
    Row("best, 4 rounds", "best", {"max_rounds": 4}),
    Row("best, 1 a query", "best", {"per_query": 1}),
    Row("best, 4 a query", "best", {"per_query": 4}),
    Row("best, contrast to 0.65", "best", {"contrast": True}),
    Row("best, contrast to 0.8", "best", {"contrast": True, "doubt_to": 0.8}),
    Row("best, contrast to 1", "best", {"contrast": True, "doubt_to": 1.0}),
)
MEASURES: Mapping[str, Callable[[Score], float]] = {
    "F1": lambda score: score.f1,
    "correct": lambda score: score.correctness,
    "main": lambda score: score.calls.get("main", 0),
    "verifier": lambda score: score.calls.get("verifier", 0),
    "tokens": lambda score: score.tokens,
}
BEYOND = f"{'best beyond it':>23}"
HEAD = f"{'method':<24}{'F1':>6}{BEYOND}{'corr.':>8}{BEYOND}{'main':>7}{'ver.':>6}{'tokens':>8}"


def of(runs: Sequence[Run], measure: str) -> list[float]:
    """One value a question."""
    return by_question(runs, MEASURES[measure])


def show(rate: float, runs: Mapping[str, Sequence[Run]]) -> None:
    """A line a method; beside it how far `best` is beyond it, by question, with 95 % intervals; in points of 100."""
    print(f"\nfaults at {rate:.0%}\n{HEAD}")
    for name, method_runs in runs.items():
        mean = {measure: fmean(of(method_runs, measure)) for measure in MEASURES}
        f1, correct = (
            in_points(difference(of(runs[CHOSEN], measure), of(method_runs, measure))) for measure in ("F1", "correct")
        )
        print(
            f"{name:<24}{100 * mean['F1']:>6.1f}{f1:>23}{100 * mean['correct']:>8.1f}{correct:>23}"
            f"{mean['main']:>7.2f}{mean['verifier']:>6.2f}{mean['tokens']:>8.0f}",
            flush=True,
        )


def in_points(gap: Interval) -> str:
    return f"{100 * gap.mean:+.1f} ({100 * gap.low:+.1f}..{100 * gap.high:+.1f})"


def show_doubt(most: int) -> None:
    """Where the judge's score says least: the share of claims that people found supported, by twentieths."""
    scores = [scored for name in SETS for scored in judge_scores(cases(name, "train"), most)]
    print("score        claims  supported by people, of 100")
    for n in range(20):
        band = [each for each in scores if n / 20 <= each.score < (n + 1) / 20]
        if band:
            share = sum(each.weight for each in band if each.supported) / sum(each.weight for each in band)
            print(f"{n / 20:.2f}..{(n + 1) / 20:.2f}{len(band):>8}{100 * share:>8.0f}")


class JudgeScore(NamedTuple):
    """A judge's score, people's verdict, and what it counts."""

    score: float
    supported: bool
    weight: float


def judge_scores(held: Sequence[Case], most: int) -> list[JudgeScore]:
    """Cases of one set drawn by chance, without those that the judge calls contradicted: of these it is sure."""
    drawn = Random(1).sample(held, min(most, len(held)))
    counts = Counter(case.supported for case in drawn)
    verdicts = Lexical().judge([case.pair for case in drawn])
    return [
        JudgeScore(verdict.support, case.supported, 0.5 / counts[case.supported])
        for case, verdict in zip(drawn, verdicts, strict=True)
        if verdict.label != "contradicted"
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rates", default="0,0.15,0.3,0.5")
    parser.add_argument("--doubt", action="store_true")
    parser.add_argument("--cases", type=int, default=400)
    options = parser.parse_args()
    if options.doubt:
        show_doubt(options.cases)
        return
    matter = questions_of_kinds(options.each)
    print(f"Simulation, train, {len(matter)} questions, {options.seeds} seeds")
    with pool_index() as retriever:
        for rate in map(float, options.rates.split(",")):
            runs: dict[str, list[Run]] = {row.name: [] for row in (*OTHERS, *TRIED)}
            for seed in range(options.seeds):
                for done in run(kit(retriever, writers(matter, rate, seed)), matter, (*OTHERS, *TRIED)):
                    runs[done.row.name].append(done)
            show(rate, runs)


if __name__ == "__main__":
    main()
