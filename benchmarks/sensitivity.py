"""How sensitive writers are to the recall of their passages (CaLM, section 3.3, Figures 2b and 2c).

    python benchmarks/sensitivity.py [--seeds 10]     simulated writers of three families, and the embedded writer

The questions are those of `qa_asqa_passages` whose passages hold all gold answers somewhere, so that each of the
paper's average recalls (27, 56 and 78 %) can be met; five passages a set. The simulated writers
(`simulation`) are "large" and "small" ones with the same rate of faults, a family each rate, and each figure
of theirs is the mean over that many seeds; their sizes, 2 and 1, only say which is the larger. The small one is made to
be misled more easily by passages that hold no answer. So the table says whether the analysis sees what is there, and
nothing about any language model. The embedded writer, which copies sentences, is a family of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from statistics import fmean

import data

from simulations.faulty import Faulty
from simulations.relevance import Item, Ranked, items_of, passages_recall
from simulations.sensitivity import Curve, Member, Report, Row, sensitivity
from simulations.truth import Fact, is_legible, plain
from toulmin.data import Passage
from toulmin.evaluation.oracle import answer_recall
from toulmin.extractive.writer import Extractive
from toulmin.text.language import sentences

RATES = (0.15, 0.3, 0.5)


def pools() -> Iterator[Ranked]:
    """The questions whose passages hold all their gold answers."""
    for row in data.rows("qa_asqa_passages"):
        golds = tuple(tuple(pair["short_answers"]) for pair in row["qa_pairs"])
        found = tuple(Passage.of(doc["text"], doc["title"]) for doc in row["docs"])
        if passages_recall(found, golds) == 1.0:
            yield Ranked(row["question"], golds, found)


def facts(item: Item) -> tuple[Fact, ...]:
    """What there is to tell: of each passage in the item's sets, the sentences that hold a gold answer."""
    passages = dict.fromkeys(passage for level in item.levels for passage in level)
    told = (
        (plain(passage.text[span.start : span.end]), passage.title)
        for passage in passages
        for span in sentences(passage.text)
    )
    return tuple(
        Fact(text, (), title) for text, title in told if is_legible(text) and answer_recall(text, item.answers)
    )


def members(items: tuple[Item, ...], seed: int) -> Iterator[Member]:
    known = {item.question: facts(item) for item in items}
    for rate in RATES:
        for size, small in ((2, False), (1, True)):
            yield Member(f"simulation, {rate:.0%}", size, Faulty(known, rate, seed, small=small))
    if seed == 0:  # it draws nothing
        yield Member("embedded", 1, Extractive())


def averaged(reports: Sequence[Report]) -> Report:
    """One report whose rows are the means over those of the same family and size."""
    rows: dict[tuple[str, float], list[Row]] = defaultdict(list)
    for row in chain.from_iterable(report.rows for report in reports):
        rows[row.family, row.size].append(row)
    return replace(reports[0], rows=tuple(map(mean_of, rows.values())))


def mean_of(rows: Sequence[Row]) -> Row:
    levels = zip(*((row.accuracy.low, row.accuracy.medium, row.accuracy.high) for row in rows), strict=True)
    name = re.sub(r", seed 0$", f", {len(rows)} seeds", rows[0].model)
    return replace(rows[0], model=name, accuracy=Curve(*map(fmean, levels)), failed=sum(row.failed for row in rows))


async def analysed(seeds: int) -> Report:
    items = items_of(tuple(pools()))
    return averaged([await sensitivity(tuple(members(items, seed)), items) for seed in range(seeds)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    print(asyncio.run(analysed(parser.parse_args().seeds)).text())


if __name__ == "__main__":
    main()
