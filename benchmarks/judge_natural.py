"""How well judges rank and how far their scores are probabilities, on what people judged; two judges on the same draws.

    python benchmarks/judge_natural.py                                    the lexical judge
    python benchmarks/judge_natural.py --judge cross:FOLDER               another too, as `toulmin --judge` names it
    python benchmarks/judge_natural.py --scores FILE                      another by its scores, from cross-fitting
    python benchmarks/judge_natural.py --judge A --against B --split dev

FILE holds JSON lines of "id" and "score"; records without one are left out of both judges' figures, and counted.
Training and dev parts are both judged, so a trained judge's scores must come from models that never saw the record's
page, which `page_of` tells. LEVELS are the chances from which either judge finds a claim supported, for the balanced
accuracy on claims that differ little.

`pooled` takes all records of the natural sets and FEVER at once, `mean` every set alike. ECE has ten bins of equal
width over the natural sets. Intervals draw pages.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from agreement import verdicts
from by_page import (
    RESAMPLES,
    Measure,
    Truths,
    Vector,
    among,
    auc,
    balanced_accuracy,
    calibration_error,
    gain,
    measured,
    shown,
)
from data import rows
from headings import heading
from judge_sets import NATURAL, SETS, cases

from toulmin.build import parts
from toulmin.config import Settings
from toulmin.steps import Pair

BARRED = ("wice_dev", "attributionbench_dev", "factscore", "fever_paperdev")  # a lower bound above 0 is asked of each
POOLED = sorted(NATURAL | set(BARRED))
LITTLE = {"fever_symmetric_dev": 0.78, "summedits_eval": 0.62, "fm2_dev": 0.70}  # wanted balanced accuracy
SPLITS = ("train", "dev")


class Record(NamedTuple):
    """A claim that people judged, and the page that it must not be torn from when pages are drawn or folds made."""

    id: str
    dataset: str
    page: str
    pair: Pair
    supported: bool

    def reworded(self, claim: str) -> Record:
        """An untrue claim over the same premises."""
        return self._replace(pair=Pair(self.pair.premises, claim), supported=False)


def page_of(row: Mapping[str, Any]) -> str:
    """The page or topic of a record of an `attr_*` set: what its evidence is of, else its question."""
    meta = row.get("meta") or {}
    titles = [item["title"] for item in row["evidence"] if item["title"]]
    told = row.get("evidence_page") or meta.get("claim_title") or row["question"] or " ".join(titles[:1])
    return str(told or " ".join(item["text"] for item in row["evidence"])[:200])


@cache
def _topics() -> frozenset[str]:
    return frozenset(row["topic"] for row in rows("attr_factscore_pages"))


def records(name: str, splits: Sequence[str] = SPLITS) -> list[Record]:
    """The records of a set that have evidence, as `judge.cases` makes pairs of them."""
    found = []
    for split in splits:
        kept = [row for row in rows(f"attr_{name}", split) if row["evidence"] or row.get("evidence_page") in _topics()]
        for row, case in zip(kept, cases(name, split), strict=True):
            found.append(Record(row["id"], name, page_of(row), case.pair, case.supported))
    return found


def read_scores(file: Path) -> dict[str, float]:
    """Scores by record; raises SystemExit where a line is not one."""
    found: dict[str, float] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            record = json.loads(line)
            found[record["id"]] = float(record["score"])
        except (ValueError, KeyError, TypeError) as error:
            raise SystemExit(f'{file}, line {number}: wanted {{"id": ..., "score": a number}}, got {line}') from error
    return found


def scores(records: Sequence[Record], spec: str) -> tuple[str, Vector]:
    """A judge's name and its support of every record."""
    judge = parts.judge(spec, Settings())
    return judge.name, np.array([verdict.support for verdict in verdicts(judge, [record.pair for record in records])])


class Compared(NamedTuple):
    """The records as columns, with the scores of a judge and of the one that it is held against."""

    names: tuple[str, str]
    dataset: Sequence[str]
    page: Sequence[str]
    truth: Truths
    ours: Vector
    theirs: Vector

    def some(self, which: Truths) -> Compared:
        """The records that are picked."""
        picked = np.flatnonzero(which)
        page, dataset = ([column[int(n)] for n in picked] for column in (self.page, self.dataset))
        return Compared(self.names, dataset, page, self.truth[picked], self.ours[picked], self.theirs[picked])


def line(name: str, held: Compared, resamples: int, asked: str = "") -> str:
    """ROC AUC of both judges and the gain of the first."""
    mine, other = auc(held.ours, held.truth), auc(held.theirs, held.truth)
    return told(name, held, mine, other, resamples) + asked


def told(name: str, held: Compared, mine: Measure, other: Measure, resamples: int) -> str:
    """A measure of both judges and their difference, with intervals from the same draws of pages."""
    cells = [shown(measured(held.page, one, resamples)) for one in (other, mine)]
    if held.names[0] == held.names[1]:
        return f"{name:22}{len(held.truth):7}{cells[0]}"
    above = shown(measured(held.page, gain(mine, other), resamples), signed=True)
    return f"{name:22}{len(held.truth):7}{cells[0]}{cells[1]}{above.rjust(26)}"


def mean_over_sets(held: Compared, scores: Vector) -> Measure:
    """The mean of the sets' AUCs."""
    parts = [np.array([one == name for one in held.dataset]) for name in dict.fromkeys(held.dataset)]
    each = [(part, auc(scores[part], held.truth[part])) for part in parts]
    return lambda counts: float(np.mean([area(counts[part]) for part, area in each]))


def accuracies(held: Compared, levels: Sequence[float], resamples: int) -> None:
    """Of "supported": balanced accuracy where claims differ little, precision and recall on natural ones."""
    print(f"\n{'balanced accuracy':22}{'n':>7}   from {levels[1]:.2f} and from {levels[0]:.2f}")
    for name, wanted in LITTLE.items():
        some = held.some(np.array([one == name for one in held.dataset]))
        if len(some.truth):
            mine, other = (
                balanced_accuracy(scores >= level, some.truth)
                for scores, level in zip((some.ours, some.theirs), levels, strict=True)
            )
            print(told(name, some, mine, other, resamples) + f"   wanted {wanted:.2f}")
    natural = held.some(np.isin(held.dataset, sorted(NATURAL)))
    ours, theirs = natural.ours >= levels[0], natural.theirs >= levels[1]
    print("natural sets:")
    print(told("precision", natural, among(ours, natural.truth), among(theirs, natural.truth), resamples))
    print(told("recall", natural, among(natural.truth, ours), among(natural.truth, theirs), resamples))


def report(held: Compared, resamples: int) -> None:
    """AUC set by set and pooled, then the calibration of the natural sets."""
    ours, theirs = held.names
    both = ours != theirs
    heads = f"{theirs:>24}" + (f"{ours:>24}{'gain':>26}" if both else "")
    print(f"{'ROC AUC':22}{'n':>7}{heads}")
    for name in dict.fromkeys(held.dataset):
        some = held.some(np.array([one == name for one in held.dataset]))
        print(line(name, some, resamples, "   wanted above 0" if both and name in BARRED else ""), flush=True)
    pooled = held.some(np.isin(held.dataset, POOLED))
    print(line("pooled", pooled, resamples, "   wanted +0.03" if both else ""))
    means = mean_over_sets(pooled, pooled.ours), mean_over_sets(pooled, pooled.theirs)
    print(told("mean of these sets", pooled, *means, resamples))
    natural = held.some(np.isin(held.dataset, sorted(NATURAL)))
    print(f"\n{'ECE (wanted 0.05)':22}{'n':>7}{heads}")
    off = calibration_error(natural.ours, natural.truth), calibration_error(natural.theirs, natural.truth)
    print(told("natural sets", natural, *off, resamples))


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--judge", metavar="SPEC")
    who.add_argument("--scores", type=Path, metavar="FILE")
    parser.add_argument("--against", default="lexical", metavar="SPEC")
    parser.add_argument("--split", choices=SPLITS)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, metavar="SET")
    parser.add_argument("--levels", nargs=2, type=float, default=(0.5, 0.5), metavar=("OURS", "THEIRS"))
    parser.add_argument("--resamples", type=int, default=RESAMPLES)
    asked = parser.parse_args(words)
    splits = (asked.split,) if asked.split else SPLITS
    every = [record for name in asked.sets for record in records(name, splits)]
    read = read_scores(asked.scores) if asked.scores else {}
    given = [record for record in every if record.id in read] if asked.scores else every
    if not given:
        raise SystemExit(f"{asked.scores} has a score of none of the {len(every)} records.")
    theirs, plain = scores(given, asked.against)
    ours, own = theirs, plain
    if asked.scores:
        ours, own = asked.scores.stem, np.array([read[record.id] for record in given])
    elif asked.judge:
        ours, own = scores(given, asked.judge)
    columns = [record.dataset for record in given], [record.page for record in given]
    truth = np.array([record.supported for record in given])
    print(
        heading(
            "judge_natural.py",
            f"{len(given)} of {len(every)} records of {' and '.join(splits)}; {asked.resamples} draws.",
        )
    )
    held = Compared((ours, theirs), *columns, truth, own, plain)
    report(held, asked.resamples)
    accuracies(held, asked.levels, asked.resamples)
    print("```")


if __name__ == "__main__":
    main()
