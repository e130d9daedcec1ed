"""The second step of a search: gold passages among the first ten, without and with those that the first hits name.

    python benchmarks/links.py            at the settings that ship, over the dev split
    python benchmarks/links.py --tune     a grid on the train split, by the mean over the kinds

By words alone; `hybrid.py` measures search by words and meaning, `first_minutes.py` the time. The figure is that of
`retrieval.py`.
"""

from __future__ import annotations

import argparse
from itertools import product
from statistics import fmean

import retrieval

from toulmin.retrieval.bm25 import InMemory
from toulmin.retrieval.links import FIRST, OPEN, SHARE, LinkRanker

GRID = product((1, 2, 3, 5, 8), (0.2, 0.3, 0.4, 0.5), (0.8, 0.9, 0.95, 1.01))


def show(name: str, by_kind: dict[str, list[float]]) -> float:
    means = {kind: fmean(values) for kind, values in sorted(by_kind.items())}
    print(f"{name:28}" + "".join(f"  {kind} {value:.4f}" for kind, value in means.items()), flush=True)
    return fmean(means.values())


def tune(by_words: InMemory) -> None:
    asked = retrieval.questions("train")
    show("none", retrieval.shares(by_words, asked))
    for first, share, opens in GRID:
        search = LinkRanker(by_words, by_words, first=first, share=share, opens=opens)
        show(f"first {first} share {share} open {opens}", retrieval.shares(search, asked))


def measure(by_words: InMemory) -> None:
    asked = retrieval.questions("dev")
    print(f"dev, first {FIRST}, share {SHARE}, open {OPEN}")
    for name, search in (("by words", by_words), ("with what the hits name", LinkRanker(by_words, by_words))):
        show(name, retrieval.shares(search, asked))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tune", action="store_true")
    by_words = InMemory(list(retrieval.pool_passages()))
    (tune if parser.parse_args().tune else measure)(by_words)


if __name__ == "__main__":
    main()
