"""What of a model's feedback agrees with its score, and what the verdicts say in its place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from toulmin.data import Citation, Claim, Passage, Support
from toulmin.methods.assessing import CORRECTNESS, Aims, ClaimAssessment, aims
from toulmin.methods.feedback import (
    PassageNumbers,
    affirmation,
    compose_feedback,
    demands,
    merge_advice,
    recall_faults,
)

# The paper's Table 7: said of an answer whose correctness is 0.
TABLE_7 = "Your answer is factually accurate and directly relevant to the provided search results. Great job!"

AFFIRMING = [
    TABLE_7,
    "Great job!",
    "Well done, all sentences are supported.",
    "This is good as it is.",
    "The score is satisfactory. Keep up the good work!",
    "No changes are needed.",
    "There are no errors, and nothing needs to be improved.",
    "The answer has no irrelevant citations.",
    "The answer does not contain any mistakes.",
    "You did not miss anything.",
    "It could not be better.",
    "The answer is not only correct but also complete.",
    "Continue to cite properly.",
    "Every sentence is well cited and should be kept.",
    "Maintain this high level of precision.",
    "No feedback needed; the citations are perfect.",
    "The answer is correct and needs no improvement.",
    "It could hardly be better.",
    "I have nothing to add, and there is little to improve.",
    "You cite the right passages and provide strong support.",
    "The citations provide all that the sentences claim.",
    "I would not change a thing.",
    "I could not find any fault with it.",
    "An error-free, flawless answer!",
    "It never fails to cite a source.",
    "The answer is more than satisfactory.",
    "Every sentence is properly cited; please keep it that way.",
    "Not bad at all.",
    "The sources could not have been used more wisely.",
    "The citations are exactly what is required.",
    "The answer included the required information.",
    "The information is not only accurate but also not contradicted by any passage.",
    "The answer is devoid of errors.",
    # Words of fault-finding, and verbs that ask, in sentences that find no fault and ask for nothing.
    "Great citations, no improvement could be made.",
    "The citations support everything, so there is nothing I can suggest.",
    "The answer covers every point you could want.",
    "You should be proud of this answer.",
    "There is nothing missing here.",
    "No sentence lacks a citation.",
    "Every sentence cites what it needs.",
    "The citations are all you need.",
    "Your answer leaves nothing out.",
    "None of the sentences is unsupported.",
    "It would be hard to find a better answer.",
    "I could not ask for more.",
    "The answer could hardly be better.",
    "The response is precise; it is not too long and not too short.",
    "It needs nothing else.",
    "The answer is complete, and no further sources are needed.",
    "Each claim is backed up, which is what one should expect.",
    "This is a must-read: excellent.",
    "Perfect. Don't touch it.",
    "The answer does everything it should.",
    "The answer says all that must be said.",
    "The citations are as they should be.",
    "I recommend this answer to everybody.",
    "One could not wish for better citations.",
    "The answer is free of anything false or misleading.",
    "I found zero issues with the citations.",
    "The answer never leaves out a source.",
    "You gave an answer that needs no correction whatsoever.",
    "Nothing in this answer is wrong.",
    "The citations could not be better chosen, try to keep it up.",
    "Neither citations nor facts are missing.",
    "The answer has few if any errors.",
    "Bravo: not one mistake.",
    "It's hard to see what could be improved.",
    "Well done, rien à redire.",
    "It is difficult to find fault with this.",
    "The answer is beyond improvement.",
    "Cites well and covers the question fully.",
    "Use of citations is excellent.",
    "Focus is excellent and the coverage is broad.",
    "State of the art answer, well done.",
    "Support for every claim is given.",
    "List is complete and right.",
    "Name and date are correct.",
    "Check: all good.",
    "Answer is correct.",
    "Complete and precise.",
    "Address of the question is perfect.",
    "Sehr gut, alles stimmt.",
    "完全正确。",
    "",
]
DEMANDING = [
    "Try to cite a source for every statement.",
    "Provide citations for all factual statements.",
    "The date is wrong; the passage says 1824.",
    "The answer is incomplete: it leaves out the keepers.",
    "Remove the last sentence.",
    "Two sentences lack a citation.",
    "Please mention when the tower was lit.",
    "[2] contradicts what sentence 3 says.",
    "Sentence 4 is without citations.",
    "Your citations are too general.",
    "Cite [2] for the first sentence.",
    "In sentence 2, cite [3].",
    "More citations are needed.",
    "- Add the year.",
    "The keepers are missing.",
    "For the date, it would be better to cite [1].",
    "Sentence 2 cites the wrong passage.",
    "Please cite [2] for the second sentence.",
    "Say when the tower was lit.",
    "You should mention the builder.",
    "The keepers are absent from the answer.",
    "The answer ignores the cost.",
    "The answer overlooks the year.",
]


@table("part", AFFIRMING)
def test_below_its_target_a_part_that_only_affirms_is_discarded(part: str):
    assert not demands(part)


@table("part", DEMANDING)
def test_below_its_target_a_part_that_asks_for_a_change_stays(part: str):
    assert demands(part)


@table("part", [*AFFIRMING, *DEMANDING])
def test_from_its_target_on_any_part_is_a_plain_affirmation(part: str):
    composed, targets = {CORRECTNESS: affirmation(60, 60)}, {CORRECTNESS: 60.0}
    assert merge_advice(composed, {CORRECTNESS: part}, Aims(targets), targets).feedback == composed


def test_a_fault_that_is_only_denied_words_is_left_to_the_verdicts():
    assert not demands("The claim on the lamp cannot be found in the passages.")


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(AFFIRMING), max_size=4))
def test_affirmations_do_not_add_up_to_a_demand(parts: list[str]):
    assert not demands(" ".join(parts))


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=200))
def test_odd_words_are_no_error(part: str):
    demands(part)


AIMS = aims("long", None, None, None)
LOW = {"correctness": 0.0, "citation recall": 57.0, "citation precision": 80.0}
OWN = {name: f"grounded {name}" for name in LOW}


def test_the_papers_table_7_does_not_get_through():
    advice = merge_advice(OWN, {"correctness": TABLE_7}, AIMS, LOW)
    assert (advice.feedback["correctness"], len(advice.discarded)) == ("grounded correctness", 1)


def test_what_reaches_its_target_is_never_told_otherwise():
    assert (
        merge_advice(OWN, {"citation precision": "Remove [3]."}, AIMS, LOW).feedback["citation precision"]
        == OWN["citation precision"]
    )


# ---------------------------------------------------------------- from the verdicts

PASSAGES = tuple(Passage.of(f"It stands in {letter}.", letter) for letter in "ABC")


def claim(label: str, *cited: int, reason: str | None = None) -> Claim:
    ids = tuple(PASSAGES[n - 1].id for n in cited)
    return Claim("It is so.", tuple(map(Citation, ids)), Support(label, 0.5, "judge", ids, reason))


def fault(one: ClaimAssessment, style: str = "long") -> str:
    return recall_faults([one], PassageNumbers.of(PASSAGES, style))[0]


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (
            ClaimAssessment(claim("unsupported", 3), (), (PASSAGES[1].id,), True),
            "[3], which does not support it; [2] does.",
        ),
        (
            ClaimAssessment(claim("unsupported", 1, 3), (), (PASSAGES[1].id,), True),
            "[1] and [3], which do not support it;",
        ),
        (ClaimAssessment(claim("contradicted", 3)), "[3], which contradicts it, and no other passage supports it."),
        (
            ClaimAssessment(claim("unsupported", 3, reason="1987 is not there")),
            "does not support it (1987 is not there), and",
        ),
        (ClaimAssessment(claim("unsupported")), "cites no passage, and no other passage supports it. Replace it"),
        (ClaimAssessment(claim("unsupported", 3), is_entailed=True), "; all passages together support it."),
    ],
)
def test_a_claim_that_fails_is_told_with_what_would_support_it(one: ClaimAssessment, words: str):
    assert words in fault(one)


@pytest.mark.parametrize(("style", "noun"), [("long", "Sentence"), ("list", "Entity"), ("short", "Claim")])
def test_feedback_calls_a_claim_what_it_is(style: str, noun: str):
    assert fault(ClaimAssessment(claim("unsupported")), style).startswith(f"{noun} 1 ")


def test_a_passage_that_the_prompt_does_not_show_is_not_named():
    one = ClaimAssessment(claim("unsupported", 1), (), (PASSAGES[2].id,), True)
    assert "[3]" not in recall_faults([one], PassageNumbers.of(PASSAGES[:2], "long"))[0]


def test_every_aspect_has_its_words():
    assessment = AIMS.assessment((ClaimAssessment(claim("unsupported", 3)),), "What is so?")
    assert list(compose_feedback(assessment, AIMS, PASSAGES, "What is so?", "long")) == list(AIMS.targets)


def test_a_low_score_is_never_affirmed_whatever_the_verdicts():
    supported = ClaimAssessment(claim("supported", 1), (), (), True, frozenset({"so"}))
    low = aims("long", None, None, lambda _: 0.0)
    words = compose_feedback(low.assessment((supported,), ""), low, PASSAGES, "", "long")["correctness"]
    assert demands(words)
