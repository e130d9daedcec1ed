"""The scores that A2R goes by: how citations and correctness are counted, by which mode, and for lists."""

from __future__ import annotations

from typing import Any

import pytest
from a2r_parts import ALL_BAD, ALL_GOOD, BAD, FAIR, GOOD, HALF, Run, Writer, said
from row_tables import table
from vtg_parts import QUESTION

from toulmin.errors import UsageError
from toulmin.methods.a2r import WITH_GOLD, WITHOUT_GOLD
from toulmin.methods.assessing import ListCorrectness
from toulmin.prompts.types import Feedback

CORRECTNESS = "correctness (reference-free)"

# ---------------------------------------------------------------- the scores


def test_the_scores_of_an_answer_of_which_half_holds():
    (first, _) = Run(Writer(HALF)).scores
    assert (first["citation recall"], first["citation precision"]) == (50, 50)


def test_a_claim_without_citation_lowers_recall_not_precision():
    run = Run(Writer(f"{GOOD[:-1]} [1]. {BAD}"), max_rounds=0)
    assert (run.scores[0]["citation recall"], run.scores[0]["citation precision"]) == (50, 100)


def test_an_answer_without_citations_has_no_precision():
    assert Run(Writer(GOOD), max_rounds=0).scores[0]["citation precision"] == 0


@pytest.mark.parametrize(
    ("supports", "precision"),
    [
        (["A"], 50),  # B alone does not support it, and A does without B
        (["AB"], 100),  # neither does alone, and neither can go
        (["A", "B"], 100),  # each does alone
    ],
)
def test_a_needless_citation_fails_alone_and_is_redundant(supports: list[str], precision: float):
    run = Run(Writer(f"{GOOD[:-1]} [1][2]."), {GOOD: supports}, max_rounds=0)
    assert run.scores[0]["citation precision"] == precision


def test_all_judgements_of_a_kind_are_one_request():
    run = Run(Writer(f"{GOOD[:-1]} [1][2][3]. {FAIR[:-1]} [1][2][3]."), max_rounds=0)
    assert run.judge.requests == [2, 6, 4]


def test_reference_free_correctness_is_told_with_its_parts():
    run = Run(Writer(HALF), max_rounds=0)
    scores = run.scores[0]
    assert (scores[CORRECTNESS], scores["claims entailed"], scores["question addressed"]) == (50, 50, 100)


def test_a_claim_counts_as_entailed_if_any_passage_read_supports_it():
    assert Run(Writer(f"{GOOD[:-1]} [2]."), max_rounds=0).scores[0]["claims entailed"] == 100


def test_a_claim_counts_as_entailed_if_all_passages_support_it_together():
    assert Run(Writer(f"{GOOD[:-1]} [2]."), {GOOD: ["AC"]}, max_rounds=0).scores[0]["claims entailed"] == 100


def test_what_the_evidence_does_not_speak_of_is_not_addressed():
    run = Run(Writer("It is red [1]."), {"It is red.": ["A"]}, max_rounds=0)
    assert run.scores[0]["question addressed"] == 0


def test_a_claim_that_nothing_entails_addresses_nothing():
    assert Run(Writer(ALL_BAD), max_rounds=0).scores[0]["question addressed"] == 0


def test_the_oracle_is_what_correctness_is_measured_by():
    run = Run(Writer(ALL_GOOD), correctness=lambda claims: 42.0 if claims[0].text == GOOD else 0.0)
    assert run.scores[0]["correctness (oracle)"] == 42


def test_with_an_oracle_no_part_of_the_other_mode_is_told():
    assert "claims entailed" not in Run(correctness=lambda _: 0.0, max_rounds=0).scores[0]


@pytest.mark.parametrize(("oracle", "note"), [(None, WITHOUT_GOLD), (lambda _: 10.0, WITH_GOLD)])
def test_the_answer_says_which_mode_was_used(oracle: Any, note: str):
    assert note in Run(correctness=oracle).answer.notes


def test_the_oracle_decides_when_to_stop():
    assert Run(Writer(ALL_GOOD), correctness=lambda _: 0.0, targets={"correctness": 100}).writer.kinds == "AFR" + "FR"


def test_metrics_that_are_left_out_are_neither_scored_nor_asked_for():
    run = Run(Writer(HALF, [HALF]), metrics=("citation_recall",), max_rounds=1)
    assert (run.scores[0], [a for a, _ in run.writer.prompts(Feedback)[0].scores]) == (
        {"citation recall": 50},
        ["citation recall"],
    )


def test_an_oracle_that_is_not_aimed_at_is_not_asked():
    assert Run(metrics=("citation recall",), correctness=lambda _: 1 / 0).error is None


def test_targets_are_settable_one_by_one():
    prompt = Run(targets={"citation_recall": 90}).writer.prompts(Feedback)[0]
    assert dict(prompt.targets) == {"correctness": 60, "citation recall": 90, "citation precision": 80}


@table(
    "options",
    [
        {"max_rounds": -1},
        {"max_rounds": "x"},
        {"targets": {"fluency": 50}},
        {"targets": {"correctness": 101}},
        {"targets": {"correctness": "high"}},
        {"metrics": ()},
        {"metrics": ("mauve",)},
        {"stop": "at once"},
        {"feedback": "none"},
        {"returns": "first"},
        {"correctness": lambda _: 101.0},
        {"correctness": lambda _: "good"},
        {"correctness": lambda _: ListCorrectness(1, 1)},
        {"correctness": lambda _: 50.0, "style": "list"},
    ],
)
def test_what_means_nothing_is_an_error_that_names_the_option(options: dict[str, Any]):
    error = Run(**options).error
    assert isinstance(error, UsageError)
    assert next(iter(options)) in str(error) or "metric" in str(error)


def test_a_score_outside_the_bounds_is_named_once():
    error = Run(correctness=lambda _: 101.0).error
    assert str(error) == "correctness: the score should lie from 0 to 100, not at 101.0."


# ---------------------------------------------------------------- lists

LAMP, GHOST = "Lamp", "Ghost"
LISTED = {LAMP: ["A"]}


def test_a_list_has_four_scores():
    run = Run(Writer("Lamp [1], Ghost [2]"), LISTED, style="list", max_rounds=0)
    assert run.scores[0] == {
        "answer recall (reference-free)": 50,  # "lamp" is addressed, "said" is not
        "answer precision (reference-free)": 50,
        "citation recall": 50,
        "citation precision": 50,
    }


def test_a_list_is_judged_beside_its_question():
    assert set(Run(Writer("Lamp [1]"), LISTED, style="list", max_rounds=0).judge.questions) == {QUESTION}


def test_correctness_of_a_list_means_both_of_its_scores():
    prompt = Run(Writer("Ghost [2]"), LISTED, style="list", targets={"correctness": 70}).writer.prompts(Feedback)[0]
    assert (dict(prompt.targets)["answer recall"], dict(prompt.targets)["answer precision"]) == (70, 70)


def test_the_oracle_of_a_list_gives_recall_and_precision():
    run = Run(Writer("Lamp [1]"), LISTED, style="list", max_rounds=0, correctness=lambda _: ListCorrectness(20, 100))
    assert (run.scores[0]["answer recall (oracle)"], run.scores[0]["answer precision (oracle)"]) == (20, 100)


def test_feedback_on_a_list_speaks_of_entities():
    run = Run(Writer("Lamp [1], Ghost [2]", ["Lamp [1]"]), LISTED, style="list", feedback="grounded")
    assert said(run)["answer precision"].startswith("Entity 2 says what none of the passages supports")
