"""What more trials and corrections bring, in simulation, with faults at 30 %; drawn as SVG and printed.

    python benchmarks/curves.py [--each 50] [--seeds 3] [--into docs/figures]

* VTG over T, the most trials of a claim (0 to 5), beside its Table 4: with the mean number of trials a claim took.
* CaLM over the number of corrections (0 to 6), beside its Figure 4; carrying on what kept claims cite (the text of its
  section 4) and what the whole candidate cited (its Figure 6).
* CaLM over the verifier's own rate of faults, the main model's held at 30 %: what the contrast rests on. With the
  shares of right and of faulty first candidates that the verifier accepts; right ones are those of which every claim is
  borne out by a passage that the candidate cites.

Questions, writers, judge and scoring are those of `methods.py`. No figure here is of a language model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from gold import Question, questions
from intervals import Interval, interval
from lines import FAULTY_RATE
from methods import QUESTION_SEED
from plotting import Curve, Panel, draw
from scoring import share
from simulation import INDEPENDENT, Row, Run, by_question, facts_by_question, kit, pool_index, run, writers

from simulations.faulty import Faulty
from simulations.truth import supports
from toulmin.methods.vtg import trials

TRIALS = range(6)
CORRECTIONS = range(7)
VERIFIER_RATES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
ALL_CITED = {"carry": "all_cited"}


@dataclass(frozen=True)
class Point:
    """A setting with what it was worth."""

    x: float
    f1: Interval
    correct: Interval
    calls: float
    trials: float
    accepted: Accepted


@dataclass(frozen=True)
class Accepted:
    """The shares of right and of faulty first candidates that CaLM's verifier accepts; None where it saw none."""

    right: float | None
    faulty: float | None


def accepted(runs: Sequence[Run], asked: Sequence[Question]) -> Accepted:
    found: dict[bool, list[bool]] = {True: [], False: []}
    for one in runs:
        for question, answer in zip(asked, one.answers, strict=True):
            first = [step for step in answer.rounds if step.n == 1]
            claims = [text for step in first if step.kind == "draft" for text in step.kept]
            for contrast in [step for step in first if step.kind == "contrast" and step.read]:
                read = [passage for passage in answer.passages if passage.id in contrast.read]
                right = all(any(supports(p, text, question.facts) for p in read) for text in claims)
                found[right].append(bool(contrast.chosen))
    return Accepted(*(share(found[kind]) if found[kind] else None for kind in (True, False)))


def point(x: float, runs: Sequence[Run], asked: Sequence[Question]) -> Point:
    taken = [count for one in runs for answer in one.answers for count in trials(answer)]
    return Point(
        x,
        interval(by_question(runs, lambda s: s.f1)),
        interval(by_question(runs, lambda s: s.correctness)),
        fmean(by_question(runs, lambda s: sum(s.calls.values()))),
        fmean(taken) if taken else 0.0,
        accepted(runs, asked),
    )


class Study:
    """The questions, and rows run over them once for each seed."""

    def __init__(self, retriever: Any, asked: Sequence[Question], seeds: int) -> None:
        self._retriever, self._asked, self._seeds = retriever, asked, seeds

    def points(self, rows: Sequence[Row], xs: Sequence[float]) -> list[Point]:
        """One point a row, at its x."""
        return self._points(rows, xs, lambda seed: writers(self._asked, FAULTY_RATE, seed))

    def verifier_points(self, row: Row) -> list[Point]:
        """The row under verifiers of other rates."""
        return [self._points([row], [rate], self._with_verifier(rate))[0] for rate in VERIFIER_RATES]

    def _with_verifier(self, rate: float) -> Callable[[int], dict[str, Any]]:
        facts = facts_by_question(self._asked)

        def models(seed: int) -> dict[str, Any]:
            verifier = Faulty(facts, rate, seed + INDEPENDENT, small=True)
            return {**writers(self._asked, FAULTY_RATE, seed), "verifier": verifier}

        return models

    def _points(self, rows: Sequence[Row], xs: Sequence[float], models: Callable[[int], dict[str, Any]]) -> list[Point]:
        runs = [run(kit(self._retriever, models(s)), self._asked, rows, keep=True) for s in range(self._seeds)]
        return [point(x, of_row, self._asked) for x, *of_row in zip(xs, *runs, strict=True)]


# ---------------------------------------------------------------- what is printed and drawn


def show(title: str, x: str, found: Sequence[Point]) -> None:
    is_vtg = any(p.trials > 1 for p in found)
    more = f"{'trials a claim':>16}" if is_vtg else f"{'accepted: right':>17}{'faulty':>8}"
    print(f"\n{title}\n{x:>16}{'F1':>8}  {'95 %':<13}{'correct':>8}{'calls':>8}{more}")
    for p in found:
        between = f"{100 * p.f1.low:.1f}..{100 * p.f1.high:.1f}"
        shares = (p.accepted.right, p.accepted.faulty)
        right, faulty = ("-" if value is None else f"{value:.2f}" for value in shares)
        told = f"{p.trials:>16.2f}" if is_vtg else f"{right:>17}{faulty:>8}"
        print(f"{p.x:>16g}{100 * p.f1.mean:>8.1f}  {between:<13}{100 * p.correct.mean:>8.1f}{p.calls:>8.2f}{told}")


def curves(found: Sequence[Point], name: str = "") -> Iterator[Curve]:
    xs = [p.x for p in found]
    yield Curve(f"citation F1{name}", xs, [p.f1 for p in found])
    yield Curve(f"correctness{name}", xs, [p.correct for p in found])


def vtg_over_trials(study: Study, into: Path, vanilla: Point) -> None:
    found = study.points([Row(f"T={t}", "vtg", {"max_trials": t}) for t in TRIALS], list(TRIALS))
    show("VTG over the most trials T", "T", found)
    panel = Panel("VTG", "most trials T", "of 100", vanilla.f1.mean)
    draw(into / "vtg_trials.svg", panel, list(curves(found)))


def calm_over_corrections(study: Study, into: Path, vanilla: Point) -> None:
    drawn: list[Curve] = []
    for name, options in (("", {}), (", all cited carried", ALL_CITED)):
        rows = [Row(f"{n}", "calm", {"corrections": n, **options}) for n in CORRECTIONS]
        found = study.points(rows, list(CORRECTIONS))
        show(f"CaLM over the number of corrections{name}", "corrections", found)
        drawn += curves(found, name)
    draw(into / "calm_corrections.svg", Panel("CaLM", "corrections", "of 100", vanilla.f1.mean), drawn)


def calm_over_verifiers(study: Study, into: Path, vanilla: Point) -> None:
    drawn: list[Curve] = []
    for name, options in (("", {}), (", all cited carried", ALL_CITED)):
        found = study.verifier_points(Row("calm", "calm", options))
        show(f"CaLM over the verifier's own rate of faults{name}", "verifier's rate", found)
        drawn.append(next(curves(found, name)))
    panel = Panel("CaLM", "the verifier's own rate of faults", "of 100", vanilla.f1.mean)
    draw(into / "calm_verifier.svg", panel, drawn)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=50, help="questions of every kind")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--into", type=Path, default=Path("docs/figures"))
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    asked = questions(options.split, options.each, QUESTION_SEED)
    print("## `" + " ".join(["python", "benchmarks/curves.py", *sys.argv[1:]]) + "`\n\n```text")
    print(f"SIMULATION, no language model. {len(asked)} questions of {options.split}, {options.seeds} seeds.")
    with pool_index() as retriever:
        study = Study(retriever, asked, options.seeds)
        (vanilla,) = study.points([Row("vanilla", "vanilla")], [0])
        print(f"vanilla: F1 {100 * vanilla.f1.mean:.1f}, correct {100 * vanilla.correct.mean:.1f}")
        vtg_over_trials(study, options.into, vanilla)
        calm_over_corrections(study, options.into, vanilla)
        calm_over_verifiers(study, options.into, vanilla)
    print("```")


if __name__ == "__main__":
    main()
