"""CaLM, Figure 2: how much more a model gains from better passages the smaller it is (ASQA).

The paper's setting (3.3): ASQA, five passages a question in three sets that hold 27, 56 and 78 % of the answers; the
families Yi-LM, Vicuna, WizardLM and Tulu-2-dpo, each model beside the largest of its family; accuracy is the recall of
exact short answers. Figure 2b is the relative improvement, Figure 2c (P_high - P_med) / (P_med - P_low). The bars and
the sizes of the models are drawn and not printed.

Name the models of a family with their sizes: --member Tulu-2-dpo/7=SPEC --member Tulu-2-dpo/70=SPEC. The questions are
those whose passages hold all answers, so that each level of recall can be met.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from statistics import fmean

from bench import SMALL, Bench, main
from frame import Column, Experiment, Interval, NotHere, Ours, Panel, Row, Setting

import toulmin
from simulations.relevance import Item, Ranked, items_of, passages_recall
from simulations.sensitivity import Member, Report, sensitivity
from toulmin.build.parts import model
from toulmin.config import Settings, settings_of, settled
from toulmin.datasets.loading import read

FAMILIES = ("Yi-LM", "Vicuna", "WizardLM", "Tulu-2-dpo")
SOURCE = "asqa"
LEVELS = ("low", "medium", "high")


def ranked(bench: Bench) -> Iterator[Ranked]:
    """The questions whose passages hold all their answers."""
    for item in read(bench.place(SOURCE).path).items:
        answers = tuple(part.answers for part in item.gold.parts or () if part.answers)
        if answers and item.passages and passages_recall(item.passages, answers) == 1.0:
            yield Ranked(item.question, answers, item.passages)


def members(bench: Bench, family: str, settings: Settings) -> tuple[Member, ...]:
    """The models of a family that were named; in the small form the embedded writer is one by itself."""
    named = ((name.partition("/"), spec) for name, spec in bench.asked.members.items())
    sizes = {size: spec for (own, _, size), spec in named if own == family}
    if not sizes and bench.asked.small:
        sizes = {"1": bench.asked.model}
    if not sizes:
        raise NotHere(f"no model of the family was named: --member {family}/SIZE=SPEC, for each of its sizes")
    return tuple(Member(family, _size(size), model(spec, settings)) for size, spec in sizes.items())


def _size(words: str) -> float:
    try:
        return float(words)
    except ValueError:
        raise toulmin.UsageError(f"A size is a number, as in --member Vicuna/13=SPEC, not {words!r}.") from None


async def analysed(own: Sequence[Member], items: Sequence[Item]) -> Report:
    """The analysis; its models end with it."""
    try:
        return await sensitivity(own, items)
    finally:
        for member in own:
            close = getattr(member.model, "aclose", None)
            if close is not None:
                await close()


def measured(family: str, bench: Bench) -> Ours:
    """The figures of one family: its largest model, and the means over its smaller ones."""
    own = members(bench, family, settled(None, settings_of(bench.asked.settings)))
    limit = bench.asked.limit or (SMALL if bench.asked.small else None)
    report = asyncio.run(analysed(own, items_of(tuple(islice(ranked(bench), limit)))))
    largest = report.largest(family)
    smaller = [row.accuracy for row in report.rows if row is not largest]
    found = {
        "models": float(len(report.rows)),
        "improvement_largest": largest.accuracy.relative_improvement,
        "improvement_smaller": _mean([one.relative_improvement for one in smaller]),
        "gain_largest": largest.accuracy.incremental_gain,
        "gain_smaller": _mean([one.incremental_gain for one in smaller]),
        **{f"recall_{level}": getattr(report.recall, level) for level in LEVELS},
    }
    metrics = {name: Interval(value, n=report.items) for name, value in found.items() if value is not None}
    return Ours(metrics, tuple(report.text().splitlines()) if smaller else ())


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean, None where one is missing or there is none."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


EXPERIMENT = Experiment(
    name="calm_figure2",
    title="CaLM, Figure 2: sensitivity to the recall of the passages, ASQA",
    setting=Setting(
        model="Yi-LM, Vicuna, WizardLM and Tulu-2-dpo, several sizes of each",
        judge="none: accuracy is the recall of exact short answers",
        passages="five a question, in three sets with answer recalls of 27, 56 and 78 %",
        sample="questions of ASQA, their number not printed",
        prompts="its generation prompt (Figure 7)",
        parameters="no formula is printed for the relative improvement",
    ),
    sources={SOURCE: "ASQA with many passages a question"},
    members={f"{family}/SIZE": f"a model of the family {family}" for family in FAMILIES},
    says=(
        "the figure's bars are not printed as numbers",
        "within a family smaller models usually have the larger relative improvement and the larger second-order gain"
        " (section 3.3)",
    ),
    ours=(
        "relative improvement: the gain from low to high as a part of low",
        "sets: chosen question by question so that their average recalls come near the paper's",
    ),
    panels=(
        Panel(
            "by family: the largest model, and the mean of the smaller ones",
            (
                Column("models", "models"),
                Column("(b) largest", "improvement_largest"),
                Column("(b) smaller", "improvement_smaller"),
                Column("(c) largest", "gain_largest"),
                Column("(c) smaller", "gain_smaller"),
                *(Column(f"recall, {level}", f"recall_{level}") for level in LEVELS),
            ),
            tuple(Row(family, (), partial(measured, family)) for family in FAMILIES),
        ),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
