"""Passages: where they are cut, and what always holds of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from texts import LATIN, keeps_the_laws, latin_texts, texts

from toulmin.data import Document, Heading, content_id
from toulmin.documents.passages import cut
from toulmin.text.language import sentences

modest = settings(max_examples=60, deadline=None)
sizes = st.sampled_from([1, 2, 7, 30, 100])


def sentence(words: int) -> str:
    return " ".join(LATIN[i % len(LATIN)] for i in range(words)).capitalize() + "."


def word_counts(text: str, size: int = 100, record: str | None = None) -> list[int]:
    return [len(passage.text.split()) for passage in cut(Document(text, record=record), size)]


@modest
@given(texts(), sizes)
def test_passages_stand_at_their_offsets_and_hold_every_word(text: str, size: int) -> None:
    assert keeps_the_laws(Document(text), size)


@modest
@given(st.text(max_size=400), sizes)
def test_the_laws_hold_for_any_characters(text: str, size: int) -> None:
    assert keeps_the_laws(Document(text), size)


@modest
@given(latin_texts(), st.sampled_from([30, 100]))
def test_a_sentence_that_fits_is_never_cut(text: str, size: int) -> None:
    passages = cut(Document(text), size)
    short = [span for span in sentences(text) if len(text[span.start : span.end].split()) <= size]
    assert all(any(p.source.start <= s.start and s.end <= p.source.end for p in passages) for s in short)


@modest
@given(texts())
def test_a_short_sentence_of_any_script_is_never_cut(text: str) -> None:
    passages = cut(Document(text), 50)
    short = [span for span in sentences(text) if span.end - span.start <= 50]
    assert all(any(p.source.start <= s.start and s.end <= p.source.end for p in passages) for s in short)


@modest
@given(latin_texts(), sizes)
def test_no_passage_is_longer_than_half_as_much_again(text: str, size: int) -> None:
    assert max(word_counts(text, size)) <= 1.5 * size


@modest
@given(latin_texts())
def test_ids_are_made_from_title_and_text(text: str) -> None:
    assert all(p.id == content_id("A title", p.text) for p in cut(Document(text, "A title")))


def test_a_paragraph_a_little_too_long_stays_whole() -> None:
    assert word_counts(" ".join(sentence(15) for _ in range(7))) == [105]


def test_no_small_rest_stays_at_the_end() -> None:
    assert min(word_counts(" ".join(sentence(15) for _ in range(15)))) >= 75


def test_a_cut_falls_between_paragraphs_rather_than_within_one() -> None:
    paragraph = " ".join(sentence(20) for _ in range(4))
    assert [p.text for p in cut(Document(f"{paragraph}\n\n{paragraph}\n\n{paragraph}"))] == [paragraph] * 3


def test_a_heading_stays_with_what_it_introduces() -> None:
    paragraph = " ".join(sentence(20) for _ in range(5))
    text = f"{paragraph}\n\n# The lamp\n\n{paragraph}"
    assert cut(Document(text))[1].text.startswith("# The lamp")


def test_a_section_begins_a_passage() -> None:
    first = f"{sentence(20)} " * 5 + "\n\n"
    text = f"{first}Tides\n\n" + "\n\n".join([sentence(28)] * 5)
    unmarked, marked = cut(Document(text)), cut(Document(text, headings=(Heading(len(first), 1, "Tides"),)))
    assert not any(passage.text.startswith("Tides") for passage in unmarked)
    assert [passage.source.section for passage in marked if passage.text.startswith("Tides")] == ["Tides"]


def test_headings_that_stand_together_are_not_torn_apart() -> None:
    first, after = f"{sentence(20)} " * 5 + "\n\n", "\n\n".join([sentence(28)] * 5)
    text = f"{first}Tides\n\nSpring tides\n\n{after}"
    heads = (Heading(len(first), 1, "Tides"), Heading(len(first) + len("Tides\n\n"), 2, "Spring tides"))
    assert any(passage.text.startswith("Tides\n\nSpring tides") for passage in cut(Document(text, headings=heads)))


@pytest.mark.parametrize(
    "question",
    [
        "2.8. Does the lamp turn?",
        '16. "Does the lamp turn?"',
        "2.8. I get the error that the lamp turns",
        "Q: The lamp turns. Why does it turn?",
        "Q: The lamp does not turn.",
    ],
)
def test_a_question_of_a_faq_stays_with_its_answer(question: str) -> None:
    mark = "A: " if question.startswith("Q") else ""
    before, answer = " ".join(sentence(9) for _ in range(8)), " ".join(sentence(10) for _ in range(9))
    text = f"{before}\n\n{question}\n\n{mark}{answer}\n\n{answer}"
    assert any(passage.text.startswith(f"{question}\n\n{mark}{answer}") for passage in cut(Document(text)))


def test_a_question_after_a_lead_in_begins_a_passage() -> None:
    before = " ".join([sentence(20)] * 3)
    text = f"{before}\n\nA: Look at:\n\nQ: Does it turn?\n\nA: {before} {sentence(20)}"
    assert any(passage.text.startswith("Q: ") for passage in cut(Document(text)))


def test_code_stays_with_the_paragraph_above_it() -> None:
    before, code = " ".join([sentence(14)] * 7), "    lamp " * 30
    passages = cut(Document(f"{before}\n\n{sentence(9)}\n\n{code}\n\n{before}"))
    assert any(f"{sentence(9)}\n\n    lamp" in passage.text for passage in passages)


def test_a_sentence_much_too_long_is_cut_at_clause_punctuation() -> None:
    text = ", ".join(sentence(45).rstrip(".") for _ in range(6)) + "."
    assert all(p.text.endswith((",", ".")) for p in cut(Document(text)))


def test_a_sentence_without_punctuation_is_cut_between_words() -> None:
    words = [f"word{i}" for i in range(1000)]
    assert [w for p in cut(Document(" ".join(words))) for w in p.text.split()] == words


def test_a_script_without_spaces_counts_two_characters_as_a_word() -> None:
    assert {len(p.text) for p in cut(Document("灯台は海の道しるべです。" * 100))} <= set(range(150, 280))


def test_letters_keep_their_marks_where_a_run_without_spaces_is_cut() -> None:
    assert not any(p.text.startswith("\u0323") for p in cut(Document("o\u0323" * 40_000), 10))


def test_a_record_stays_whole_up_to_three_times_the_size() -> None:
    assert word_counts(" ".join(sentence(20) for _ in range(15)), record="r1") == [300]


def test_a_longer_record_is_cut() -> None:
    assert max(word_counts(" ".join(sentence(20) for _ in range(16)), record="r1")) <= 150


def test_passages_carry_path_record_and_page() -> None:
    text = " ".join(sentence(20) for _ in range(10))
    second = len(text) // 2 - 5
    found = cut(Document(text, path="a.pdf", record="r", pages=(0, second, second)), size=10)
    assert {(p.source.path, p.source.record, p.source.page) for p in found} == {("a.pdf", "r", 1), ("a.pdf", "r", 3)}


def test_a_blank_text_has_no_passages() -> None:
    assert cut(Document(" \n\t ")) == []


def test_a_size_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 word"):
        cut(Document("a"), 0)
