"""The benchmarks that judge by probes and by people's verdicts: their measures, and that two judges are held apart."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def benchmark() -> Any:
    """Imports a module of `benchmarks/`, whose scripts import each other by their bare names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module


def columns(given: list[tuple[int, bool]]) -> tuple[Any, Any]:
    """Scores in quarters, so that some tie, and truths of both kinds."""
    both = [*given, (0, True), (4, False)]
    return np.array([score / 4 for score, _ in both]), np.array([truth for _, truth in both])


scored = st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=30).map(columns)


@given(scored)
def test_the_area_is_the_share_of_pairs_in_their_order(benchmark: Any, given: tuple[Any, Any]):
    scores, truth = given
    pairs = [(a > b) + (a == b) / 2 for a in scores[truth] for b in scores[~truth]]
    measure = benchmark("by_page").auc(scores, truth)
    assert measure(np.ones(len(scores))) == pytest.approx(np.mean(pairs))


@given(scored, st.data())
def test_counting_a_claim_twice_is_having_it_twice(benchmark: Any, given: tuple[Any, Any], data: st.DataObject):
    scores, truth = given
    size = len(scores)
    counts = data.draw(st.lists(st.integers(1, 3), min_size=size, max_size=size))
    by_page, many = benchmark("by_page"), np.repeat(np.arange(size), counts)
    for name in ("auc", "calibration_error"):
        measure = getattr(by_page, name)
        expected = measure(scores[many], truth[many])(np.ones(len(many)))
        assert measure(scores, truth)(np.array(counts, dtype=float)) == pytest.approx(expected)


def test_scores_that_are_the_shares_have_no_calibration_error(benchmark: Any):
    scores, truth = np.array([0.25] * 4 + [0.75] * 4), np.array([True] + [False] * 3 + [True] * 3 + [False])
    assert benchmark("by_page").calibration_error(scores, truth)(np.ones(8)) == pytest.approx(0)


def test_claims_of_one_page_stand_and_fall_together(benchmark: Any):
    by_page = benchmark("by_page")
    right = np.array([True, False] * 20)
    alone = by_page.with_interval([str(n) for n in range(40)], by_page.share(right), 200)
    paired = by_page.with_interval([str(n // 2) for n in range(40)], by_page.share(right), 200)
    assert (alone.low < 0.5, paired.low) == (True, 0.5)


def test_a_judge_is_not_above_itself(benchmark: Any):
    by_page = benchmark("by_page")
    area = by_page.auc(np.array([0.1, 0.4, 0.3, 0.9]), np.array([False, True, False, True]))
    found = by_page.with_interval(list("abcd"), by_page.gain(area, area), 100)
    assert (found.mean, found.low, found.high) == (0, 0, 0)


def test_a_line_that_is_no_score_is_named(benchmark: Any, tmp_path: Path):
    file = tmp_path / "bad.jsonl"
    file.write_text('{"id": "a", "score": 1}\n{"id": "b"}\n')
    with pytest.raises(SystemExit, match=r"bad\.jsonl, line 2: wanted"):
        benchmark("judge_table").Scores(file, 0.5)


def test_pooled_scores_of_an_oracle_are_right_and_sure(benchmark: Any):
    table, truth = benchmark("judge_table"), np.array([True, False])
    verdicts = table.Verdicts(["a", "b"], truth, ["supported", "unsupported"], truth.astype(float))
    area, error = table.pooled_rows(dict.fromkeys(["factscore", "wice_dev", "fever_paperdev"], verdicts))
    assert [area.measure(np.ones(6)), error.measure(np.ones(4))] == [1, 0]
