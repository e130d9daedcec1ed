"""Fitting the stack, against slow and obvious ways to the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch (extra: dev)")
pytest.importorskip("onnxruntime", reason="needs onnxruntime (extra: embedded)")

import numpy as np
import trained_parts
from hypothesis import given
from hypothesis import strategies as st
from trained_parts import pairs, stack

from toulmin.judges.embedded import read_stack

SEED = 5


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=60))
def test_a_curve_rises_within_its_bounds(told: list[tuple[float, bool]]):
    scores, truth = (np.array(side) for side in zip(*told, strict=True))
    points = stack.rising(scores, truth, np.ones(len(told)))
    chances = [chance for _, chance in points]
    assert chances == sorted(chances)
    assert all(0 < chance < 1 for chance in chances)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=60), st.floats(0, 1), st.floats(0, 1))
def test_no_score_of_a_curve_is_beyond_its_ends(told: list[tuple[float, bool]], first: float, second: float):
    scores, truth = (np.array(side) for side in zip(*told, strict=True))
    points = stack.rising(scores, truth, np.ones(len(told)))
    assert points[0][0] < min(first, second)
    assert points[-1][0] > max(first, second)


def test_with_few_pairs_a_stack_ranks_nearly_as_the_lexical_judge(tmp_path: Path):
    folder, run = scored(tmp_path, knows=0.0)
    data = stack.table(pairs.entries(folder), stack.read_scores([run]))
    few = data.of(np.arange(len(data.pages)) < 6)
    assert np.corrcoef(stack.ranking(few).scores(data), data.lexical)[0, 1] > 0.5


def test_a_curve_of_scores_that_are_chances_is_nearly_straight():
    chance = np.random.default_rng(SEED)
    scores = chance.random(20_000)
    truth = chance.random(20_000) < scores
    points = stack.rising(scores, truth, np.ones(20_000))[1:-1]
    assert max(abs(score - told) for score, told in points) < 0.08


def test_the_regression_finds_what_made_the_data():
    chance = np.random.default_rng(SEED)
    x = np.column_stack([np.ones(20_000), chance.normal(size=(20_000, 2)) * [1, 10]])
    y = chance.random(20_000) < 1 / (1 + np.exp(-(x @ [0.5, -1.0, 0.2])))
    assert stack.logistic(x, y, np.ones(20_000), ridge=1e-3) == pytest.approx([0.5, -1.0, 0.2], abs=0.08)


def natural_table(chances: list[float], supported: list[bool]) -> stack.Table:
    """Rows of one natural set, of which only the labels count."""
    rows = len(chances)
    flags, names = np.zeros(rows, bool), np.full(rows, "Q2/wow")
    return stack.Table(
        np.zeros((rows, 1)), np.array(supported), flags, flags, flags, np.zeros(rows), names, names, names
    )


def test_supported_is_said_from_where_85_of_100_are():
    chances = [n / 100 for n in range(100)]
    supported = [n >= 60 or (n >= 30 and n % 2 == 0) for n in range(100)]  # from 0.44 on 48 of 56 are, 0.857
    assert stack.level_of_promise(np.array(chances), natural_table(chances, supported)) == pytest.approx(0.44)


def test_recall_bounds_how_careful_the_judge_gets():
    chances, supported = [n / 100 for n in range(100)], [n % 2 == 0 for n in range(100)]
    level = stack.level_of_promise(np.array(chances), natural_table(chances, supported))
    assert sum(chance >= level for chance, truth in zip(chances, supported, strict=True) if truth) >= 0.7 * 50


CHANCES = [0.05, 0.10, 0.20, 0.30, 0.35, 0.38, 0.05, 0.90, 0.90]
AGAINST = [0.90, 0.90, 0.90, 0.55, 0.55, 0.55, 0.10, 0.90, 0.90]
REFUTED = [True, True, True, False, False, False, False, True, False]


def conflicts(level: float) -> list[bool]:
    """Which of those claims are contradicted from that level on, written out."""
    pairs = zip(CHANCES, AGAINST, strict=True)
    return [chance < 0.4 and (1 - chance) * against >= level for chance, against in pairs]


def test_the_contradiction_threshold_keeps_refuted_claims():
    rows = natural_table(CHANCES, [not refuted for refuted in REFUTED])._replace(contradicted=np.array(REFUTED))
    level = stack.conflict_level(np.array(CHANCES), np.array(AGAINST), rows, 0.4)
    assert conflicts(level) == [True, True, True, *[False] * 6]
    assert sum(conflicts(0.0)) > 3  # without support in the product, true claims were called so too


def test_without_refuted_claims_the_level_stays_where_it_was():
    rows = natural_table(CHANCES, [not refuted for refuted in REFUTED])
    assert stack.conflict_level(np.array(CHANCES), np.array(AGAINST), rows, 0.4) == stack.AT_FIRST_SIGHT


def test_the_gate_s_conflicts_are_certain(tmp_path: Path):
    folder, run = scored(tmp_path, knows=0.5)
    data = stack.table(pairs.entries(folder), stack.read_scores([run]))
    ruled = np.arange(len(data.pages)) < 5
    data.measures[:, stack.MEASURES.index("contradicted")] = ruled
    chances = stack.chances_against(data, stack.opposition(data))
    assert ruled.any()
    assert set(chances[ruled]) == {1.0}
    assert chances[~ruled].max() < 1


def scored(folder: Path, knows: float) -> tuple[Path, Path]:
    """Pairs, and a run whose network knows the label that well."""
    folder.mkdir(exist_ok=True)
    rows = trained_parts.rows(240)
    chance = np.random.default_rng(SEED)
    run = folder / "run"
    run.mkdir()
    with (run / "scores.jsonl").open("w", encoding="utf-8") as lines:
        for row in rows:
            share = float(np.clip(0.5 + knows * (0.4 if row["label"] == "supported" else -0.4), 0, 1))
            share = float(np.clip(share + chance.normal() * 0.05, 0.01, 0.99))
            lines.write(json.dumps({"id": row["id"], "shares": [share, (1 - share) / 2, (1 - share) / 2]}) + "\n")
    return trained_parts.write_rows(folder / "pairs", rows), run


def test_trees_say_what_scikit_learn_says_of_them(tmp_path: Path):
    folder, run = scored(tmp_path, knows=0.5)
    data = stack.table(pairs.entries(folder), stack.read_scores([run]))
    model = stack.GradientBoostingClassifier(**stack.GROWN)
    model.fit(data.measures, data.supported, sample_weight=stack.weights(data))
    ours = [stack.grown(data).score(row) for row in data.measures]
    assert len(set(ours)) > 2
    assert ours == pytest.approx(model.decision_function(data.measures))


def test_pairs_of_a_source_of_one_kind_teach_nothing(tmp_path: Path):
    folder, run = scored(tmp_path, knows=0.5)
    data = stack.table(pairs.entries(folder), stack.read_scores([run]))
    strange = data._replace(sources=np.full(len(data.sources), "strange"), supported=np.zeros_like(data.supported))
    both = stack.Table(*(np.concatenate(columns) for columns in zip(data, strange, strict=True)))
    assert len(stack.telling(both).pages) == len(data.pages)


def test_each_side_of_a_source_counts_nearly_alike(tmp_path: Path):
    folder, run = scored(tmp_path, knows=0.5)
    data = stack.table(pairs.entries(folder), stack.read_scores([run]))
    few = data.of(~data.supported | (np.arange(len(data.pages)) < 40))
    even = stack.weights(few, 1.0)
    assert even[few.supported].sum() == pytest.approx(even[~few.supported].sum())
    assert stack.weights(few, 0.0) == pytest.approx(np.ones(len(few.pages)))


def test_a_stack_of_a_network_that_knows_tells_supported_from_not(tmp_path: Path):
    folder, run = scored(tmp_path, knows=1.0)
    data = stack.table(pairs.entries(folder), stack.read_scores([run]))
    chances = stack.cross_chances(data, stack.cross_fitted(data, 3))
    assert stack.auc(chances, data.supported) > 0.98


def test_a_cross_fitted_chance_is_given_to_every_pair(tmp_path: Path):
    folder, run = scored(tmp_path, knows=0.5)
    data = stack.table(pairs.entries(folder), stack.read_scores([run]))
    assert not np.isnan(stack.cross_chances(data, stack.cross_fitted(data, 4))).any()


def test_the_command_writes_a_stack_that_the_judge_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder, run = scored(tmp_path, knows=1.0)
    stack.main(["--pairs", str(folder), "--scores", str(run), "--out", str(tmp_path / "stack.json"), "--folds", "3"])
    assert f"from {read_stack(tmp_path / 'stack.json').supported:.2f}" in capsys.readouterr().out


def test_the_command_writes_what_the_whole_judge_says_of_each_pair(tmp_path: Path):
    folder, run = scored(tmp_path, knows=1.0)
    cross = tmp_path / "cross.jsonl"
    words = ["--pairs", str(folder), "--scores", str(run), "--out", str(tmp_path / "stack.json"), "--folds", "3"]
    stack.main([*words, "--cross", str(cross)])
    lines = [json.loads(line) for line in cross.read_text("utf-8").splitlines()]
    assert {line["id"] for line in lines} == set(stack.read_scores([run]))
    assert {line["label"] for line in lines} > {"supported", "unsupported"}
    assert all(0 <= line["score"] <= 1 for line in lines)


def test_a_denial_in_the_cross_is_judged_by_what_it_denies(tmp_path: Path):
    rows = [row | {"claim": "The tower was not lit.", "label": "unsupported"} for row in trained_parts.rows(1)]
    (entry,) = pairs.entries(trained_parts.write_rows(tmp_path, rows))
    folder, run = scored(tmp_path / "other", knows=1.0)
    fitted = stack.fit_stack(stack.table(pairs.entries(folder), stack.read_scores([run])))
    said = {}
    for contradicted in (0.02, 0.95):
        shares = {entry.id: stack.Shares(0.05, 0.9, 0.05)}
        shares[stack.denial_id(entry.id)] = stack.Shares(0.01, 0.99 - contradicted, contradicted)
        data = stack.table([entry], shares)
        every = [(np.array([True]), fitted)]
        (line,) = stack.cross_verdicts({entry.id: entry}, shares, data, every)
        said[contradicted] = line["label"]
    assert said[0.95] == "supported" != said[0.02]
