"""Every method on the same questions, in simulation: the writer with set faults, and the embedded writer.

    python benchmarks/methods.py [--each 50] [--seeds 3] [--rates 0,0.15,0.3,0.5] [--json FILE]
    python benchmarks/methods.py --each 5 --seeds 1     a small run, to see whether all stands

Questions of `pool_questions` dev, `--each` of every kind (short, long with gold passages, multihop, unanswerable), over
a BM25 index of `pool_corpus`, judged by the lexical judge where a method judges. Two things were decided before any
figure was seen: all questions are asked in style `long`, whatever their kind, because the table is about claims and
their citations, and `long` is what a person gets who names no style; and `--unsupported flag` stands for all rows, so
that no method but `best`, which is made so, is helped by leaving out what its own judge doubts. Everything is scored by
`scoring.py` against what the simulation knows. No figure here is of a language model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from time import perf_counter
from typing import Any

from gold import KINDS, Question, questions
from headings import heading
from intervals import difference, interval
from lines import FAULTY_RATE, MEASURES, Line, base_of, between, part_of
from simulation import POLICY, STYLE, Row, kit, pool_index, run, writers
from wanted import compare

from simulations.chance import ChanceJudge, ChanceWriter
from toulmin.driver.kit import Kit
from toulmin.extractive.writer import Extractive

ROWS = (
    Row("closed", "closed"),
    Row("closed, attributed", "closed", {"attribute": True}),
    Row("vanilla", "vanilla"),
    Row("vanilla, k doubled", "vanilla", {"k": 10}),
    Row("summ", "summ"),
    Row("snippet", "snippet"),
    Row("rerank", "rerank"),
    Row("usc", "usc"),
    Row("self-refine", "self-refine"),
    Row("calm", "calm"),
    Row("calm, all cited", "calm", {"carry": "all_cited"}),
    Row("calm, set on train", "calm", {"carry": "all_cited", "pool": 10}),  # by training/calm_settings.py
    Row("vtg, not verified", "vtg", {"verify": False}),
    Row("vtg", "vtg"),
    Row("plan A", "plan"),
    Row("plan B", "plan", {"variant": "B"}),
    Row("a2r, K=0", "a2r", {"max_rounds": 0}),
    Row("a2r, K=1", "a2r", {"max_rounds": 1}),
    Row("a2r, K=2", "a2r"),
    Row("self-rag", "self-rag"),
    Row("best", "best"),
)
QUESTION_SEED = 3


@dataclass(frozen=True)
class Setup:
    """What the questions are run with, and which rows."""

    part: str
    kits: tuple[Kit, ...]
    rows: tuple[Row, ...]


def setups(asked: Sequence[Question], retriever: Any, rates: Sequence[float], seeds: int) -> Iterator[Setup]:
    """All parts of the table, in order."""

    def faulty(rate: float, **parts: Any) -> tuple[Kit, ...]:
        return tuple(
            kit(retriever, {**writers(asked, rate, seed), **parts.get("models", {})}, parts.get("judge"))
            for seed in range(seeds)
        )

    for rate in rates:
        yield Setup(f"faults at {rate:.0%}", faulty(rate), ROWS)
    if FAULTY_RATE in rates:
        judging = rows_named("rerank", "vtg", "a2r, K=2", "best")
        contrasting = rows_named("calm", "calm, all cited", "calm, set on train")
        yield Setup("chance judge", faulty(FAULTY_RATE, judge=ChanceJudge()), judging)
        yield Setup("chance verifier", faulty(FAULTY_RATE, models={"verifier": ChanceWriter()}), contrasting)
        far = ChanceWriter(elsewhere=[hit.passage for q in asked for hit in retriever.search([q.text], 5)[0]])
        yield Setup("chance verifier, words from elsewhere", faulty(FAULTY_RATE, models={"verifier": far}), contrasting)
    yield Setup("embedded writer", (kit(retriever, {"main": Extractive()}),), ROWS)


def rows_named(*names: str) -> tuple[Row, ...]:
    return tuple(row for row in ROWS if row.name in names)


def measure(setup: Setup, asked: Sequence[Question]) -> list[Line]:
    runs = [run(parts, asked, setup.rows) for parts in setup.kits]
    return [Line(setup.part, row, tuple(seeds)) for row, *seeds in zip(setup.rows, *runs, strict=True)]


# ---------------------------------------------------------------- the table

HEAD = (
    f"{'method':<19}{'rec.':>6}{'prec.':>6}{'F1':>6}  {'95 %':<11}{'gain':>6}  {'95 %':<13}{'corr.':>5}{'claims':>7}"
    f"{'abst.':>6}{'main':>6}{'ver.':>5}{'tokens':>7}{'pairs':>6}"
)


def show(lines: Sequence[Line], base: Line) -> None:
    print(f"\n{lines[0].part}\n{HEAD}")
    for line in lines:
        mean = {name: fmean(line.of(name)) for name in MEASURES}
        score, gain = interval(line.of("F1")), difference(line.of("F1"), base.of("F1"))
        print(
            f"{line.row.name:<19}{100 * mean['recall']:>6.1f}{100 * mean['precision']:>6.1f}{100 * score.mean:>6.1f}"
            f"  {between(score):<11}{100 * gain.mean:>+6.1f}  {between(gain, '+'):<13}{100 * mean['correct']:>5.1f}"
            f"{mean['claims']:>7.2f}{100 * mean['abstained']:>6.1f}{mean['main']:>6.2f}{mean['verifier']:>5.2f}"
            f"{mean['tokens']:>7.0f}{mean['pairs']:>6.1f}"
        )


def show_kinds(lines: Sequence[Line], asked: Sequence[Question]) -> None:
    """Citation F1 and correctness by kind of question."""
    kinds = [kind for kind in KINDS if any(question.kind == kind for question in asked)]
    print(f"\n{lines[0].part}, F1 / correct by kind\n{'method':<20}" + "".join(f"{kind:>16}" for kind in kinds))
    for line in lines:
        cells = [
            f"{of_kind(line, 'F1', kind, asked):>8.1f} /{of_kind(line, 'correct', kind, asked):>6.1f}" for kind in kinds
        ]
        print(f"{line.row.name:<20}" + "".join(cells))


def of_kind(line: Line, measure: str, kind: str, asked: Sequence[Question]) -> float:
    """The mean in percent over the questions of one kind."""
    return 100 * fmean(v for v, question in zip(line.of(measure), asked, strict=True) if question.kind == kind)


# ---------------------------------------------------------------- main


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", "--limit", type=int, default=50, help="questions of every kind")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--rates", default="0,0.15,0.3,0.5", type=lambda text: [float(part) for part in text.split(",")]
    )
    return parser.parse_args()


def settings(options: argparse.Namespace, count: int) -> str:
    """What the figures were made with, and what they are."""
    return (
        f"SIMULATION, no language model. {count} questions of {options.split}, style {STYLE}, --unsupported {POLICY},\n"
        f"{options.seeds} seeds; rec., prec., F1, corr., abst. of 100; gain: F1 beyond vanilla's, by question;\n"
        "intervals over questions; claims, calls of main and verifier model, tokens and judge pairs are means."
    )


def main() -> None:
    options = arguments()
    started = perf_counter()
    asked = questions(options.split, options.each, QUESTION_SEED)
    print(heading("methods.py", settings(options, len(asked))))
    table: dict[str, dict[str, Line]] = {}
    with pool_index() as retriever:
        for setup in setups(asked, retriever, options.rates, options.seeds):
            lines = measure(setup, asked)
            table[setup.part] = {line.row.name: line for line in lines}
            show(lines, base_of(table, setup.part))
            if setup.part == part_of(FAULTY_RATE):
                show_kinds(lines, asked)
            sys.stdout.flush()
    print("\nwanted" + " " * 72 + "gain")
    print("\n".join(compare(table)))
    failed = sum(
        score.failed for lines in table.values() for line in lines.values() for r in line.runs for score in r.scores
    )
    print(f"\nfailed answers: {failed}; {perf_counter() - started:.0f} s\n```")


if __name__ == "__main__":
    main()
