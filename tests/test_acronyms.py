"""Acronyms and what they stand for (`toulmin.retrieval.acronyms`)."""

from __future__ import annotations

import pytest

from toulmin.data import Passage
from toulmin.retrieval.acronyms import AcronymRanker, other_forms
from toulmin.retrieval.bm25 import InMemory


@pytest.mark.parametrize(
    ("query", "text", "more"),
    [
        ("What is WAL?", "SQLite has a write-ahead log (WAL) since 2010.", ["write ahead log"]),
        ("What is a write-ahead log?", "SQLite has a write-ahead log (WAL) since 2010.", ["WAL"]),
        ("Who runs the FBI?", "It is the Federal Bureau of Investigation (FBI).", ["federal bureau of investigation"]),
        ("How do I use SSH?", "Log in with SSH (Secure Shell) from afar.", ["secure shell"]),
        ("What are RFCs?", "They are published as Requests for Comments (RFC).", ["requests for comments"]),
        ("What is the write-ahead log (WAL)?", "SQLite has a write-ahead log (WAL) since 2010.", []),
        ("What is WAL?", "SQLite has another mode (WAL) since 2010.", []),
        ("What is a lamp?", "The write-ahead log (WAL) is old.", []),
        ("WHAT IS IT?", "It is in the garden (IT).", []),
    ],
)  # fmt: skip
def test_the_other_form_is_what_a_text_tells(query: str, text: str, more: list[str]):
    assert other_forms(query, [text]) == more


def test_long_runs_of_letters_are_read_once():
    runs = ["ABC (" + "a" * 20_000 + "!", "a" * 20_000 + " (", "ABC (" + "a-" * 10_000]
    assert other_forms("What is ABC?", runs) == []


def test_of_several_meanings_the_commonest_counts():
    texts = ["The Public Library Society (PLS) met."] + 2 * ["Partial least squares (PLS) is a method."]
    assert other_forms("What does PLS do?", texts) == ["partial least squares"]


def test_an_acronym_finds_passages_that_only_spell_it_out():
    passages = [
        Passage.of("Since 2010 there is a write-ahead log (WAL)."),
        Passage.of("A write-ahead log makes commits cheap."),
        Passage.of("The lamp was lit in 1824."),
    ]
    found = AcronymRanker(InMemory(passages)).search(["What is WAL?", "lamp"], 3)
    assert [[hit.passage.id for hit in row] for row in found] == [
        [passages[0].id, passages[1].id],
        [passages[2].id],
    ]
