"""Every typed prompt reads what a language model may reply, however it is put."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from toulmin.data import Claim, Passage
from toulmin.prompts.types import (
    AnswerPrompt,
    Cite,
    Correct,
    Extract,
    Feedback,
    JudgeClaim,
    MostConsistent,
    NextClaim,
    Outline,
    Paragraph,
    Prompt,
    Queries,
    Questions,
    Refine,
    Summarise,
    Write,
)

PASSAGES = tuple(Passage.of(f"The text of passage {n}.") for n in range(1, 4))
NUMBER = {passage.id: n for n, passage in enumerate(PASSAGES, start=1)}
CLAIMS = (Claim("The lamp was lit."),)
SCORES = (("correctness", 50.0), ("citation recall", 90.0))

PROMPTS: list[Prompt[Any]] = [
    AnswerPrompt("Who?", PASSAGES),
    AnswerPrompt("Who?", PASSAGES, "list"),
    AnswerPrompt("Who?", PASSAGES, "short"),
    NextClaim("Who?", "", PASSAGES),
    Cite("A lamp.", PASSAGES),
    Queries("Who?", "", "A lamp."),
    Summarise("Who?", PASSAGES[0]),
    Extract("Who?", PASSAGES[0]),
    Correct("Who?", PASSAGES, CLAIMS),
    Outline("Lamps", PASSAGES),
    Questions("Lamps", PASSAGES),
    Write("Lamps", PASSAGES),
    Feedback("Who?", PASSAGES, CLAIMS, SCORES, SCORES),
    Refine("Who?", PASSAGES, CLAIMS, {}),
    MostConsistent("Who?", (CLAIMS, CLAIMS)),
    JudgeClaim("A lamp.", PASSAGES),
]


@table("prompt", PROMPTS, ids=lambda prompt: type(prompt).__name__)
@given(st.text(max_size=60) | st.text(alphabet="[1]2.-: \n*#aB", max_size=40))
@settings(max_examples=25, deadline=None)
def test_no_reply_is_too_odd_to_read(prompt: Prompt[Any], reply: str):
    prompt.read(reply)


def cited(draft: Any) -> list[tuple[str, list[int]]]:
    return [(claim.text, [NUMBER[id] for id in claim.cited]) for claim in draft.claims]


@pytest.mark.parametrize("reply", ['{"answer": "The lamp was lit. \ud83d', '["It was lit.", "It was \ud83d'])
def test_json_that_is_cut_off_within_a_character_is_read(reply: str):
    assert AnswerPrompt("Q?", ()).read(reply).claims


def test_an_answer_is_read_as_cited_claims():
    assert cited(AnswerPrompt("Who?", PASSAGES).read("Lamps burn [1]. Storms pass [2][3].")) == [
        ("Lamps burn.", [1]),
        ("Storms pass.", [2, 3]),
    ]


def test_an_answer_without_words_is_an_empty_draft():
    assert AnswerPrompt("Who?", PASSAGES).read(" \n").claims == ()


@pytest.mark.parametrize(
    ("reply", "claim"),
    [
        ("The lamp was lit [1]. It burned.", "The lamp was lit."),
        ("  It burned.\n", "It burned."),
        ("END", None),
        ("[END]", None),
        ("Done.", None),
        ("", None),
        ("[1]", None),
        ("It was old. It burned.", None),
        ("Ending soon, it burned.", "Ending soon, it burned."),
    ],
)
def test_the_next_claim_is_the_first_sentence_or_the_end(reply: str, claim: str | None):
    assert NextClaim("Who?", "It was old.", PASSAGES).read(reply) == claim


@pytest.mark.parametrize(
    ("reply", "numbers"),
    [("[2][1]", [2, 1]), ("The lamp was lit [3].", [3]), ("1, 2", [1, 2]), ("none of them", [])],
)
def test_citations_are_read_in_the_order_named(reply: str, numbers: list[int]):
    assert [NUMBER[id] for id in Cite("A lamp.", PASSAGES).read(reply).ids] == numbers


def test_no_more_queries_than_asked_for_are_read():
    assert Queries("Who?", "", "A.", n=2).read("1. Who?\n2. Where?\n3. When?") == ("Who?", "Where?")


@table("prompt", [Summarise("Who?", PASSAGES[0]), Extract("Who?", PASSAGES[0])])
@table(
    ("reply", "text"),
    [
        ("The lamp was lit.", "The lamp was lit."),
        ("Irrelevant.", None),
        ("[not relevant]", None),
        (" ", None),
        ("The irrelevant lamp.", "The irrelevant lamp."),
    ],
)
def test_an_irrelevant_passage_gives_nothing(prompt: Prompt[str | None], reply: str, text: str | None):
    assert prompt.read(reply) == text


@pytest.mark.parametrize(
    "reply",
    [
        "It was wrong because.\nCorrected Answer: Lamps burn [1].",
        "Final Answer: Lamps burn [1].",
        "**Final answer:** Lamps burn [1].",
        "Lamps burn [1].",
    ],
)
def test_a_correction_follows_either_marker_or_is_the_whole_reply(reply: str):
    assert cited(Correct("Who?", PASSAGES, CLAIMS).read(reply)) == [("Lamps burn.", [1])]


def test_an_outline_is_read_as_titled_paragraphs():
    reply = "Here is the outline:\n1. **Early life**: birth and school\n2. Work: all inventions"
    assert Outline("Pell", PASSAGES).read(reply) == (
        Paragraph("Early life", "birth and school"),
        Paragraph("Work", "all inventions"),
    )


def test_an_outline_under_headings_is_read_as_titled_paragraphs():
    assert Outline("Pell", PASSAGES).read("### Early life\nBirth.\n\n### Work\nAll.") == (
        Paragraph("Early life", "Birth."),
        Paragraph("Work", "All."),
    )


def test_an_outline_without_a_recognisable_paragraph_is_one():
    assert len(Outline("Pell", PASSAGES).read("The life of Pell and what she built")) == 1


def test_questions_are_distinct():
    assert Questions("Pell", PASSAGES).read("- Who?\n- Where?\n- Who?") == ("Who?", "Where?")


def test_feedback_is_told_apart_by_aspect():
    reply = "Correctness: Name the year.\n**Citation Recall**: Fine.\nMore of it."
    assert Feedback("Who?", PASSAGES, CLAIMS, SCORES, SCORES).read(reply) == {
        "correctness": "Name the year.",
        "citation recall": "Fine.\nMore of it.",
    }


def test_feedback_that_names_no_aspect_is_empty():
    assert Feedback("Who?", PASSAGES, CLAIMS, SCORES, SCORES).read("Nice work.") == {}


@pytest.mark.parametrize(
    ("reply", "chosen"), [("Response 2 agrees most.", 1), ("1", 0), ("7", 0), ("0", 0), ("neither", 0), ("9" * 5000, 0)]
)
def test_the_most_consistent_candidate_is_named_by_number(reply: str, chosen: int):
    assert MostConsistent("Who?", (CLAIMS, CLAIMS)).read(reply) == chosen


@table(
    ("reply", "label"),
    [
        ("Supported", "supported"),
        ("The claim is not supported.", "unsupported"),
        ("unsupported", "unsupported"),
        ("It contradicts the passage.", "contradicted"),
        ("The claim is not fully supported.", "unsupported"),
        ("The passages don't really support it.", "unsupported"),
        ("The passages support the claim.", "supported"),
        ("Partially supported", "unsure"),
        ("It does not contradict the passage.", "unsure"),
        ("I am unsure.", "unsure"),
        ("Hm.", "unsure"),
        ("", "unsure"),
    ],
)
def test_a_verdict_is_read_from_its_word(reply: str, label: str):
    assert JudgeClaim("A lamp.", PASSAGES).read(reply) == label


@table("prompt", PROMPTS, ids=lambda prompt: type(prompt).__name__)
@table("unit", ["\n", "final answer ", "not ", "1", "Correctness", "(", "- "])
def test_a_hostile_reply_is_read_to_its_end(prompt: Prompt[Any], unit: str):
    prompt.read(unit * (15_000 // len(unit)) + "x")
