"""The sensitivity analysis, with models whose sensitivity is known, and the sets of passages that it needs."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulations.relevance import TARGETS, Item, QuestionPool, items_of, passages_recall
from simulations.sensitivity import Curve, Member, Report, Row, sensitivity
from toulmin.data import Passage
from toulmin.errors import ModelError, UsageError
from toulmin.evaluation.oracle import answers_in
from toulmin.models.scripted import ScriptedModel
from toulmin.prompts.replies import Reply
from toulmin.steps import Generate

DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"there is no folder {DATA} with the shared data")

ANSWERS = (("Ashby", "Tom Ashby"), ("1824",), ("Hannah Pell",), ("38 metres",))
FACTS = ("The keeper was Ashby.", "It was lit in 1824.", "Hannah Pell built it.", "It is 38 metres tall.")
NOISE = tuple(Passage.of(f"The sea is grey, says gull {n}.") for n in "abcdefgh")
HELD = tuple(Passage.of(fact) for fact in FACTS)


def item(question: str = "What of the tower?") -> Item:
    """An item whose sets hold one, two and four of its four answers."""
    low, medium, high = ((*HELD[:n], *NOISE[: 5 - n]) for n in (1, 2, 4))
    return Item(question, ANSWERS, low, medium, high)


def teller(tells: Callable[[int], int]) -> Callable[[Generate], Reply]:
    """A model that, of n facts shown, tells `tells(n)`."""

    def write(request: Generate) -> Reply:
        held = [passage.text for passage in request.prompt.passages if passage in HELD]
        return Reply(" ".join(f"{text[:-1]} [1]." for text in held[: tells(len(held))]))

    return write


def reported(*members: Member, items: tuple[Item, ...] = (item(),)) -> Report:
    return asyncio.run(sensitivity(members, items))


def member(tells: Callable[[int], int], size: float = 1, family: str = "a", name: str = "scripted") -> Member:
    return Member(family, size, ScriptedModel(teller(tells), name=name))


def len_of(shown: int) -> int:
    """What a model tells that misses nothing."""
    return shown


# ---------------------------------------------------------------- the analysis


def test_faithful_model_is_as_accurate_as_its_recall():
    report = reported(member(lambda shown: shown))
    assert report.rows[0].accuracy == report.recall == Curve(25.0, 50.0, 100.0)


def test_accuracies_are_means_over_all_items():
    items = (item(), item("Another question?"))
    lazy = ScriptedModel(lambda r: "" if "Another" in r.prompt.question else teller(lambda n: n)(r))
    assert reported(Member("a", 1, lazy), items=items).rows[0].accuracy == Curve(12.5, 25.0, 50.0)


def test_the_model_is_asked_with_the_generation_prompt_and_five_passages():
    asked: list[Generate] = []
    writer = ScriptedModel(lambda request: asked.append(request) or "")
    reported(Member("a", 1, writer))
    assert [(type(r.prompt).__name__, len(r.prompt.passages)) for r in asked] == [("AnswerPrompt", 5)] * 3


def test_the_relative_improvement_is_the_gain_as_a_part_of_low():
    assert Curve(20.0, 30.0, 50.0).relative_improvement == 1.5


def test_the_incremental_gain_is_the_second_step_by_the_first():
    assert Curve(20.0, 30.0, 50.0).incremental_gain == 2.0


def test_a_division_by_zero_has_no_result():
    flat = Curve(0.0, 0.0, 50.0)
    assert (flat.relative_improvement, flat.incremental_gain) == (None, None)


def test_a_small_misled_model_gains_most():
    misled = {2: 1, 3: 2, 4: 4}
    sets = ((*HELD[:n], *NOISE[: 5 - n]) for n in (2, 3, 4))
    asked = Item("What of the tower?", ANSWERS, *sets)
    report = reported(member(len_of, 70), member(lambda shown: misled[shown], 7), items=(asked,))
    gains = [(row.accuracy.relative_improvement, row.accuracy.incremental_gain) for row in report.rows]
    assert gains == [(1.0, 1.0), (3.0, 2.0)]


def test_the_largest_is_looked_for_in_its_own_family():
    sizes = [("a", 7), ("a", 70), ("b", 180), ("a", 13)]
    report = reported(*(member(len_of, size, family) for family, size in sizes))
    assert (report.largest("a").size, report.largest("b").size) == (70, 180)


def test_a_request_that_fails_is_counted_and_scores_nothing():
    def broken(request: Generate) -> Reply:
        raise ModelError("The model is away.")

    row = reported(Member("a", 1, ScriptedModel(broken))).rows[0]
    assert (row.failed, row.accuracy) == (3, Curve(0.0, 0.0, 0.0))


def test_the_table_shows_each_model_beside_the_largest_of_its_family():
    rows = (Row("a", 7, "a-7", Curve(20.0, 30.0, 50.0)), Row("a", 70, "a-70", Curve(40.0, 50.0, 60.0), failed=2))
    lines = Report(Curve(27.0, 56.0, 78.0), 9, rows).text().splitlines()
    assert [line.split()[2:] for line in lines[2:]] == [
        ["7", "20.0", "30.0", "50.0", "1.50", "0.50", "2.00", "1.00", "0"],
        ["70", "40.0", "50.0", "60.0", "0.50", "0.50", "1.00", "1.00", "2"],
    ]


def test_the_table_says_how_many_questions_and_what_recall_it_rests_on():
    rows = (Row("a", 7, "a-7", Curve(0.0, 30.0, 50.0)),)
    assert Report(Curve(27.0, 56.0, 78.0), 9, rows).text().startswith("9 questions; recall of the passages 27.0 %, 56")


def test_what_cannot_be_divided_is_a_dash_in_the_table():
    assert " - " in Report(Curve(27.0, 56.0, 78.0), 1, (Row("a", 7, "a-7", Curve(0.0, 30.0, 50.0)),)).text()


@pytest.mark.parametrize(("members", "items"), [((), (item(),)), ((member(len_of),), ())])
def test_without_models_or_items_there_is_nothing_to_analyse(members: tuple[Member, ...], items: tuple[Item, ...]):
    with pytest.raises(UsageError, match="needs models and items"):
        reported(*members, items=items)


# ---------------------------------------------------------------- recall


@pytest.mark.parametrize(
    ("text", "recall"),
    [("", 0.0), ("ashby!", 0.25), ("Tom Ashby came in 1824.", 0.5), (" ".join(FACTS), 1.0), ("the 38-metres", 0.0)],
)
def test_an_answer_is_there_when_an_alias_is_a_substring_after_normalising(text: str, recall: float):
    assert len(answers_in(text, ANSWERS)) / len(ANSWERS) == recall


def test_passages_hold_an_answer_only_within_one_of_them():
    split = (Passage.of("It is 38"), Passage.of("metres tall."))
    assert passages_recall(split, ANSWERS) == 0.0


# ---------------------------------------------------------------- the sets


def ranked(order: str, question: str = "q") -> QuestionPool:
    """Passages by letters: a to d hold one answer each, x both of a and b, - none."""
    texts = {"x": f"{FACTS[0]} {FACTS[1]}", **dict(zip("abcd", FACTS, strict=True))}
    made = (texts.get(letter, "Nothing is said here.") + f" No. {n} z." for n, letter in enumerate(order))
    return QuestionPool(question, ANSWERS, tuple(map(Passage.of, made)))


def test_the_sets_hold_more_answers_from_level_to_level():
    found = items_of([ranked("a-b-c-d----")], (0.25, 0.5, 1.0))[0]
    assert [passages_recall(passages, ANSWERS) for passages in found.levels] == [0.25, 0.5, 1.0]


def test_every_set_has_the_set_size():
    found = items_of([ranked("a-b-c-d----")], (0.25, 0.5, 1.0), size=4)[0]
    assert [len(passages) for passages in found.levels] == [4, 4, 4]


def test_the_sets_keep_the_order_of_the_ranking():
    pool = ranked("-a--b-c-d-")
    places = [pool.passages.index(passage) for passage in items_of([pool], (0.0, 0.5, 1.0))[0].medium]
    assert places == sorted(places)


def test_the_best_ranked_passages_that_fit_are_taken():
    pool = ranked("-a--b-c-d-")
    assert items_of([pool], (0.0, 0.5, 1.0))[0].low == tuple(pool.passages[n] for n in (0, 2, 3, 5, 7))


def test_a_passage_with_two_answers_is_left_out_of_a_set_that_may_hold_one():
    found = items_of([ranked("x-b------")], (0.25, 0.5, 0.5))[0]
    assert [passages_recall(passages, ANSWERS) for passages in found.levels] == [0.25, 0.5, 0.5]


def test_questions_that_cannot_fill_a_set_are_left_out():
    assert len(items_of([ranked("ab-"), ranked("ab-----")])) == 1


POOLS = st.lists(st.text("abcdx---", min_size=8, max_size=16).map(lambda order: ranked(order + "-----")), min_size=1)


@given(POOLS)
@settings(max_examples=60, deadline=None)
def test_no_question_has_less_recall_at_a_higher_level(pools: list[QuestionPool]):
    recalls = [[passages_recall(p, i.answers) for p in i.levels] for i in items_of(pools)]
    assert all(levels == sorted(levels) for levels in recalls)


def test_a_single_answer_question_keeps_its_answer():
    pools = [QuestionPool("q", (("Ashby",),), ranked("a----------").passages)] * 8
    recalls = [[passages_recall(p, i.answers) for p in i.levels] for i in items_of(pools)]
    assert all(levels == sorted(levels) for levels in recalls)


def test_what_one_question_falls_short_of_the_next_ones_make_up():
    items = items_of([ranked("a-b-c-d----")] * 100)
    means = [sum(passages_recall(i.levels[level], ANSWERS) for i in items) / 100 for level in range(3)]
    assert means == pytest.approx(TARGETS, abs=0.01)


@needs_data
def test_real_pools_come_near_the_papers_recalls():
    pools = []
    with gzip.open(DATA / "qa_asqa_passages.jsonl.gz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            golds = tuple(tuple(pair["short_answers"]) for pair in record["qa_pairs"])
            found = tuple(Passage.of(doc["text"], doc["title"]) for doc in record["docs"])
            if passages_recall(found, golds) == 1.0:
                pools.append(QuestionPool(record["question"], golds, found))
    items = items_of(pools)
    means = [sum(passages_recall(i.levels[level], i.answers) for i in items) / len(items) for level in range(3)]
    assert means == pytest.approx(TARGETS, abs=0.03)


@pytest.mark.parametrize("targets", [(0.5, 0.2, 0.9), (-0.1, 0.2, 0.3), (0.1, 0.2, 1.3)])
def test_targets_that_fall_or_are_no_parts_are_an_error(targets: tuple[float, float, float]):
    with pytest.raises(UsageError, match="parts of the answers"):
        items_of([ranked("a-b-c-d----")], targets)


@pytest.mark.parametrize("answers", [(), ((),)])
def test_a_question_without_gold_answers_is_an_error(answers: tuple):
    with pytest.raises(UsageError, match="at least one gold answer"):
        QuestionPool("q", answers, NOISE)
