"""Which questions ask what a term means, and which lines and sentences say it."""

from __future__ import annotations

import pytest
from row_tables import table

from toulmin.text.definitions import defined_terms, has_entry, says_what_it_is


@table(
    ("question", "term"),
    [
        ("What is a docstring?", "docstring"),
        ("what's an octopus merge", "octopus merge"),
        ("What does duck-typing mean?", "duck typing"),
        ("What is preseeding of the Debian installer?", "preseeding"),
        ("What is meant by a hot journal in SQLite?", "hot journal"),
        ("What was a quern?", "quern"),
        ("Define namespace", "namespace"),
        ("What does the option guess_indent do?", "guess_indent"),
        ("What does git stash do?", "git stash"),
        ("What does the -t option of formail do?", "-t"),
        ("What is -s?", "-s"),
        ("What is the difference between a list and a tuple?", ""),
        ("What is the size of a page?", ""),
        ("What modes does SQLite support?", ""),
        ("Where is the beacon?", ""),
    ],
)
def test_the_term_whose_meaning_is_asked_for(question: str, term: str) -> None:
    assert defined_terms(question) == defined_terms(f"Define {term}")
    assert bool(defined_terms(question)) == bool(term)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("decorator\n\nIt wraps.\n\nDocstring\n\nA string.", True),
        ("3.5.6 Docstrings\n\nThey are strings.", True),
        ("The docstring\n\nis read.", False),
        ("It has a docstring.\n\nAnd more.", False),
        ("More.\n\ndocstring", False),  # nothing is said of it
    ],
)
def test_an_entry_is_a_line_with_the_term_alone(text: str, is_one: bool) -> None:
    assert has_entry(text, defined_terms("What is a docstring?")) == is_one


@table(
    ("text", "is_one"),
    [
        ("-L: Use a local database.", True),
        ("-l, -L, --local Use a local database.", True),
        ("-v -L Use a local database.", True),
        ("-l: Use less.", False),
        ("Use -L for a local database.", False),
        ("-Lx: Another one.", False),
    ],
)
def test_the_entry_of_an_option_begins_with_it_in_its_own_letters(text: str, is_one: bool) -> None:
    assert has_entry(text, defined_terms("What does -L do in abcde?")) == is_one


@pytest.mark.parametrize(
    ("sentence", "says"),
    [
        ("A generator is a function.", True),
        ("Generators are functions.", True),
        ("The generator means power.", True),
        (":generator: Any pattern that emits gliders.", True),
        (":generator Any pattern that emits gliders.", True),
        ('Generator \\Gen"er*a`tor\\, n. One who generates.', True),
        ("generator (n.) A machine.", True),
        ("Generator: a machine.", True),
        ("Generator, which see.", False),
        ("generators is a list of nodes.", False),
        ("The generator expression is lazy.", False),
        ("It is a generator.", False),
    ],
)
def test_a_sentence_that_begins_with_the_term_says_what_it_is(sentence: str, says: bool) -> None:
    assert says_what_it_is(sentence, defined_terms("What is a generator?")) == says


def test_a_plural_by_spelling_alone_is_none() -> None:
    assert says_what_it_is("A process is a program that runs.", defined_terms("What is a process?"))
