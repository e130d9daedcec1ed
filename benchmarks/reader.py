"""The trained reader: exact match, F1, when it says nothing, and what its confidence is worth.

    python benchmarks/reader.py            the figures, on the dev splits
    python benchmarks/reader.py --train    the same on the train splits, to look at while working
    python benchmarks/reader.py --reader embedded:FOLDER [--most N]    of another trained reader, as settings name it

An answer is right if its F1 with a gold answer is at least a half (`reader_sets` has more). EM and F1 are
of answerable questions, before any is left unanswered. AUC is that of the confidence: for "is right" over all
questions, and for "is answerable". ECE has ten bins of equal width.
The last line has SQuAD 2.0's own figures on its dev part: F1 where silence is right of a question without an answer,
and the mean of answered where there is one and silent where there is none.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from headings import heading
from judge_sets import auc
from numpy.typing import NDArray
from reader_sets import Item, sets

from toulmin.extractive.trained_reader import TrainedReader

BINS = 10

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """A question with what was read."""

    item: Item
    text: str | None
    confidence: float

    @property
    def is_right(self) -> bool:
        """Whether the words answer."""
        return self.item.is_right(self.text)


Read = Callable[[Item], Outcome]


def by(trained: TrainedReader) -> Read:
    """The trained reader's likeliest words as an outcome."""

    def read(item: Item) -> Outcome:
        span = trained.likeliest(item.question, item.passages)
        return Outcome(item, None, 0.0) if span is None else Outcome(item, span.quote.text, span.confidence)

    return read


# ---------------------------------------------------------------- figures


def ece(confidences: Floats, right: NDArray[np.bool_]) -> float:
    """The mean distance of confidence and share of right answers over the bins, by their size."""
    return sum(abs(confidence - share) * count for confidence, share, count in bins(confidences, right)) / len(
        confidences
    )


def bins(confidences: Floats, right: NDArray[np.bool_]) -> list[tuple[float, float, int]]:
    """Mean confidence, share of right answers and size of each bin that is not empty."""
    place = np.minimum((confidences * BINS).astype(int), BINS - 1)
    masks = [place == n for n in range(BINS)]
    return [(float(confidences[m].mean()), float(right[m].mean()), int(m.sum())) for m in masks if m.any()]


def figures(name: str, items: Sequence[Item], read: Read, least: float) -> list[Outcome]:
    began = time.perf_counter()
    outcomes = [read(item) for item in items]
    speed = len(items) / (time.perf_counter() - began)
    confidences = np.array([each.confidence for each in outcomes])
    right = np.array([each.is_right for each in outcomes])
    able = np.array([each.item.is_answerable for each in outcomes])
    answered = confidences >= least
    em = np.mean([each.item.exact(each.text) for each in outcomes if each.item.is_answerable])
    f1 = np.mean([each.item.f1(each.text) for each in outcomes if each.item.is_answerable])
    cells = [
        f"{name:15} {len(items):5} {able.mean():6.2f} {em:6.3f} {f1:6.3f} {right[able].mean():6.3f}",
        f"{answered[able].mean():6.2f} {answered[~able].mean() if (~able).any() else float('nan'):6.2f}",
        f"{auc(confidences, right):6.3f} {auc(confidences, able) if (~able).any() else float('nan'):6.3f}",
        f"{ece(confidences, right):6.3f} {speed:6.0f}",
    ]
    print("  ".join(cells))
    return outcomes


def report(split: str, trained: TrainedReader, most: int | None) -> None:
    read, least = by(trained), trained.least
    print(heading("reader.py", f"Reader {trained.name}, split {split}."))
    print("                       share of               right  answered:      AUC:            ")
    print("set                 n   able     EM     F1  if able    able  other  right   able    ECE    q/s")
    by_set = {}
    for name, items in sets(split).items():
        drawn = items if most is None else random.Random(name).sample(items, min(most, len(items)))
        by_set[name] = figures(name, drawn, read, least)
    outcomes = [each for each_set in by_set.values() for each in each_set]
    print("\nconfidence  right      n   (all sets)")
    confidences = np.array([each.confidence for each in outcomes])
    for confidence, share, count in bins(confidences, np.array([each.is_right for each in outcomes])):
        print(f"{confidence:10.2f} {share:6.2f} {count:6}")
    print(f"\nsquad2_devhalf with silence: {silence(by_set['squad2_devhalf'], least)}\n```")


def silence(outcomes: Sequence[Outcome], least: float) -> str:
    """SQuAD 2.0's F1, and how fair silence is."""
    is_answered = np.array([each.confidence >= least for each in outcomes])
    able = np.array([each.item.is_answerable for each in outcomes])
    f1 = [
        each.item.f1(each.text) * spoke if each.item.is_answerable else 1 - spoke
        for each, spoke in zip(outcomes, is_answered, strict=True)
    ]
    fair = (is_answered[able].mean() + (~is_answered[~able]).mean()) / 2
    return f"F1 {np.mean(f1):.3f} (wanted 0.70), balanced accuracy {fair:.3f} (wanted 0.75)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--reader", default="embedded", help="as `toulmin --set reader=` names it")
    parser.add_argument("--most", type=int, help="questions a set, drawn with a fixed seed")
    options = parser.parse_args()
    trained = TrainedReader(options.reader.partition(":")[2] or None)
    report("train" if options.train else "dev", trained, options.most)


if __name__ == "__main__":
    main()
