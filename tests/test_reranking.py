"""Words' best passages ranked anew by meaning, the vectors that are kept, and misspelled words put right."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Event

import numpy as np
import pytest

import toulmin
from toulmin.build.session import Session
from toulmin.build.sources import Sources
from toulmin.config import Settings
from toulmin.data import Hit, Passage
from toulmin.indexing.store import open_index
from toulmin.retrieval.bm25 import StaticRanking
from toulmin.retrieval.reranking import Reranker, VectorCache
from toulmin.retrieval.spelling import correct, corrections
from toulmin.runtime.encoder import TitledText, Vectors
from toulmin.server.engine import Ahead, EncodingProgress

PASSAGES = [Passage.of(f"Text {n} about {topic}.") for n, topic in enumerate(["sea", "sea", "light", "sea", "light"])]


class Topics:
    """Two numbers a text: whether it is about light, and whether it is about the sea."""

    name, identity, dimension = "topics", "0123456789abcdef0123", 2

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode_queries(self, queries: Sequence[str]) -> Vectors:
        return np.array([[float("light" in q), float("sea" in q)] for q in queries], np.float32)

    def encode_passages(self, passages: Sequence[TitledText]) -> Vectors:
        self.encoded += [passage.text for passage in passages]
        return self.encode_queries([passage.text for passage in passages])


def order(hits: Sequence[Hit]) -> list[int]:
    return [PASSAGES.index(hit.passage) for hit in hits]


def test_meaning_lifts_what_words_ranked_low() -> None:
    (hits,) = Reranker(StaticRanking(PASSAGES), VectorCache(Topics)).search(["a light"], 5)
    assert order(hits)[:2] == [2, 4]
    assert sorted(order(hits)) == [0, 1, 2, 3, 4]


def test_what_is_beyond_the_depth_stays_behind_in_the_order_of_words() -> None:
    (hits,) = Reranker(StaticRanking(PASSAGES), VectorCache(Topics), depth=3).search(["a light"], 5)
    assert order(hits) == [2, 0, 1, 3, 4]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_vector_is_made_once_and_found_again_by_another_process(tmp_path: Path) -> None:
    first, second = Topics(), Topics()
    before = Reranker(StaticRanking(PASSAGES), VectorCache(lambda: first, tmp_path)).search(["a light"], 5)
    after = Reranker(StaticRanking(PASSAGES), VectorCache(lambda: second, tmp_path)).search(["a light"], 5)
    assert (len(first.encoded), second.encoded) == (5, [])
    assert before == after


def test_a_damaged_or_foreign_file_of_vectors_costs_time_not_the_answer(tmp_path: Path) -> None:
    made = Topics()
    (tmp_path / f"vectors-{made.identity[:16]}.sqlite").write_bytes(b"no database at all, but longer than a header" * 9)
    (hits,) = Reranker(StaticRanking(PASSAGES), VectorCache(lambda: made, tmp_path)).search(["a light"], 5)
    assert order(hits)[:2] == [2, 4]


def test_a_glossarys_entry_for_the_term_comes_first() -> None:
    entry = Passage.of("beacon\n\nA fire on a hill.\n\nfog bell\n\nRung by hand.")
    others = [Passage.of(f"The fog bell and its light, number {n}.") for n in range(4)]
    for question, place in (("What is a fog bell?", 0), ("How loud is the light of a fog bell?", 4)):
        (hits,) = Reranker(StaticRanking([*others, entry]), VectorCache(Topics)).search([question], 5)
        assert [hit.passage for hit in hits].index(entry) == place


def test_nothing_is_asked_where_nothing_is_wanted() -> None:
    assert Reranker(StaticRanking(PASSAGES), VectorCache(Topics)).search(["a light"], 0) == [[]]
    assert Reranker(StaticRanking([]), VectorCache(Topics)).search(["a light"], 3) == [[]]


# ---------------------------------------------------------------- spelling


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for n in range(5):
        (folder / f"{n}.md").write_text(
            f"# Note {n}\n\nThe command reads the foreign fields of table {n} at Zelkova.\n"
            f"A lamp, a tone{' and a stone' * (n > 0)}.\n"
        )
    return folder


@pytest.fixture
def index(docs: Path, tmp_path: Path) -> Path:
    toulmin.index(docs, into=tmp_path / "index", settings=Settings())
    return tmp_path / "index"


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("Which comand reads feilds?", "Which command reads fields?"),
        ("Which commandd reads the foriegn table?", "Which command reads the foreign table?"),
        ("What is at Zelkoba?", "What is at Zelkova?"),
        ("Does the boiler read?", "Does the boiler read?"),  # English has the word, though the index has not
        ("What does XYZZY read?", "What does XYZZY read?"),
        ("Which command reads fields?", "Which command reads fields?"),
        ("Wich command reads fields?", "Which command reads fields?"),
        ("So dose it read?", "So does it read?"),
        ("Hot fields?", "Hot fields?"),  # a word of English is no question word but for swapped letters
        ("Which foreignfield is at Zelkova?", "Which foreign field is at Zelkova?"),
        ("Which foreignfild is read?", "Which foreignfild is read?"),
        ("What is a lampstone?", "What is a lamp stone?"),  # no "lamps tone"
    ],
)
def test_misspelled_words_become_words_of_the_index(index: Path, question: str, right: str) -> None:
    with open_index(index) as corpus:
        assert correct(question, corrections(question, corpus)) == right


def test_a_run_of_letters_is_no_misspelled_word(index: Path) -> None:
    with open_index(index) as corpus:
        assert corrections("a" * 50_000, corpus) == {}


def test_an_answer_says_as_what_a_misspelled_question_was_read(docs: Path) -> None:
    told = toulmin.ask("Which comand reads the feilds?", docs=docs, judge="lexical", reader="lexical")
    assert told.question == "Which command reads the fields?"
    assert any("“comand”, “feilds”" in note for note in told.notes)
    assert told.claims


def test_search_by_words_is_what_it_was_where_no_encoder_is_installed(docs: Path) -> None:
    with Session(Sources(docs=(str(docs),)), Settings(fusion="lexical")) as session:
        (row,) = session.rank(["foreign fields"], 3)
        assert len(row) == 3


# ---------------------------------------------------------------- vectors made ahead


@pytest.fixture
def library(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for n, passage in enumerate(PASSAGES):
        (tmp_path / "docs" / f"{n}.txt").write_text(passage.text, "utf-8")
    toulmin.index(tmp_path / "docs", into=tmp_path / "index")
    return tmp_path / "index"


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_vectors_are_made_ahead_once_and_of_a_changed_index_too(library: Path, tmp_path: Path) -> None:
    made = Topics()
    ahead = Ahead(partial(open_index, library), VectorCache(lambda: made, tmp_path), lambda: True)
    ahead.start()
    try:
        until(lambda: ahead.progress == EncodingProgress(5, 5, 0.0))
        (tmp_path / "docs" / "new.txt").write_text("A new light.", "utf-8")
        toulmin.index(tmp_path / "docs", into=library)
        until(lambda: ahead.progress == EncodingProgress(6, 6, 0.0))
    finally:
        ahead.stop()
    assert sorted(made.encoded) == sorted(["A new light.", *(passage.text for passage in PASSAGES)])
    with open_index(library) as corpus:
        assert len(VectorCache(Topics, tmp_path).of(list(corpus.every_passage()))) == 6


def test_nothing_is_made_ahead_while_somebody_waits_for_an_answer(library: Path, tmp_path: Path) -> None:
    made, asks = Topics(), Event()
    ahead = Ahead(partial(open_index, library), VectorCache(lambda: made, tmp_path), asks.is_set)
    ahead.start()
    try:
        time.sleep(0.3)
        assert (made.encoded, ahead.progress) == ([], None)
        asks.set()
        until(lambda: len(made.encoded) == 5)
    finally:
        ahead.stop()


def test_many_queries_together_rank_as_many_passages_as_three() -> None:
    class Each:
        def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
            return [[Hit(Passage.of(f"Text {n} about {query}."), 1.0) for n in range(100)] for query in queries]

    def encoded(queries: int) -> int:
        made = Topics()
        Reranker(Each(), VectorCache(lambda: made)).search([f"light {n}" for n in range(queries)], 5)
        return len(made.encoded)

    assert [encoded(queries) for queries in (1, 3, 6, 20, 30)] == [100, 300, 300, 300, 360]
