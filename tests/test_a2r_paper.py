"""A2R as its paper has it: feedback in its own words, Recall@5 as the oracle of lists, K refinements."""

from __future__ import annotations

import pytest
from a2r_parts import ALL_BAD, Run, Writer, said

from toulmin.data import Claim
from toulmin.datasets.item import Gold, Item
from toulmin.evaluation.oracle import entities_oracle
from toulmin.methods.assessing import ListCorrectness, aims
from toulmin.methods.feedback import merge_advice
from toulmin.prompts.types import Feedback

LONG = tuple((name, 50.0) for name in ("correctness", "citation recall", "citation precision"))
LIST = tuple((name, 0.0) for name in ("answer recall", "answer precision", "citation recall", "citation precision"))

# Shortened from Tables 7 to 10, where "..." stands for what the paper leaves out.
TABLE_7 = """For the correctness aspect, your answer is factually accurate and directly relevant. Great job!
For citation recall aspect ...
For citation precision aspect ..."""
TABLE_8 = (
    "For the correctness aspect, ... Great job! For citation recall aspect, you have cited the appropriate search"
    " results, but try to cite ... Keep up the good work. For citation precision aspect, ... Great job in maintaining a"
    " high level of precision."
)
TABLE_9 = (
    "Feedback: For the correctness aspect, ... Great job! For citation recall aspect, ... but try to provide citations"
    " for all factual statements to support their accuracy. For citation precision aspect, each citation should"
    " directly support the corresponding factual statement. Make sure to cite the most relevant and accurate source."
)
TABLE_10 = (
    "For the QA recall aspect, the search results do not provide any information. Recheck the provided information and"
    " try to cover as many ground-truth answers as possible. For the QA precision aspect, since there is no relevant"
    " information in the search results, it is important to provide a clear answer. For citation recall and citation"
    " precision aspects, there is no need for feedback as there were no citations provided."
)


def read(reply: str, scores: tuple[tuple[str, float], ...] = LONG) -> dict[str, str]:
    return dict(Feedback("Who?", (), (), scores, scores).read(reply))


# ---------------------------------------------------------------- feedback in the paper's words


def test_table_7_is_read_aspect_by_aspect():
    assert read(TABLE_7)["correctness"].startswith("your answer is factually accurate")


@pytest.mark.parametrize("table", [TABLE_8, TABLE_9], ids=["8", "9"])
def test_feedback_in_one_paragraph_is_read_aspect_by_aspect(table: str):
    parts = read(table)
    assert ("Great job!" in parts["correctness"], "but try to" in parts["citation recall"]) == (True, True)
    assert ("precision aspect" in " ".join(parts.values()), "try to" in parts["citation precision"]) == (False, False)


def test_table_10_is_read_under_our_names_of_its_scores():
    parts = read(TABLE_10, LIST)
    assert "try to cover" in parts["answer recall"]
    assert parts["answer precision"].startswith("since there is no relevant information")
    assert (
        parts["citation recall"]
        == parts["citation precision"]
        == ("there is no need for feedback as there were no citations provided.")
    )


def test_what_only_mentions_an_aspect_opens_none():
    assert list(read("Correctness: For correctness this matters. It is for the correctness aspect that we ask.")) == [
        "correctness"
    ]


def test_the_papers_feedback_reaches_the_refinement():
    run = Run(Writer(ALL_BAD, feedback=[TABLE_9]), feedback="model", max_rounds=1)
    assert "provide citations for all factual statements" in said(run)["citation recall"]


def test_the_mismatch_of_table_7_is_found_in_its_own_words():
    scores = {"correctness": 0.0, "citation recall": 57.0, "citation precision": 80.0}
    ours = dict.fromkeys(scores, "composed")
    advice = merge_advice(ours, read(TABLE_7), aims("long", None, None, None), scores)
    assert ("correctness" in advice.discarded[0].text, advice.feedback["correctness"]) == (True, "composed")


# ---------------------------------------------------------------- QAMPARI's oracle is Recall@5


def recall(gold: int, *named: str) -> float:
    item = Item("1", "Which films did Syncopy produce?", Gold(answers=tuple((f"Film {n}",) for n in range(gold))))
    return entities_oracle(item)([Claim(name) for name in named])[0]


def test_table_10_one_right_answer_of_many_is_a_recall_of_20():
    assert recall(9, "Film 3") == 20


def test_five_right_answers_are_all_that_is_asked_for():
    assert recall(12, *(f"Film {n}" for n in range(6))) == 100


def test_of_fewer_than_five_all_are_asked_for():
    assert recall(2, "Film 0") == 50


# ---------------------------------------------------------------- K refinements


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_never_to_stop_is_to_refine_as_often_as_k_says(k: int):
    run = Run(max_rounds=k, stop="never", feedback="model", returns="last", history=True)
    assert run.writer.kinds == "A" + k * "FR"


def test_table_10_as_a_run():
    """Memento scores nothing; The Prestige, one of the films, has a recall of 20 and a precision of 100."""
    films = tuple((name,) for name in ("The Prestige", "Inception", "Interstellar", "Dunkirk", "Tenet", "Oppenheimer"))
    oracle = entities_oracle(Item("1", "Which films?", Gold(answers=films)))
    run = Run(
        Writer("Memento [3].", ["The Prestige [3]."], [TABLE_10]),
        supports={},
        style="list",
        prompt="list",
        max_rounds=1,
        feedback="model",
        returns="last",
        correctness=lambda claims: ListCorrectness(*oracle(claims)),
    )
    names = ("answer recall (oracle)", "answer precision (oracle)", "citation recall", "citation precision")
    assert [[scores[name] for name in names] for scores in run.scores] == [[0, 0, 0, 0], [20, 100, 0, 0]]
    assert run.texts == ["The Prestige"]
