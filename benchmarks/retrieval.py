"""How many of the gold passages retrieval finds: `pool_questions` over an index of `pool_corpus`.

    python benchmarks/retrieval.py            the figures at the default setting, on the dev split
    python benchmarks/retrieval.py --train    the same on the train split, to look at while working
    python benchmarks/retrieval.py --tune     a grid of settings on the train split, in six minutes; the choice last

The figure is the mean share of a question's gold records among those of the first ten passages, per kind of question.
The grid is ordered by the mean over the kinds; of what is within 0.003 of the best the lightest title weight is chosen,
as a title stands before every passage of a long document. Passages are the product's own: a record of up to 300 words
is one.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import data

from toulmin.data import Hit, Passage
from toulmin.documents.loaders import read_documents
from toulmin.documents.passages import cut
from toulmin.indexing.codes import TITLE_WEIGHT
from toulmin.indexing.store import open_index
from toulmin.indexing.update import update
from toulmin.retrieval.bm25 import K1, B, Bm25, InMemory

TARGETS = {"short": 0.87, "long": 0.895, "multihop": 0.975, "retrieval-only": 0.67}
GRID = product((1, 2, 3, 4, 6), (0.6, 0.9, 1.2, 1.6, 2.0), (0.3, 0.4, 0.5, 0.6, 0.75, 0.9))
FIRST = 10
NOISE = 0.003


class Search(Protocol):
    """What is measured."""

    def search(self, queries: list[str], k: int) -> list[list[Hit]]:
        """Hits for each query."""
        ...


def questions(split: str) -> list[dict[str, Any]]:
    return [row for row in data.rows("pool_questions", split) if row["gold_passages"]]


def shares(retriever: Search, asked: list[dict[str, Any]]) -> dict[str, list[float]]:
    """For each kind, each question's share of gold records found."""
    by_kind: dict[str, list[float]] = defaultdict(list)
    results = retriever.search([row["question"] for row in asked], FIRST)
    for row, hits in zip(asked, results, strict=True):
        gold = set(row["gold_passages"])
        by_kind[row["kind"]].append(len(gold & {hit.passage.source.record for hit in hits}) / len(gold))
    return by_kind


def report(split: str) -> None:
    with TemporaryDirectory() as folder:
        update(Path(folder) / "index", [data.path("pool_corpus")])
        with open_index(Path(folder) / "index") as corpus:
            by_kind = shares(Bm25(corpus), questions(split))
            print(f"{len(corpus)} passages, split {split}, k1={K1} b={B} title weight {TITLE_WEIGHT}")
    print(f"{'kind':16}{'questions':>10}{'gold in first 10':>18}{'target':>9}")
    for kind, values in sorted(by_kind.items()):
        print(f"{kind:16}{len(values):10}{fmean(values):18.4f}{TARGETS.get(kind, float('nan')):9.3f}")


def pool_passages() -> Iterator[Passage]:
    for document in read_documents(data.path("pool_corpus")):
        yield from cut(document)


def tune() -> None:
    asked, passages = questions("train"), list(pool_passages())
    outcomes = []
    for title_weight, k1, b in GRID:
        retriever = InMemory(passages, k1, b, title_weight=title_weight)
        means = {kind: fmean(values) for kind, values in shares(retriever, asked).items()}
        outcomes.append((fmean(means.values()), title_weight, k1, b, means))
    ranked = sorted(outcomes, key=lambda outcome: outcome[0])
    for outcome in ranked:
        show(*outcome)
    print("chosen:")
    show(*min((o for o in ranked if o[0] >= ranked[-1][0] - NOISE), key=lambda o: (o[1], -o[0])))


def show(mean: float, title_weight: int, k1: float, b: float, means: dict[str, float]) -> None:
    by_kind = "  ".join(f"{kind} {value:.4f}" for kind, value in sorted(means.items()))
    print(f"title {title_weight}  k1 {k1:.1f}  b {b:.2f}   mean {mean:.4f}   {by_kind}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--tune", action="store_true")
    choice.add_argument("--train", action="store_true")
    options = parser.parse_args()
    if options.tune:
        tune()
    else:
        report("train" if options.train else "dev")


if __name__ == "__main__":
    main()
