"""Rankings fused by reciprocal ranks."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toulmin.data import Hit, Passage
from toulmin.retrieval.fusion import FusionRanker, fuse_by_ranks

PASSAGES = [Passage.of(f"text {n}") for n in range(8)]


@st.composite
def rankings(draw: st.DrawFn) -> list[Hit]:
    chosen = draw(st.lists(st.sampled_from(PASSAGES), unique=True))
    scores = sorted(draw(st.lists(st.floats(-5, 5), min_size=len(chosen), max_size=len(chosen))), reverse=True)
    return [Hit(passage, score) for passage, score in zip(chosen, scores, strict=True)]


class Fixed:
    """A ranker whose ranking is given; it keeps what it was asked for."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        self.hits, self.asked = hits, 0

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        self.asked = k
        return [list(self.hits[:k]) for _ in queries]


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.passage.id for hit in hits]


def ranking(*places: int) -> list[Hit]:
    return [Hit(PASSAGES[place], 10.0 - n) for n, place in enumerate(places)]


def test_reciprocal_ranks_are_added():
    found = fuse_by_ranks([ranking(0, 1), ranking(1, 2)], 60)
    by_id = {hit.passage.id: hit.score for hit in found}
    assert by_id == pytest.approx({PASSAGES[0].id: 1 / 61, PASSAGES[1].id: 1 / 62 + 1 / 61, PASSAGES[2].id: 1 / 62})


def test_what_both_find_goes_before_what_one_finds_as_early():
    assert ids(fuse_by_ranks([ranking(0, 1), ranking(2, 1)]))[0] == PASSAGES[1].id


@given(st.lists(rankings(), max_size=3))
def test_every_hit_of_any_ranking_is_there_once(rows: list[list[Hit]]):
    assert sorted(ids(fuse_by_ranks(rows))) == sorted({hit.passage.id for row in rows for hit in row})


@given(rankings(), rankings())
def test_the_order_in_which_rankings_come_decides_nothing(one: list[Hit], other: list[Hit]):
    assert fuse_by_ranks([one, other]) == fuse_by_ranks([other, one])


def test_each_ranker_is_asked_for_more_than_is_wanted():
    words, meaning = Fixed(ranking(0, 1)), Fixed(ranking(2))
    FusionRanker((words, meaning)).search(["q"], 70)
    assert (words.asked, meaning.asked) == (140, 140)


def test_at_most_k_hits_come_for_each_query():
    found = FusionRanker((Fixed(ranking(0, 1, 2)), Fixed(ranking(3, 4, 5)))).search(["one", "two"], 4)
    assert [len(row) for row in found] == [4, 4]


class Counting:
    """An encoder of two numbers that counts what it encodes."""

    name, identity, dimension = "counting", "counting", 2

    def __init__(self) -> None:
        self.encoded = 0

    def encode_queries(self, queries: Sequence[str]) -> np.ndarray:
        self.encoded += len(queries)
        return np.array([[len(query), 1] for query in queries], np.float32)

    def encode_passages(self, passages: Sequence[Passage]) -> np.ndarray:
        return -self.encode_queries([passage.text for passage in passages])


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark of hybrid search, whose scripts import each other by their bare names."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "benchmarks"))
    return importlib.import_module("hybrid")


def test_kept_vectors_are_those_of_the_encoder(benchmark: Any, tmp_path: Path):
    kept = benchmark.VectorStore(Counting(), tmp_path)
    rows = [*kept.encode_queries(["abc", "a", "abc"]), *kept.encode_passages(PASSAGES[:1])]
    assert [list(row) for row in rows] == [[3, 1], [1, 1], [3, 1], [-6, -1]]


def test_vectors_that_are_kept_are_not_encoded_again(benchmark: Any, tmp_path: Path):
    benchmark.VectorStore(Counting(), tmp_path).encode_queries(["abc", "a"])
    again = Counting()
    benchmark.VectorStore(again, tmp_path).encode_queries(["abc", "a", "new"])
    assert again.encoded == 1


@pytest.mark.parametrize(
    ("records", "relevant", "value"),
    [
        (["a", "b"], {"a"}, 1.0),
        (["b", "a"], {"a"}, 1 / math.log2(3)),
        (["b", "b", "a"], {"a"}, 1 / math.log2(3)),  # a record counts where it is met first
        (["b"], {"a"}, 0.0),
        (["a", "c", "b"], {"a", "b"}, 1.5 / (1 + 1 / math.log2(3))),
    ],
)
def test_ndcg_discounts_by_the_rank(benchmark: Any, records: list[str], relevant: set[str], value: float):
    assert benchmark.ndcg(records, relevant) == pytest.approx(value)
