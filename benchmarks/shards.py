"""An index in shards beside one in one piece, over `pool_corpus`: the same rankings, and what a search costs.

    python benchmarks/shards.py [--shards 4]
    python benchmarks/shards.py --index DIR [--questions 300]

Questions are `pool_questions` dev. Each update is one whole run of `toulmin index`; a search is in this process, by
words, a question at a time, the indexes in turns. What asking shards side by side is worth stands beside the same
shards asked one after the other; with `--index` that alone, of an index in shards that `toulmin index --shards` made.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, TypeVar

import data
from indexing import show
from startup import CLI, seconds

from toulmin.data import Hit
from toulmin.indexing.shards import Sharded, open_any
from toulmin.retrieval.bm25 import Bm25

DEPTHS = (10, 100)
R = TypeVar("R")


def searched(retriever: Bm25, question: str, taken: list[float]) -> list[Hit]:
    started = perf_counter()
    found = retriever.search([question], 10)[0]
    taken.append(1000 * (perf_counter() - started))
    return found


def same(whole: Bm25, parts: Bm25, questions: Sequence[str], k: int) -> str:
    """Of how many questions the first `k` hits are the same passages with the same scores."""
    pairs = zip(whole.search(questions, k), parts.search(questions, k), strict=True)
    return f"{sum(one == other for one, other in pairs):,} of {len(questions):,}"


class InTurn(Sharded):
    """The same shards, asked one after the other."""

    def each(self, ask: Callable[..., R], *told: Sequence[Any]) -> list[R]:
        """What each shard says, in their order."""
        return list(map(ask, self._parts, *told))


def in_turn(corpus: Sharded) -> InTurn:
    return InTurn(corpus.folder, corpus._parts)


def timed(questions: Sequence[str], **searches: Bm25) -> None:
    """Prints what one query takes each of them, half of the time and in 95 of 100 cases."""
    taken: dict[str, list[float]] = {name: [] for name in searches}
    for question in questions:
        searched(next(iter(searches.values())), question, [])  # what is not in memory is read for all of them
        for name, retriever in searches.items():
            searched(retriever, question, taken[name])
    for name, times in taken.items():
        what = f"one query {name.replace('_', ' ')}, ms, median and p95"
        show(what, f"{median(times):.1f}, {quantiles(times, n=20)[-1]:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--questions", type=int)
    chosen = parser.parse_args()
    questions = [row["question"] for row in data.rows("pool_questions", "dev")][: chosen.questions]
    if chosen.index is not None:
        with open_any(chosen.index) as parts:
            assert isinstance(parts, Sharded), f"{chosen.index} is in one piece"
            timed(questions, side_by_side=Bm25(parts), in_turn=Bm25(in_turn(parts)))
        return
    with TemporaryDirectory() as folder:
        one, several = Path(folder) / "one", Path(folder) / "several"
        index = [*CLI, "index", str(data.path("pool_corpus")), "--into"]
        show("indexing in one piece, seconds", f"{seconds([*index, str(one)]):.1f}")
        taken = seconds([*index, str(several), "--shards", str(chosen.shards)])
        show(f"indexing in {chosen.shards} shards, seconds", f"{taken:.1f}")
        with open_any(one) as whole, open_any(several) as parts:
            assert isinstance(parts, Sharded)
            for k in DEPTHS:
                show(f"questions whose first {k} hits are the same", same(Bm25(whole), Bm25(parts), questions, k))
            timed(questions, in_one_piece=Bm25(whole), side_by_side=Bm25(parts), in_turn=Bm25(in_turn(parts)))


if __name__ == "__main__":
    main()
