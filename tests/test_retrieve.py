"""Ranking: the fast BM25 beside a slow obvious one, and the odd queries that people send."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from row_tables import table
from texts import SCRIPTS

from toulmin.data import Hit, Passage
from toulmin.errors import UsageError
from toulmin.indexing.codes import TITLE_WEIGHT
from toulmin.indexing.store import Corpus, open_index
from toulmin.indexing.update import update
from toulmin.retrieval.bm25 import K1, B, Bm25, InMemory, StaticRanking, query_terms
from toulmin.text.language import STOPWORDS, terms

SETTINGS = [(K1, B), (0.9, 0.4), (1.2, 0.75), (2.0, 1.0), (0.0, 0.0)]
WORDS = (
    "lamp tower keeper storm harbour reef oil wick lens fog horn boat wreck tide rock bell night ship crew gale".split()
)


def slow_bm25(passages: Sequence[Passage], query: str, k1: float, b: float) -> dict[str, float]:
    """Every passage's score by the formula, term by term; passages without a query term are left out."""
    found_by = {p.id: terms(p.title) * TITLE_WEIGHT + terms(p.text) for p in passages}
    mean = sum(map(len, found_by.values())) / len(found_by)
    asked = query_terms(query)
    having = {term: sum(term in own for own in found_by.values()) for term in asked}
    scores = {}
    for passage_id, own in found_by.items():
        score = 0.0
        for term in asked:
            holding, count = having[term], own.count(term)
            if count:
                idf = math.log(1 + (len(found_by) - holding + 0.5) / (holding + 0.5))
                score += idf * count * (k1 + 1) / (count + k1 * (1 - b + b * len(own) / mean))
        if score:
            scores[passage_id] = score
    return scores


def _records() -> list[dict[str, str]]:
    """400 records of words of very different frequency and length, some with a title."""
    records = []
    for n in range(400):
        words = [WORDS[(n * n * step + 7 * step + n) % (3 + step % 17)] for step in range(5 + n * 31 % 90)]
        title = " ".join(WORDS[(n + i) % 20] for i in range(n % 3))
        records.append({"_id": str(n), "title": title, "text": " ".join([*words, f"number{n}"])})
    return records


QUERIES = [
    "lamp",
    "keeper of the tower",
    "gale crew ship",
    "number17 fog",
    "the fog horn and the bell at night",
    "rock reef",
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """An index of the 400 records, with some that were deleted again."""
    folder = tmp_path_factory.mktemp("retrieve")
    lines = [json.dumps(record) for record in _records()]
    (folder / "docs").mkdir()
    (folder / "docs" / "kept.jsonl").write_text("\n".join(lines[:300]), "utf-8")
    (folder / "docs" / "gone.jsonl").write_text("\n".join(lines[300:]), "utf-8")
    update(folder / "index", [folder / "docs"])
    (folder / "docs" / "gone.jsonl").unlink()
    update(folder / "index", [folder / "docs"])
    with open_index(folder / "index") as opened:
        yield opened


@pytest.fixture(scope="module")
def passages(corpus: Corpus) -> list[Passage]:
    """The passages that the index holds."""
    return [hit.passage for hit in Bm25(corpus).search([" ".join([*WORDS, "number0"])], 1000)[0]]


def scores(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    """Ids and scores, rounded to what sums in another order may differ by."""
    return [(hit.passage.id, round(hit.score, 9)) for hit in hits]


def best(exact: dict[str, float], k: int) -> list[tuple[str, float]]:
    """The first k by the slow version, ties by id."""
    rounded = {passage_id: round(score, 9) for passage_id, score in exact.items()}
    return sorted(rounded.items(), key=lambda item: (-item[1], item[0]))[:k]


# ---------------------------------------------------------------- exactness


@table(("k1", "b"), SETTINGS)
@table("query", QUERIES)
def test_the_index_scores_each_hit_as_the_formula_does(
    corpus: Corpus, passages: list[Passage], query: str, k1: float, b: float
) -> None:
    exact = slow_bm25(passages, query, k1, b)
    hits = Bm25(corpus, k1, b).search([query], 10)[0]
    assert all(hit.score == pytest.approx(exact[hit.passage.id]) for hit in hits)


@pytest.mark.parametrize(("k1", "b"), SETTINGS)
def test_the_index_finds_nine_of_ten_that_the_formula_ranks_first(
    corpus: Corpus, passages: list[Passage], k1: float, b: float
) -> None:
    retriever = Bm25(corpus, k1, b)
    shared = total = 0
    for query in QUERIES:
        # What ties with the tenth is as good as the tenth.
        exact = slow_bm25(passages, query, k1, b)
        least = min(score for _, score in best(exact, 10))
        hits = retriever.search([query], 10)[0]
        shared += sum(hit.score >= least - 1e-9 for hit in hits)
        total += len(hits)
    assert shared / total >= 0.9


@table(("k1", "b"), SETTINGS)
@table("query", QUERIES)
def test_ranking_in_memory_is_the_formula(passages: list[Passage], query: str, k1: float, b: float) -> None:
    assert scores(InMemory(passages, k1, b).search([query], 10)[0]) == best(slow_bm25(passages, query, k1, b), 10)


@given(
    st.lists(st.lists(st.sampled_from(SCRIPTS), min_size=1, max_size=12).map(" ".join), min_size=1, max_size=12),
    st.lists(st.sampled_from(SCRIPTS), min_size=1, max_size=4).map(" ".join),
    st.integers(0, 15),
)
@example(["keepers", "😀"], "keepers", 1)  # half of the texts have no terms
@settings(max_examples=60, deadline=None)
def test_ranking_in_memory_is_the_formula_in_every_script(contents: list[str], query: str, k: int) -> None:
    passages = [Passage.of(content) for content in contents]
    assert scores(InMemory(passages).search([query], k)[0]) == best(slow_bm25(passages, query, K1, B), k)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_an_index_returns_as_many_hits_as_asked_for(corpus: Corpus, k: int):
    assert len(Bm25(corpus).search(["lamp"], k)[0]) == k


def test_the_index_and_memory_rank_alike(corpus: Corpus, passages: list[Passage]) -> None:
    on_disk, in_memory = Bm25(corpus).search(QUERIES, 5), InMemory(passages).search(QUERIES, 5)
    assert [scores(hits) for hits in on_disk] == [scores(hits) for hits in in_memory]


def test_deleted_passages_are_not_found(corpus: Corpus) -> None:
    assert Bm25(corpus).search(["number350"], 10) == [[]]


# ---------------------------------------------------------------- order and shape


@pytest.mark.parametrize("k", [0, 1, 7, 250, 1000])
def test_at_most_k_hits_come(corpus: Corpus, k: int) -> None:
    assert len(Bm25(corpus).search(["lamp tower keeper"], k)[0]) <= k


def test_scores_never_rise_along_the_hits(corpus: Corpus) -> None:
    hits = Bm25(corpus).search(["lamp tower keeper"], 50)[0]
    assert all(a.score >= b.score for a, b in pairwise(hits))


def test_a_batch_gives_what_its_queries_give_alone(corpus: Corpus) -> None:
    retriever = Bm25(corpus)
    queries = [*QUERIES, QUERIES[0]]
    assert retriever.search(queries, 5) == [retriever.search([query], 5)[0] for query in queries]


def test_no_queries_give_no_results(corpus: Corpus) -> None:
    assert Bm25(corpus).search([], 5) == []


def test_equal_scores_are_ordered_by_id() -> None:
    passages = [Passage.of(f"lamp {word}") for word in WORDS[1:]]
    hits = InMemory(passages).search(["lamp"], 30)[0]
    assert [hit.passage.id for hit in hits] == sorted(passage.id for passage in passages)


def test_a_passage_given_twice_is_ranked_once() -> None:
    assert len(InMemory([Passage.of("lamp")] * 3).search(["lamp"], 5)[0]) == 1


def test_memory_without_passages_finds_nothing() -> None:
    assert InMemory([]).search(["lamp"], 5) == [[]]


def test_given_passages_keep_their_order() -> None:
    passages = [Passage.of(word) for word in WORDS]
    assert [hit.passage for hit in StaticRanking(passages).search(["wreck"], 4)[0]] == passages[:4]


# ---------------------------------------------------------------- queries


def test_stop_words_do_not_count_beside_other_words() -> None:
    assert query_terms("who was the keeper of the light") == terms("keeper light")


def test_a_query_of_stop_words_alone_is_asked_as_it_is() -> None:
    assert query_terms("The Who") == terms("the who")


def test_every_stop_word_alone_is_a_query() -> None:
    assert all(query_terms(word) for word in STOPWORDS)


@pytest.mark.parametrize("query", ["", "   ", "?!", "\x00", "zzzz unheard", "\ud800", "🙂"])
def test_a_query_of_unknown_words_finds_nothing(corpus: Corpus, query: str) -> None:
    assert Bm25(corpus).search([query], 5) == [[]]


def test_a_null_byte_changes_nothing(corpus: Corpus) -> None:
    retriever = Bm25(corpus)
    assert retriever.search(["lamp\x00 tower"], 5) == retriever.search(["lamp tower"], 5)


@pytest.mark.parametrize(
    "query", ["lamp " * 20_000, " ".join(f"lamp{n}" for n in range(10_000)) + " lamp", "lamp " + "x" * 100_000]
)
def test_a_question_of_100_000_characters_is_answered(corpus: Corpus, query: str) -> None:
    assert len(Bm25(corpus).search([query], 5)[0]) == 5


@pytest.mark.parametrize("query", ["lamp AND (tower", "key:1", '"lamp', "lamp*", "-lamp", "[a TO z] lamp", "lamp^9"])
def test_a_query_is_words_and_never_syntax(corpus: Corpus, passages: list[Passage], query: str) -> None:
    retriever = Bm25(corpus)
    assert scores(retriever.search([query], 5)[0]) == scores(InMemory(passages).search([query], 5)[0])


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The lighthouses were running on whale oil.", "lighthouse run oil"),
        ("Der Bürgermeister von Köln", "burgermeister koln"),
        ("Le phare a été allumé", "ete allume"),
        ("灯台は海の道しるべです", "灯台"),
        ("Ο φάρος της Αλεξάνδρειας", "φαρος"),
        ("Старый маяк у моря", "МАЯК"),
        ("ประภาคารเก่าแก่", "ประภาคาร"),
        ("등대지기의 노래", "등대지기의"),
        ("It cost 3,141.5 pounds", "3,141.5"),
        ("Tom's boat", "Tom boat"),
    ],
)
def test_other_forms_scripts_and_accents_are_found(tmp_path: Path, text: str, query: str) -> None:
    (tmp_path / "a.txt").write_text(text, "utf-8")
    update(tmp_path / "index", [tmp_path / "a.txt"])
    with open_index(tmp_path / "index") as opened:
        assert [hit.passage.text for hit in Bm25(opened).search([query], 5)[0]] == [text]


@pytest.mark.parametrize(
    ("k1", "b"), [(-0.1, 0.5), (math.nan, 0.5), (math.inf, 0.5), (1.0, -0.1), (1.0, 1.1), (1.0, math.nan)]
)
def test_impossible_settings_are_wrong_usage(k1: float, b: float) -> None:
    with pytest.raises(UsageError, match="BM25's"):
        InMemory([], k1, b)
