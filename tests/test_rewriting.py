"""Which sentence a new one rewrites, which say the same, and which draw of a prompt is asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toulmin.data import Answer
from toulmin.errors import UsageError
from toulmin.methods.a2r import a2r
from toulmin.methods.best import best
from toulmin.methods.calm import calm
from toulmin.methods.direct import summ
from toulmin.methods.plan import plan
from toulmin.methods.reporting import Draws, check_whole, rewrites, wording_of
from toulmin.methods.sampling import self_refine, usc
from toulmin.methods.selfrag import self_rag
from toulmin.methods.vtg import vtg
from toulmin.prompts.types import AnswerPrompt, Refine
from toulmin.steps import Program

LIT, BUILT = "The lighthouse was lit in 1824.", "The bridge was built by Ada Bell."


def test_a_sentence_rewrites_the_one_sharing_most_terms():
    assert rewrites("Ada Bell built the bridge in stone.", [LIT, BUILT]) == 1


def test_of_sentences_that_are_equally_near_the_first_is_rewritten():
    assert rewrites(BUILT, [LIT, BUILT, BUILT]) == 1


@pytest.mark.parametrize("sentences", [[LIT, BUILT], []])
def test_what_is_far_from_all_rewrites_none(sentences: list[str]):
    assert rewrites("Herring is caught at night.", sentences) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("It was lit.", " it  was LIT", True),
        ("“It was lit!”", "It was lit", True),
        ("It is C++.", "It is C.", False),
        ("It fell to -5.", "It fell to 5.", False),
    ],
)
def test_sentences_say_the_same_whatever_their_case_and_punctuation(one: str, other: str, same: bool):
    assert (wording_of(one) == wording_of(other)) is same


def test_a_prompt_that_is_asked_again_is_another_draw():
    draws, asked = Draws(), AnswerPrompt("Why?", (), "long")
    assert [draws.next(asked), draws.next(AnswerPrompt("How?", (), "long")), draws.next(asked)] == [0, 0, 1]


def test_the_draws_of_a_prompt_with_feedback_are_counted_too():
    draws, asked = Draws(), Refine("Why?", (), (), {"correctness": "Name the day."})
    assert [draws.next(asked), draws.next(asked)] == [0, 1]


@pytest.mark.parametrize(
    ("method", "option"),
    [
        (a2r, "max_rounds"),
        (best, "k"),
        (calm, "corrections"),
        (plan, "per_question"),
        (self_rag, "beam"),
        (self_refine, "max_rounds"),
        (summ, "words"),
        (usc, "n"),
        (vtg, "max_trials"),
    ],
)
def test_every_method_refuses_a_word_where_a_number_should_be(method: Callable[..., Program[Answer]], option: str):
    with pytest.raises(UsageError, match=f"'{option}' must be a whole number"):
        next(method("Why?", **{option: "x"}))


@pytest.mark.parametrize("value", [0, True, 1.0, "2", None])
def test_what_is_no_whole_number_of_at_least_that_is_refused_by_name(value: object):
    with pytest.raises(UsageError, match="'k' must be a whole number of at least 1, not"):
        check_whole(1, k=value)
