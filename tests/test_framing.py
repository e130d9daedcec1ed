"""Statements that a source only plans, denies, asks, supposes, orders or invents are no facts."""

from __future__ import annotations

import pytest

from toulmin.data import Passage
from toulmin.judges.framing import find_framing
from toulmin.judges.lexical import Lexical
from toulmin.steps import Pair, Verdict

CLAIM = "The harbour board closed the old lighthouse."
FRAMED = (
    "It is rumoured that the harbour board closed the old lighthouse.",
    "Users ask whether the harbour board closed the old lighthouse.",
    "Critics claim that the harbour board closed the old lighthouse.",
    "In the novel, the harbour board closed the old lighthouse.",
    "The harbour board intended to close the old lighthouse.",
    "If the harbour board closed the old lighthouse, the fleet would leave.",
)
STATED = (
    "In 1931 the harbour board closed the old lighthouse.",
    "The harbour board closed the old lighthouse, and the fleet left.",
    "The records show that the harbour board closed the old lighthouse.",
)


def judge(text: str, claim: str = CLAIM, question: str | None = None) -> Verdict:
    return Lexical().judge([Pair((Passage.of(text, ""),), claim, question)])[0]


@pytest.mark.parametrize("text", FRAMED)
def test_what_a_source_frames_is_not_supported(text: str) -> None:
    assert not judge(text).entails


@pytest.mark.parametrize("text", STATED)
def test_what_a_source_states_stays_supported(text: str) -> None:
    assert judge(text).entails


def test_a_claim_with_the_same_frame_stays_supported() -> None:
    assert judge(FRAMED[0], "It is rumoured that the harbour board closed the old lighthouse.").entails
    assert judge(FRAMED[4], "The harbour board wanted to close the old lighthouse.").entails


def test_the_reason_quotes_the_sentence() -> None:
    assert judge(FRAMED[0]).reason == f"the source may not state this as a fact: “{FRAMED[0]}”"


def test_a_second_sentence_that_states_the_claim_counts() -> None:
    assert judge(f"{FRAMED[0]} {STATED[0]}").entails


def test_a_claim_of_stop_words_has_no_frame() -> None:
    assert find_framing("It is so.", ["It is rumoured that it is so."]) == (0.0, "")
    assert find_framing(CLAIM, []) == (0.0, "")
