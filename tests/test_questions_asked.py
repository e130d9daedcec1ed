"""The rules by which a sentence becomes a question, one sentence a row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_tables import table

from toulmin.data import Passage
from toulmin.datasets.synthetic_kinds import is_person, kind_of_thing, of_participle, of_past, of_present
from toulmin.datasets.synthetic_questions import questions_of
from toulmin.datasets.synthetic_statements import statements


def made_of(sentence: str, title: str = "") -> list[tuple[str, str]]:
    """Each question of the sentence, with the first of its answers."""
    return [
        (each.question.replace("In which year", "When"), each.answers[0])
        for statement in statements(Passage.of(sentence, title))
        for each in questions_of(statement)
    ]


@table(
    ("sentence", "question", "answer"),
    [
        ("Acme Glass Works was founded in 1850 in Bath.", "When was Acme Glass Works founded?", "1850"),
        ("The Kettle Rock Tower was built in 1821.", "When was the Kettle Rock Tower built?", "1821"),
        ("The sea watch H4 was finished in 1759.", "When was the sea watch H4 finished?", "1759"),
        ("In 1876, Hannah Pell joined the Royal Navy.", "When did Hannah Pell join the Royal Navy?", "1876"),
        ("Hannah Pell wrote Red Rocks on 3 May 1824.", "When did Hannah Pell write Red Rocks?", "3 May 1824"),
        ("Tom Ashby took the Bath Cup to York in 1901.", "When did Tom Ashby take the Bath Cup to York?", "1901"),
        ("In 1504 Tom Ashby was created Baron Herbert.", "When was Tom Ashby created Baron Herbert?", "1504"),
        ("Tom Ashby died in Bath in 1901, after an illness.", "When did Tom Ashby die?", "1901"),
        ("The Bath Games were held in York in May 1901.", "When were the Bath Games held in York?", "May 1901"),
        ("The Bath Games were held in York in 1901.", "Where were the Bath Games held?", "York"),
        ("Tom Ashby was born in 1693 in Foulby in Yorkshire.", "Where was Tom Ashby born?", "Foulby in Yorkshire"),
        ("Acme Glass Works is located in Bath, England.", "Where is Acme Glass Works located?", "Bath, England"),
        ("Red Rocks is a 1999 drama film directed by John Campea.", "Who directed Red Rocks?", "John Campea"),
        ("Hannah Pell (born 3 May 1824) is a British poet.", "When was Hannah Pell born?", "3 May 1824"),
    ],
)  # fmt: skip
def test_a_statement_becomes_a_question(sentence: str, question: str, answer: str):
    assert (question, answer) in made_of(sentence)


@table(
    "sentence",
    [
        "He was born in 1850.",
        "The company was founded in 1850.",
        "This Tower was built in 1821.",
        "Acme Glass Works was never founded in 1850.",
        "Acme Glass Works may have been founded in 1850.",
        "Acme Glass Works was founded in about 1850.",
        "Acme Glass Works was rebuilt in 1850 and 1870.",
        "Tom Ashby won the Bath Cup in 1901, 1902 and 1905.",
        "Tom Ashby worked in Bath from 1901 to 1905.",
        "Tom Ashby won the race in 1901.",
        "Tom Ashby joined the Bath team formed in 1901.",
        "Tom Ashby gave it to Hannah Pell in 1901.",
        "Tom Ashby flumped the Bath Cup in 1901.",
        "Was Acme Glass Works founded in 1850?",
        "Captain Pell was born in Bath.",
        "In 1901, Tom Ashby won five medals.",
        "In May 1901 Tom Ashby resigned from Bath Town and Hannah Pell became the keeper.",
        "Red Rocks was produced by Acme Pictures.",
        "Red Rocks was written by Hannah Pell and Tom Ashby.",
        "Red Rocks is a 1999 film written and directed by John Campea.",
    ],
)
def test_what_is_not_sure_is_not_asked(sentence: str):
    assert made_of(sentence) == []


def test_a_last_name_is_asked_about_in_full_where_the_title_tells_it():
    assert made_of("Pell died in 1901.", "Hannah Pell") == [("When did Hannah Pell die?", "1901")]


def test_a_last_name_that_nothing_completes_is_not_asked_about():
    assert made_of("Pell died in 1901.", "Rocks") == []


def test_a_last_name_is_completed_from_its_passage():
    text = "The first keeper was Hannah Pell. Pell died in 1901."
    assert made_of(text, "Rocks") == [("When did Hannah Pell die?", "1901")]


def test_a_last_name_of_two_people_is_not_asked_about():
    assert made_of("Hannah Pell met Thomas Pell. Pell died in 1901.", "Rocks") == []


def test_a_work_is_told_from_its_namesakes_by_the_title():
    sentence = "Elena is a drama film directed by Andrey Zvyagintsev."
    assert made_of(sentence, "Elena (2011 film)") == [("Who directed the 2011 film Elena?", "Andrey Zvyagintsev")]


def test_a_date_is_right_in_either_order():
    (statement,) = statements(Passage.of("Red Rocks was released on May 3, 1924.", "Red Rocks"))
    assert questions_of(statement)[0].answers == ("May 3, 1924", "3 May 1924")


def test_words_across_lines_are_one_sentence():
    assert made_of("Acme Glass\nWorks was founded\nin 1850.") == [("When was Acme Glass Works founded?", "1850")]


# ---------------------------------------------------------------- verbs and kinds


@table(
    ("past", "base"),
    [("found", "find"), ("founded", "found"), ("built", "build"), ("stopped", "stop"), ("opened", "open"),
     ("married", "marry"), ("died", "die"), ("played", "play"), ("wrote", "write"), ("occurred", "occur")],
)  # fmt: skip
def test_a_past_is_traced_to_its_base(past: str, base: str):
    assert getattr(of_past(past), "base", None) == base


@pytest.mark.parametrize("word", ["bred", "indeed", "hundred", "need", "writed", "", "The"])
def test_a_word_that_only_looks_like_a_past_is_none(word: str):
    assert of_past(word) is None


def test_a_participle_need_not_be_the_past():
    assert getattr(of_participle("written"), "past", None) == "wrote"


@pytest.mark.parametrize(("present", "base"), [("has", "have"), ("carries", "carry"), ("reaches", "reach")])
def test_a_present_is_traced_to_its_base(present: str, base: str):
    assert getattr(of_present(present), "base", None) == base


@given(st.text(max_size=12))
def test_forms_of_unknown_words_are_none_or_trace_back_to_themselves(word: str):
    verb = of_past(word)
    assert verb is None or verb.past == word


@pytest.mark.parametrize("name", ["Hannah Pell", "D. P. Varma", "Sir Cloudesley Shovell", "John van der Berg"])
def test_a_first_name_initials_or_a_title_make_a_person(name: str):
    assert is_person(name)


@pytest.mark.parametrize("name", ["Acme Pictures", "Virginia", "Victoria Park", "George Street Church", "NASA"])
def test_an_institution_a_place_or_one_word_is_no_person(name: str):
    assert not is_person(name)


def test_the_kind_of_a_thing_is_its_noun():
    assert kind_of_thing("a 1970 Indian drama film directed by Raj Kapoor") == "film"


def test_a_kind_in_front_of_the_noun_is_not_it():
    assert kind_of_thing("an Indian film actress") is None
