"""How the benchmarks of judges count agreement."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data")) / "alce_golden.jsonl.gz"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of `benchmarks/`, whose scripts import each other by their bare names."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


@pytest.mark.parametrize(
    ("said", "kappa"),
    [
        ([True, True, False, False], 1.0),
        ([False, False, True, True], -1.0),
        ([True, False, True, False], 0.0),
        ([False, False, False, False], 0.0),
        ([True, False, False, False], 0.5),
    ],
)
def test_kappa_is_agreement_beyond_chance(benchmark: Any, said: list[bool], kappa: float):
    found = benchmark("agreement").agreement(said, [float(one) for one in said], [True, True, False, False])
    assert found.kappa == pytest.approx(kappa)


def test_a_judge_that_always_says_no_is_half_right_in_balance(benchmark: Any):
    found = benchmark("agreement").agreement([False] * 4, [0.2] * 4, [True, False, False, False])
    assert (found.accuracy, found.balanced, found.auc) == (0.75, 0.5, 0.5)


@pytest.mark.skipif(not DATA.exists(), reason="needs alce_golden.jsonl.gz under TOULMIN_DATA")
def test_the_recorded_verdicts_are_those_of_claim_recall(benchmark: Any):
    shares = [round(100 * sum(run.entailed) / len(run.entailed), 2) for run in benchmark("agreement").read_runs()]
    assert shares == [13.67, 9.67]
