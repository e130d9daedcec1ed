"""Excerpts: which sentences of the premises the judge reads beside a claim."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toulmin.data import Passage
from toulmin.judges.trained import excerpts

DULL = "Gulls sat on rocks. Waves broke below. Nobody was there. Fog came in often. "
CLAIM = "The lamp of Kettle Rock was first lit in 1824."


def count(text: str) -> int:
    """Words as tokens."""
    return len(text.split())


WORD = st.sampled_from("lamp rock lit tower 1824 sea Kettle fog first a of gull".split())
SENTENCE = st.lists(WORD, min_size=1, max_size=30).map(lambda words: " ".join(words).capitalize() + ".")
PASSAGE = st.builds(
    lambda sentences, title: Passage.of(" ".join(sentences), title),
    st.lists(SENTENCE, max_size=8),
    st.lists(WORD, max_size=4).map(" ".join),
)


def test_what_fits_is_read_whole_with_what_stands_between():
    passage = Passage.of("The lamp was lit.\n\n  Twice.", "Kettle Rock")
    assert excerpts(CLAIM, [passage], 100, count)[0].text == "Title: Kettle Rock\nThe lamp was lit.\n\n  Twice."


def test_the_sentence_that_holds_the_claim_is_read_wherever_it_stands():
    passage = Passage.of(DULL * 5 + "It was first lit in 1824. " + DULL * 5, "Kettle Rock")
    assert "first lit in 1824" in excerpts(CLAIM, [passage], 25, count)[0].text


def test_two_passages_that_hold_half_each_are_read_together():
    first = Passage.of(DULL * 4 + "Kettle Rock has a lamp.")
    second = Passage.of(DULL * 4 + "It was first lit in 1824.")
    text = excerpts(CLAIM, [first, second], 25, count)[0].text
    assert "Kettle Rock has a lamp." in text
    assert "first lit in 1824" in text


def test_a_second_excerpt_repeats_no_sentence_of_the_first():
    passage = Passage.of(DULL * 3 + "Kettle Rock has a lamp. " + DULL * 3 + "The lamp was lit in 1824.")
    first, second = excerpts(CLAIM, [passage], 9, count, most=2)
    taken = {(part.start, part.end) for part in first.sentences}
    assert taken.isdisjoint((part.start, part.end) for part in second.sentences)


def test_sentences_on_another_subject_make_no_second_excerpt():
    passage = Passage.of("The lamp of Kettle Rock was first lit in 1824. " + DULL * 10)
    assert len(excerpts(CLAIM, [passage], 12, count, most=5)) == 1


def test_the_decisive_sentence_is_the_one_that_holds_most_of_the_claim():
    passage = Passage.of("Fog came. The lamp was first lit in 1824. Kettle is a rock.")
    part = excerpts(CLAIM, [passage], 100, count)[0].nearby(CLAIM, 1)[0][0]
    assert passage.text[part.start : part.end] == "The lamp was first lit in 1824."


def test_without_premises_there_is_one_excerpt_without_text():
    assert [one.text for one in excerpts(CLAIM, [], 20, count)] == [""]


@given(st.lists(PASSAGE, max_size=4), st.integers(12, 60), st.integers(1, 3))
def test_an_excerpt_never_takes_more_than_its_room(passages: list[Passage], room: int, most: int):
    for one in excerpts(CLAIM, passages, room, count, most):
        assert count(one.text) <= room


@given(st.lists(PASSAGE, min_size=1, max_size=4), st.integers(12, 60))
def test_the_parts_stand_in_the_order_of_the_premises(passages: list[Passage], room: int):
    parts = excerpts(CLAIM, passages, room, count)[0].window.parts
    assert [(part.place, part.start) for part in parts] == sorted((part.place, part.start) for part in parts)
