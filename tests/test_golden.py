"""The `alce` profile beside what ALCE's own evaluator recorded for its own runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.metrics_parts import DATA, ScoringItem, alce, columns, entities, golden, honest, output, rows, said
from toulmin.metrics.references import alce_rouge, bootstrap_median
from toulmin.metrics.short_answers import alce_list, alce_recall
from toulmin.metrics.splitting import splitter_note

needs_golden = pytest.mark.skipif(
    not (DATA / "alce_golden.jsonl.gz").exists(), reason="needs alce_golden (TOULMIN_DATA)"
)
needs_qampari = pytest.mark.skipif(
    not (DATA / "alce_qampari_questions.jsonl.gz").exists(), reason="needs alce_qampari_questions (TOULMIN_DATA)"
)
RUNS = range(4)
ASQA_RUNS = range(2)


@pytest.fixture(scope="module")
def runs() -> list[tuple[dict[str, Any], list[ScoringItem]]]:
    """The recorded runs, and their answers as they are scored."""
    return [(run, [golden(item) for item in run["items"]]) for run in rows("alce_golden")]


@needs_golden
def test_the_data_hold_four_runs_of_a_hundred_answers(runs):
    assert [len(answers) for _, answers in runs] == [100] * len(RUNS)


@needs_golden
@pytest.mark.parametrize("run", RUNS)
def test_length_and_exact_match_are_alces_to_the_last_digit(runs, run):
    recorded, answers = runs[run]
    found = alce(*answers)
    assert {name: found[name] for name in ("length", "str_em", "str_hit")} == {
        name: recorded["expected"][name] for name in ("length", "str_em", "str_hit")
    }


@needs_golden
@pytest.mark.parametrize("run", ASQA_RUNS)
def test_every_short_answer_is_found_where_alce_found_it(runs, run):
    recorded, answers = runs[run]
    found = [[gold["found"] for gold in reason["gold"]] for reason in alce_recall(answers).reasons]
    assert found == [item["expected_correctness"] for item in recorded["items"]]


@needs_golden
@pytest.mark.parametrize("run", RUNS)
def test_rouge_is_as_near_to_alces_as_its_own_bootstrap_lets_it_be(runs, run):
    assert splitter_note() is None, "NLTK or its data are not installed"
    recorded, answers = runs[run]
    column = alce_rouge(answers).columns[0]
    assert column.value == pytest.approx(recorded["expected"]["rougeLsum"], abs=0.2)
    assert 100 * bootstrap_median(column.values) == pytest.approx(column.value, abs=0.2)


def qampari_answers() -> list[ScoringItem]:
    """The 1,000 questions, each answered by its own gold answer string."""
    return [output(row["answer"], entities(*row["answers"]), "list") for row in rows("alce_qampari_questions")]


SHARES = ("prec", "rec", "rec_top5", "f1", "f1_top5")


@needs_qampari
def test_the_gold_lists_of_qampari_score_what_commas_in_names_leave_them():
    found = columns([alce_list(qampari_answers(), read=lambda one: one.output)])
    told = [round(found[f"qampari_{name}"], 1) for name in SHARES]
    assert told == [97.5, 98.3, 99.2, 97.9, 98.2]


@needs_qampari
def test_exported_outputs_lose_only_line_breaks_and_brackets():
    found = alce(*qampari_answers(), path="result/qampari-gold.json")
    told = [round(found[f"qampari_{name}"], 2) for name in SHARES]
    assert told == [97.40, 98.17, 99.10, 97.74, 98.07]


@needs_qampari
def test_the_gold_entities_of_qampari_are_all_found_by_the_honest_profile():
    golds = [row["answers"] for row in rows("alce_qampari_questions")]
    answers = [[own[0] for own in gold if own[0]] for gold in golds]
    found = honest(
        *(said(*names, gold=entities(*gold), style="list") for names, gold in zip(answers, golds, strict=True))
    )
    assert (found["qampari_prec"], found["qampari_rec"]) == (100.0, 100.0)
