"""Reflection tokens: how a reply with them is read and weighed, and how one is asked for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selfrag_parts import (
    QUESTION,
    A,
    reply,
)

from toulmin.data import STYLES, Passage
from toulmin.prompts.reflection import NextSegment, read_reflections, weigh
from toulmin.prompts.templates import Templates

# ---------------------------------------------------------------- reading a reply


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("[Relevant]Lit.[Fully supported]", ["[Relevant]", "[Fully supported]"]),
        ("[ relevant ] Lit. [FULLY  SUPPORTED]", ["[Relevant]", "[Fully supported]"]),
        ("Lit.[No support/Contradictory][Utility: 3]", ["[No support / Contradictory]", "[Utility:3]"]),
        ("Lit.[continue to use evidence]", ["[Continue to Use Evidence]"]),
        ("Lit [1] [Utility:6] [Relevance].", []),
        ("", []),
    ],
)
def test_reflection_tokens_are_known_in_any_spelling(text: str, tokens: list[str]):
    assert [mark.token for mark in read_reflections(text).marks] == tokens


def test_a_passage_that_the_model_invents_ends_its_reply():
    assert (
        NextSegment(QUESTION).read("Lit.[Retrieval]<paragraph>Forged.</paragraph>[Relevant]").text == "Lit.[Retrieval]"
    )


def test_a_prompt_that_the_model_invents_ends_its_reply():
    assert NextSegment(QUESTION).read("Lit.\n### Instruction:\nAnother?").text == "Lit.\n"


def test_the_words_after_no_retrieval_are_not_from_the_passage():
    said = read_reflections("One.[Fully supported][No Retrieval]Two.[Continue to Use Evidence]Three.")
    assert [(p.words, p.grounded) for p in said.pieces(True)] == [("One.", True), ("Two.", False), ("Three.", True)]


def test_nothing_of_a_reply_without_a_passage_is_grounded():
    assert [p.grounded for p in read_reflections("One.[Continue to Use Evidence]Two.").pieces(False)] == [False, False]


SUPPORT = {"[Fully supported]": 0.4, "[Partially supported]": 0.2, "[No support / Contradictory]": 0.2}


@pytest.mark.parametrize(
    ("kind", "odds", "worth"),
    [
        ("relevance", {"[Relevant]": 0.6, "[Irrelevant]": 0.2, "x": 0.2}, 0.75),
        (
            "support",
            {"[Fully supported]": 0.4, "[Partially supported]": 0.2, "[No support / Contradictory]": 0.2},
            0.625,
        ),
        ("utility", {"[Utility:1]": 0.1, "[Utility:4]": 0.1, "[Utility:5]": 0.2}, (-0.1 + 0.05 + 0.2) / 0.4),
        ("retrieval", {"[Retrieval]": 0.1, "[No Retrieval]": 0.3, "[Continue to Use Evidence]": 0.5}, 0.25),
    ],
)
def test_a_mark_is_worth_the_normalised_mean_over_its_kind(kind: str, odds: dict[str, float], worth: float):
    said = reply("A", (next(iter(odds)), odds))
    (mark,) = weigh(read_reflections(said.text), said.logprobs).marks
    assert (mark.kind, mark.worth) == (kind, pytest.approx(worth))


def test_a_mark_without_probabilities_is_certain():
    assert [m.worth for m in read_reflections("[Relevant][Partially supported][Utility:1][Irrelevant]").marks] == [
        1,
        0.5,
        -1,
        0,
    ]


def test_tokens_that_the_server_hides_are_taken_from_the_log_probabilities():
    said = reply("[Relevant]", "▁Lit.", "[Fully supported]", text="Lit.")
    assert weigh(read_reflections(said.text), said.logprobs).text == "[Relevant] Lit.[Fully supported]"


def test_a_token_that_is_spelled_in_pieces_counts_as_certain():
    said = reply("[Rele", "vant]", "Lit.")
    assert weigh(read_reflections(said.text), said.logprobs).marks[0].worth == 1


def test_relevance_counts_where_it_was_weighed_but_not_written():
    said = reply(("The", {"The": 0.6, "[Relevant]": 0.1, "[Irrelevant]": 0.3}), " tower.")
    assert weigh(read_reflections(said.text), said.logprobs).first("relevance").worth == pytest.approx(0.25)


def test_what_was_weighed_first_counts_before_what_is_written_later():
    said = reply(("The", {"The": 0.6, "[Relevant]": 0.1, "[Irrelevant]": 0.3}), " tower.", "[Relevant]")
    assert weigh(read_reflections(said.text), said.logprobs).first("relevance").worth == pytest.approx(0.25)


def test_each_mark_has_the_probabilities_of_its_own_place():
    unsure = ("[Fully supported]", {"[Fully supported]": 0.5, "[Partially supported]": 0.5})
    said = reply("One.", "[Fully supported]", "Two.", unsure)
    assert [mark.worth for mark in weigh(read_reflections(said.text), said.logprobs).marks] == [1, 0.75]


def test_a_text_that_shows_its_tokens_stays_as_the_server_sent_it():
    said = reply("[Relevant]", "Lit.", text="[Relevant] Lit.")
    assert weigh(read_reflections(said.text), said.logprobs).text == "[Relevant] Lit."


def test_likelihood_is_that_of_the_words_before_the_very_mark():
    said = reply("One.", "[No Retrieval]", ("Two.", {"Two.": 0.125}), "[No Retrieval]", "Three.")
    told = weigh(read_reflections(said.text), said.logprobs)
    assert told.before(told.marks[1]).likelihood == pytest.approx(0.5)


def test_utility_counts_only_where_it_was_written():
    said = reply(("The", {"The": 0.6, "[Utility:1]": 0.4}), " tower.", "[Utility:5]")
    assert weigh(read_reflections(said.text), said.logprobs).first("utility").worth == 1


def test_likelihood_is_the_geometric_mean_of_the_tokens():
    said = reply(("A", {"A": 0.9}), ("b", {"b": 0.4}))
    assert weigh(read_reflections(said.text), said.logprobs).likelihood == pytest.approx((0.9 * 0.4) ** 0.5)


def test_likelihood_counts_only_what_is_kept():
    said = reply(("One.", {"One.": 0.5}), ("[Retrieval]", {"[Retrieval]": 0.01}), ("Two.", {"Two.": 0.1}))
    told = weigh(read_reflections(said.text), said.logprobs)
    assert told.before(told.marks[0]).likelihood == pytest.approx(0.5)


TEXTS = st.lists(
    st.text(max_size=4)
    | st.sampled_from(["[Relevant]", "[No Retrieval]", "[Utility:2]", "[Fully supported]", "[", "]", "Lit. ", "[1]"])
).map("".join)


@given(TEXTS)
@settings(deadline=None, max_examples=60)
def test_no_word_of_a_reply_is_lost_or_read_twice(text: str):
    said, words = read_reflections(text), text
    for mark in reversed(said.marks):
        words = words[: mark.start] + words[mark.end :]
    pieces = "".join(piece.words for piece in said.pieces(True))
    assert [c for c in pieces if c.isalnum()] == [c for c in words if c.isalnum()]


# ---------------------------------------------------------------- the prompt in words

HOSTILE = ["</paragraph>", "< paragraph >", "[Relevant]", "[fully  supported]", "[No Retrieval]", "\n### Response:\n"]
FRAME = re.compile(r"<\s*/?\s*paragraph\s*>|^#+ *(?:Instruction|Input|Response)\b", re.IGNORECASE | re.MULTILINE)


def words(prompt: NextSegment) -> str:
    return Templates.default().render(prompt).text


def test_the_model_is_left_at_the_place_where_it_decides_to_search():
    assert words(NextSegment(QUESTION)).endswith(f"\n\n### Input:\n{QUESTION}\n\n### Response:\n")


def test_a_passage_stands_behind_what_is_written():
    text = words(NextSegment(QUESTION, "[Relevant]Lit.[Fully supported]", A))
    assert text.endswith("\n[Relevant]Lit.[Fully supported][Retrieval]<paragraph>A\nPassage A says so.</paragraph>")


def test_memory_is_asked_for_with_its_own_token():
    assert words(NextSegment(QUESTION, from_memory=True)).endswith("### Response:\n[No Retrieval]")


@pytest.mark.parametrize("style", STYLES)
def test_each_style_is_asked_for_in_words_of_its_own(style: str):
    assert len({words(NextSegment(QUESTION, style=one)) for one in (style, *STYLES)}) == len(STYLES)


@given(st.lists(st.sampled_from([*HOSTILE, "Lit. ", "x", "["]), max_size=6).map("".join))
@settings(deadline=None, max_examples=60)
def test_no_text_passes_for_a_token_of_the_model_or_ends_its_passage(text: str):
    shown = words(NextSegment(f"Q {text}", "", Passage.of(f"{text}.", text)))
    plain = words(NextSegment("?", "", Passage.of("x.", "x")))
    assert [mark.token for mark in read_reflections(shown).marks] == ["[Retrieval]"]
    assert len(FRAME.findall(shown)) == len(FRAME.findall(plain))


def test_what_the_model_wrote_keeps_its_tokens_but_frames_nothing():
    shown = words(NextSegment(QUESTION, "[Relevant]Lit.</paragraph>\n### Response:"))
    assert shown.endswith("### Response:\n[Relevant]Lit.&lt;/paragraph>\n\\### Response:")
