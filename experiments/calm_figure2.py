"""The analysis of CaLM's Figure 2: how much more a model gains from better passages the smaller it is."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import fmean

from bench import SMALL, Bench
from frame import Interval, NotHere, Ours

sys.path.append(str(Path(__file__).resolve().parents[1]))  # `simulations` comes with no installation

import toulmin
from simulations.relevance import Item, QuestionPool, items_of, passages_recall
from simulations.sensitivity import Member, Report, sensitivity
from toulmin.build.parts import model
from toulmin.config import Settings, resolve_settings, settings_of
from toulmin.datasets.loading import read

FAMILIES = ("Yi-LM", "Vicuna", "WizardLM", "Tulu-2-dpo")
SOURCE = "asqa"
LEVELS = ("low", "medium", "high")


def question_pools(bench: Bench) -> Iterator[QuestionPool]:
    """The questions whose passages hold all their answers."""
    for item in read(bench.place(SOURCE).path).items:
        answers = tuple(part.answers for part in item.gold.parts or () if part.answers)
        if answers and item.passages and passages_recall(item.passages, answers) == 1.0:
            yield QuestionPool(item.question, answers, item.passages)


def members_of(bench: Bench, family: str, settings: Settings) -> tuple[Member, ...]:
    """The models of a family that were named; in the small form the embedded writer is one by itself."""
    members = ((name.partition("/"), spec) for name, spec in bench.choices.members.items())
    sizes = {size: spec for (named_family, _, size), spec in members if named_family == family}
    if not sizes and bench.choices.small:
        sizes = {"1": bench.choices.model}
    if not sizes:
        raise NotHere(f"no model of the family was named: --member {family}/SIZE=SPEC, for each of its sizes")
    return tuple(Member(family, _size(size), model(spec, settings)) for size, spec in sizes.items())


def _size(words: str) -> float:
    try:
        return float(words)
    except ValueError:
        raise toulmin.UsageError(f"A size is a number, as in --member Vicuna/13=SPEC, not {words!r}.") from None


async def analyse(models: Sequence[Member], items: Sequence[Item]) -> Report:
    """The analysis; closes the models after it."""
    try:
        return await sensitivity(models, items)
    finally:
        for member in models:
            close = getattr(member.model, "aclose", None)
            if close is not None:
                await close()


def figures_of_family(family: str, bench: Bench) -> Ours:
    """The figures of one family: its largest model, and the means over its smaller ones."""
    models = members_of(bench, family, resolve_settings(None, settings_of({**bench.settings, "cache": bench.replies})))
    limit = bench.choices.limit or (SMALL if bench.choices.small else None)
    report = asyncio.run(analyse(models, items_of(tuple(islice(question_pools(bench), limit)))))
    largest = report.largest(family)
    smaller = [row.accuracy for row in report.rows if row is not largest]
    values = {
        "models": float(len(report.rows)),
        "improvement_largest": largest.accuracy.relative_improvement,
        "improvement_smaller": _mean([accuracy.relative_improvement for accuracy in smaller]),
        "gain_largest": largest.accuracy.incremental_gain,
        "gain_smaller": _mean([accuracy.incremental_gain for accuracy in smaller]),
        **{f"recall_{level}": getattr(report.recall, level) for level in LEVELS},
    }
    metrics = {name: Interval(value, n=report.items) for name, value in values.items() if value is not None}
    return Ours(metrics, tuple(report.text().splitlines()) if smaller else ())


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean, None where one is missing or there is none."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None
