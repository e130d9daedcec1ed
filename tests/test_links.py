"""Passages that the first hits name: when they come, where they stand, and what stays as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from toulmin.build.sources import Sources, open_sources
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.indexing.store import Corpus, open_index
from toulmin.indexing.update import update
from toulmin.retrieval.bm25 import Bm25, InMemory, Titles
from toulmin.retrieval.links import LinkRanker, title_key

FILM = Passage.of(
    "Fortunella is a 1958 Italian film directed by Eduardo De Filippo. Giulietta Masina plays.", "Fortunella (film)"
)
DIRECTOR = Passage.of(
    "Eduardo De Filippo (24 May 1900) came from Naples and wrote plays for the stage.", "Eduardo De Filippo"
)
ACTOR = Passage.of("Giulietta Masina acted in many pictures of her husband.", "Giulietta Masina")
OTHERS = [
    Passage.of(f"Number {n}: somebody was born in a place by the sea, a director said.", f"Place {n}")
    for n in range(20)
]
EVERY = [FILM, DIRECTOR, ACTOR, *OTHERS]
QUESTION = "In which place was the director of the film Fortunella born?"


def found(question: str, k: int = 10, passages: list[Passage] = EVERY) -> list[Passage]:
    by_words = InMemory(passages)
    return [hit.passage for hit in LinkRanker(by_words, by_words).search([question], k)[0]]


def plain(question: str, k: int = 10, passages: list[Passage] = EVERY) -> list[Passage]:
    return [hit.passage for hit in InMemory(passages).search([question], k)[0]]


def test_page_named_by_the_first_hit_is_found():
    assert ACTOR not in plain(QUESTION)
    assert {DIRECTOR, ACTOR} <= set(found(QUESTION))


def test_the_first_places_stay_as_they_were():
    assert found(QUESTION)[:6] == plain(QUESTION)[:6]


def test_no_more_than_the_places_asked_for_are_given_and_none_twice():
    for k in range(12):
        ids = [passage.id for passage in found(QUESTION, k)]
        assert len(ids) == len(set(ids)) <= k


def test_of_one_or_two_places_none_is_given_away():
    assert found(QUESTION, 2) == plain(QUESTION, 2)


def test_scores_do_not_rise_along_the_ranking():
    by_words = InMemory(EVERY)
    scores = [hit.score for hit in LinkRanker(by_words, by_words).search([QUESTION], 10)[0]]
    assert scores == sorted(scores, reverse=True)


def test_a_hit_that_the_question_is_not_about_names_nobody():
    question = "Who was born in a place by the sea, a director said?"
    assert found(question) == plain(question)


def test_a_hit_that_leaves_nothing_open_names_nobody():
    question = "Is Fortunella a 1958 Italian film?"
    assert found(question) == plain(question)


def test_a_ranking_shorter_than_asked_for_is_added_to():
    passages = [FILM, DIRECTOR, ACTOR]
    question = "Whose film is Fortunella, and when was she born?"
    assert set(plain(question, 10, passages)) == {FILM}
    assert set(found(question, 10, passages)) == {FILM, DIRECTOR, ACTOR}


def test_a_query_without_hits_has_none():
    assert found("zebra quagga") == []


def test_many_queries_are_answered_as_each_alone():
    by_words = InMemory(EVERY)
    queries = [QUESTION, "zebra", "Giulietta Masina husband", QUESTION]
    assert LinkRanker(by_words, by_words).search(queries, 10) == [
        LinkRanker(by_words, by_words).search([query], 10)[0] for query in queries
    ]


@pytest.mark.parametrize(("title", "key"), [("Ana (1971 film)", "ana"), ("  Ána—Bo ", "ana bo"), ("(2004)", "2004")])
def test_titles_are_compared_without_case_accents_and_brackets(title: str, key: str):
    assert title_key(title) == key


def test_the_setting_turns_it_off():
    def searched(links: bool) -> list[Passage]:
        with open_sources(Sources(passages=tuple(EVERY)), Settings(links=links)) as opened:
            return [hit.passage for hit in opened.retriever.search([QUESTION], 10)[0]]

    assert searched(False) == plain(QUESTION)
    assert searched(True) == found(QUESTION)


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    """An index of the same passages, and of one that only speaks of the director."""
    lines = [{"_id": str(n), "title": passage.title, "text": passage.text} for n, passage in enumerate(EVERY)]
    lines.append({"_id": "about", "title": "Naples", "text": "Eduardo De Filippo, Eduardo De Filippo, Filippo!"})
    (tmp_path / "pages.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    update(tmp_path / "index", [tmp_path / "pages.jsonl"])
    with open_index(tmp_path / "index") as opened:
        yield opened


def test_a_title_is_looked_up_by_all_its_words(corpus: Corpus):
    rankings = Titles(corpus).search(["eduardo de filippo", "eduardo zebra", "giulietta filippo", "the"], 3)
    assert [[hit.passage.title for hit in hits] for hits in rankings] == [["Eduardo De Filippo"], [], [], []]


def test_names_looked_up_by_title_give_what_a_full_search_for_them_gives(corpus: Corpus):
    by_words = Bm25(corpus)
    assert LinkRanker(by_words, Titles(corpus)).search([QUESTION], 10) == LinkRanker(by_words, by_words).search(
        [QUESTION], 10
    )
