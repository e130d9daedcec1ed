"""How far a judge agrees with TRUE, the 11B model that ALCE's claim recall rests on.

    python benchmarks/agreement.py                              the lexical judge
    python benchmarks/agreement.py --judge cross:FOLDER ...     others beside it, each as `toulmin --judge` names it

`alce_golden` holds TRUE's verdict on each claim of ELI5 against the answers of two systems, as ALCE recorded it: the
premise is the answer without its citations, the hypothesis one of the question's three gold claims. TRUE says "1"
seldom, so accuracy alone flatters a judge that always says no: balanced accuracy, Cohen's kappa (0 is chance, 1 is
agreement) and the AUC of its support tell more. `says yes` stands beside the share that TRUE entails: a judge that
says yes as often gives claim recall at the right height, right or wrong claim by claim.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from data import rows
from headings import heading
from judge_sets import auc, balanced_accuracy

from toulmin.build import parts
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.driver.kit import Judge
from toulmin.steps import Pair, Verdict


class AlceRun(NamedTuple):
    """The pairs of one system, and whether TRUE found each entailed."""

    system: str
    pairs: list[Pair]
    entailed: list[bool]


class Agreement(NamedTuple):
    """Of a judge with TRUE; AUC is None where TRUE says the same of every pair, and so is balanced accuracy."""

    n: int
    true_yes: float
    yes: float
    accuracy: float
    balanced: float | None
    kappa: float
    auc: float | None


def read_runs() -> list[AlceRun]:
    """The runs on ELI5."""
    runs = []
    for run in rows("alce_golden"):
        if run["dataset"] == "eli5":
            pairs, entailed = [], []
            for item in run["items"]:
                premise = Passage.of(item["output"])
                pairs += [Pair((premise,), claim) for claim in item["claims"]]
                entailed += [bool(verdict) for verdict in item["expected_correctness"]]
            runs.append(AlceRun(run["system"], pairs, entailed))
    return runs


def agreement(labels: Sequence[bool], support: Sequence[float], entailed: Sequence[bool]) -> Agreement:
    """Of what a judge said and how strongly, with what TRUE said."""
    ours, truth = np.array(labels, bool), np.array(entailed, bool)
    accuracy = float((ours == truth).mean())
    chance = float(ours.mean() * truth.mean() + (1 - ours.mean()) * (1 - truth.mean()))
    both = 0 < truth.sum() < len(truth)
    return Agreement(
        len(truth),
        float(truth.mean()),
        float(ours.mean()),
        accuracy,
        balanced_accuracy(ours, truth) if both else None,
        (accuracy - chance) / (1 - chance) if chance < 1 else 1.0,
        auc(np.array(support), truth) if both else None,
    )


def _of(verdicts: Sequence[Verdict], entailed: Sequence[bool]) -> Agreement:
    return agreement([v.entails for v in verdicts], [v.support for v in verdicts], entailed)


def verdicts(judge: Judge, pairs: Sequence[Pair]) -> list[Verdict]:
    """Of a plain judge or one to be awaited."""

    async def wait_for(reply: Any) -> Any:
        return await reply

    reply = judge.judge(pairs)
    return list(asyncio.run(wait_for(reply)) if inspect.isawaitable(reply) else reply)


def line(name: str, figures: Agreement) -> str:
    shares = f"{figures.n:6}{figures.true_yes:10.1%}{figures.yes:10.1%}{figures.accuracy:10.3f}"
    return f"{name:34}{shares}{_number(figures.balanced)}{figures.kappa:10.3f}{_number(figures.auc)}"


def _number(value: float | None) -> str:
    return f"{'–':>10}" if value is None else f"{value:10.3f}"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", nargs="+", default=[], metavar="SPEC")
    asked = parser.parse_args(words)
    runs = read_runs()
    print(heading("agreement.py", "TRUE's verdicts as ALCE recorded them (alce_golden, ELI5)."))
    for spec in ["lexical", *asked.judge]:
        judge = parts.judge(spec, Settings())
        labels = [verdicts(judge, run.pairs) for run in runs]
        names = ("n", "TRUE: yes", "says yes", "accuracy", "balanced", "kappa", "AUC")
        print(f"\n{judge.name:34}{names[0]:>6}" + "".join(f"{name:>10}" for name in names[1:]))
        for run, some in zip(runs, labels, strict=True):
            name = run.system.removesuffix(".json").removeprefix("eli5-")
            print(line(name[:33], _of(some, run.entailed)))
        print(line("all", _of(list(chain(*labels)), list(chain(*(run.entailed for run in runs))))), flush=True)
    print("```")


if __name__ == "__main__":
    main()
