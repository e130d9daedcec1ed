"""Choose the settings of CaLM that the paper sets by hand, on the train split, in simulation.

    python training/calm_settings.py [--each 50] [--seeds 3] [--rate 0.3]

The paper chooses its threshold on a small set (sections 4 and 5.4) and does not give the depth of the pool; its Figure
6 carries all cited passages into the next round, its section 4 only those of kept claims. All of these are tried on
`pool_questions` train: short and multihop questions, and, since train has no unanswerable ones, short ones whose facts
the writers do not know. `benchmarks/methods.py` reports what was chosen here, on dev.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product
from pathlib import Path
from statistics import fmean

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from gold import Question, questions
from intervals import difference
from simulation import Row, Run, by_question, kit, pool_index, run, writers

QUESTION_SEED = 11
THRESHOLDS = (0.2, 0.35, 0.5)
POOLS = (5, 10, 20)
CARRIES = ("claims", "all_cited")


def questions_of_kinds(each: int) -> list[Question]:
    """`each` short, multihop and unanswerable questions."""
    drawn = questions("train", 2 * each, QUESTION_SEED)
    short = [question for question in drawn if question.kind == "short"]
    unknown = [Question(f"{q.id} unknown", q.text, "unanswerable", ()) for q in short[each:]]
    return short[:each] + [q for q in drawn if q.kind == "multihop"][:each] + unknown


def rows() -> list[Row]:
    tried = product(CARRIES, THRESHOLDS, POOLS)
    return [Row("vanilla", "vanilla")] + [
        Row(
            f"{carry}, above {threshold}, pool of {pool}",
            "calm",
            {"carry": carry, "threshold": threshold, "pool": pool},
        )
        for carry, threshold, pool in tried
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rate", type=float, default=0.3)
    options = parser.parse_args()
    matter = questions_of_kinds(options.each)
    runs: dict[str, list[Run]] = {row.name: [] for row in rows()}
    with pool_index() as retriever:
        for seed in range(options.seeds):
            for done in run(kit(retriever, writers(matter, options.rate, seed)), matter, rows()):
                runs[done.row.name].append(done)
    plain = by_question(runs["vanilla"], lambda score: score.f1)
    print(f"Simulation, train, {len(matter)} questions, {options.seeds} seeds, faults at {options.rate:.0%}\n")
    print("| CaLM | citation F1 | against vanilla (95 %) | correct | calls of the main model |\n|---|---|---|---|---|")
    for name, method_runs in runs.items():
        f1 = by_question(method_runs, lambda score: score.f1)
        gap = difference(f1, plain)
        correct = fmean(by_question(method_runs, lambda score: score.correctness))
        calls = fmean(by_question(method_runs, lambda score: score.calls.get("main", 0)))
        interval = f"{gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})"
        print(f"| {name} | {fmean(f1):.3f} | {interval} | {correct:.3f} | {calls:.2f} |")


if __name__ == "__main__":
    main()
