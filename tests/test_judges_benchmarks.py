"""The benchmarks of judges: how agreement is counted, and that the one of the card runs without a card."""

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
    shares = [round(100 * sum(run.entailed) / len(run.entailed), 2) for run in benchmark("agreement").recorded()]
    assert shares == [13.67, 9.67]


def test_the_card_benchmark_runs_on_a_small_model(benchmark: Any, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("torch", reason="needs torch (extra: judges)")
    benchmark("judge_card").main(["--small", "--pairs", "4"])
    assert "the same verdict alone and in a batch: 4 of 4" in capsys.readouterr().out


def test_without_a_card_the_benchmark_says_what_it_needs(benchmark: Any, capsys: pytest.CaptureFixture[str]):
    torch = pytest.importorskip("torch", reason="needs torch (extra: judges)")
    if torch.cuda.is_available():
        pytest.skip("there is a card")
    benchmark("judge_card").main([])
    assert "needs a GPU with at least 40 GiB of memory, but none is here" in capsys.readouterr().out


def test_the_work_of_a_pair_is_that_of_its_matrix_products(benchmark: Any):
    """Counted by torch itself over one forward pass of encoder and first decoder step."""
    torch = pytest.importorskip("torch", reason="needs torch (extra: judges)")
    from torch.utils.flop_counter import FlopCounterMode

    card = benchmark("judge_card")
    model = card.model(card.SMALL, 520, "cpu", torch.float32)
    model.set_attn_implementation("eager")  # torch does not count what its own attention does on a CPU
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        model(input_ids=torch.ones(1, 50, dtype=torch.long), decoder_input_ids=torch.zeros(1, 1, dtype=torch.long))
    assert card.SMALL.work(50, 520) == pytest.approx(counter.get_total_flops(), rel=0.01)
