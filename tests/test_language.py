"""Sentences, words and terms in many scripts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table
from strategies import texts

from toulmin.text.language import Span, fold, is_question, rarity, search_terms, sentences, stem, terms, words


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@table(
    "text",
    [
        # citations
        "It was lit [1].|Then it burned [2, 3].",
        "It was lit. [1]|Then it burned.",
        "It was lit.[1][2]|Then it burned.",
        "It was lit.【1】|Then it burned.",
        "Smith et al. (2010) found it.|It held.",
        # abbreviations and initials
        "Dr. Smith met Mr. Jones.|They talked.",
        "J. R. R. Tolkien wrote it.|It sold.",
        "He lives in the U.S.|He works.",
        "The U.S. Army came.|It left.",
        "U.K. prime minister.|Next one.",
        "At 5 p.m. the lamp was lit.|Then it burned.",
        "Mr. and Mrs. A. Smith Jr. came.|They left.",
        "He earned a Ph.D.|He left.",
        "See Fig. 3 and Eq. 4.|Then stop.",
        "e.g. this and i.e. that.|Next one.",
        "Born c. 1820 in St. Ives.|Died 1880.",
        "The tower is 3 ft. tall.|Fine.",
        "This was plan B.|Then it ended.",
        "vol. 3, no. 4.|Next one.",
        "Reynard, a. k. a. the fox.|It ran.",
        # numbers
        "It cost $3.50.|It was cheap.",
        "Version 2.0.1 came out.|Good.",
        "Then came 1990.|In 1991 it fell.",
        "8.1. Does it run?|It came in 2.0.|Now it runs.",
        "It rose by 1,234.5 m.|The sea fell.",
        # ends of other kinds
        "Wait... what?|Yes!|No.",
        "Wait…|What now?",
        "What?!|No!!|Yes.",
        "The company Yahoo! was sold.|Then it went.",
        "It works 😀.|Really 😀 it does.",
        # quotation marks, brackets, Markdown
        "He said “Stop.”|Then he left.",
        'He said "Stop!" and left.',
        "“Go.”|“Stay.”",
        "(It was so.)|Then not.",
        "**Lamps burn.**|They do.",
        "**St. Louis** is a city.|It is large.",
        # names in lower case
        "iPhone sales rose.|iPad sales fell.",
        "It undoes a commit.|git log shows it.",
        "A stash is put on.|git gc keeps it.",
        "It cost approx. half, resp. less, incl. taxes etc. by then.",
        # other scripts
        "灯台は白い。|海は青い！|船は？",
        "الضوء أبيض.|البحر أزرق؟|نعم.",
        "प्रकाशस्तंभ सफेद है।|समुद्र नीला है।",
        "Φάρος εδώ.|Маяк там.",
        "¿Qué?|¡Sí!|Bueno.",
        "ประภาคารสีขาว ทะเลสีฟ้า",
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str):
    assert split(text.replace("|", "" if "。" in text else " ")) == text.split("|")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. First item\n2. Second item", ["1. First item", "2. Second item"]),
        ("  1. Indented.\n  2. Other.", ["1. Indented.", "2. Other."]),
        ("Intro:\n- one\n- two", ["Intro:", "- one", "- two"]),
        ("A title\n-------\nThe text.", ["A title", "-------", "The text."]),
        ("A title\n\nThe text.", ["A title", "The text."]),
        ("A line that is\nbroken. Next.", ["A line that is\nbroken.", "Next."]),
        ("no end", ["no end"]),
        (" \n\t ", []),
        ("", []),
    ],
)
def test_paragraphs_and_list_items_are_sentences_of_their_own(text: str, expected: list[str]):
    assert split(text) == expected


def test_abbreviations_and_dates_of_german_do_not_end_a_sentence():
    text = "Er kam am 3. Mai 1945 an, d.h. bzw. vgl. Nr. 7 nach dem Krieg. Dann ging er."
    assert split(text) == [text.removesuffix(" Dann ging er."), "Dann ging er."]


@table("text", ["Is it?", "Is it (and why)?", '16. "Is it?"', "Q: “Is it?”", "**Is it?**", "是吗？"])
def test_a_question_may_be_quoted_or_numbered(text: str):
    assert is_question(text)


@table("text", ['It asks "Is it?"', "It is (or is it?).", "It is.", "“Is it?” he asked."])
def test_a_statement_with_a_question_is_none(text: str):
    assert not is_question(text)


@given(st.lists(texts() | st.text(max_size=40), max_size=4), st.sampled_from([". ", "\n\n", "。", " ", "! "]))
@settings(max_examples=100, deadline=None)
def test_sentences_stand_in_order_and_hold_every_character(parts: list[str], joint: str):
    text = joint.join(parts)
    spans = sentences(text)
    bounds = [Span(0, 0), *spans, Span(len(text), len(text))]
    assert all(a.end <= b.start and not text[a.end : b.start].strip() for a, b in pairwise(bounds))


@given(st.lists(texts() | st.text(max_size=40), max_size=4).map(". ".join))
@settings(max_examples=100, deadline=None)
def test_no_sentence_is_empty_or_has_space_around_it(text: str):
    assert all(piece and piece == piece.strip() for piece in split(text))


@table("unit", [".", "a.", ". ", '."', "[1]", "\n", "A. ", "。", "\n- ", "(", "* "])
def test_a_hostile_text_is_split_to_its_end(unit: str):
    text = unit * (100_000 // len(unit)) + "\n\nThe end."
    assert split(text)[-1] == "The end."


# ---------------------------------------------------------------- words and terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's 1,234.5 metres.", ["It's", "1,234.5", "metres"]),
        ("half-light don’t", ["half", "light", "don’t"]),
        ("e\u0301te\u0301 प्रकाशस्तंभ مَنَارَة", ["e\u0301te\u0301", "प्रकाशस्तंभ", "مَنَارَة"]),
        ("the 3rd, in 1990s", ["the", "3rd", "in", "1990s"]),
        ("😀 !?", []),
    ],
)
def test_words_are_whole(text: str, expected: list[str]):
    assert [text[start:end] for start, end in words(text)] == expected


@given(texts())
@settings(max_examples=60, deadline=None)
def test_words_stand_in_order_inside_the_text(text: str):
    spans = [Span(0, 0), *words(text), Span(len(text), len(text))]
    assert all(a.end <= b.start and a.start <= a.end for a, b in pairwise(spans))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Keepers", "keeper"),
        ("Été", "ete"),
        ("e\u0301te\u0301", "été"),
        ("Hannah's", "Hannah"),
        ("Hannah’s", "hannah"),
        ("МАЯК", "маяк"),
        ("lighting", "lighted"),
    ],
)
def test_forms_of_a_word_are_one_term(one: str, other: str):
    assert stem(one) == stem(other)


def test_scripts_without_spaces_become_pairs_of_characters():
    assert terms("灯台は白い") == ["灯台", "台は", "は白", "白い"]


def test_a_part_of_a_text_without_spaces_is_findable():
    assert set(terms("灯台")) <= set(terms("白い灯台です"))


def test_marks_of_other_scripts_are_kept():
    assert fold("प्रकाशस्तंभ") == "प्रकाशस्तंभ"


@given(texts())
@settings(max_examples=60, deadline=None)
def test_folding_twice_changes_nothing(text: str):
    assert fold(fold(text)) == fold(text)


def test_a_word_that_is_everywhere_tells_less_than_one_that_is_not():
    assert rarity(stem("the")) < rarity(stem("lighthouse")) < rarity("qqqxyzzy")


@pytest.mark.parametrize(
    ("one", "other"), [("found", "find"), ("wrote", "writing"), ("Children", "child's"), ("indices", "index")]
)
def test_a_search_takes_irregular_forms_for_their_word(one: str, other: str):
    assert search_terms(one) == search_terms(other)
    assert terms(one) != search_terms(one)


def test_a_search_keeps_apart_what_only_stems_alike():
    assert search_terms("founded") != search_terms("found")
    assert terms("founded") == terms("found")
