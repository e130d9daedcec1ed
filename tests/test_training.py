"""The network and the loop of its training; `test_training_reader.py` has whole runs."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch (extra: dev)")
pytest.importorskip("transformers", reason="needs transformers (extra: dev)")
pytest.importorskip("onnxruntime", reason="needs onnxruntime (extra: embedded)")
pytest.importorskip("onnx", reason="needs onnx (extra: dev)")

import torch
import trained_parts
from trained_parts import learning, model

from toulmin.runtime.network import Row


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_parts.start(tmp_path_factory.mktemp("start"))


def test_the_network_says_what_bert_says_of_the_same_weights(start: Path):
    ids = torch.tensor([[2, 7, 9, 3, 8, 3], [2, 7, 3, 9, 3, 0]])
    kinds = torch.tensor([[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0]])
    mask = (ids != 0).long()
    with torch.inference_mode():
        ours = model.backbone_from(start).eval()(ids, kinds, mask)
        theirs = trained_parts.bert()(input_ids=ids, token_type_ids=kinds, attention_mask=mask).last_hidden_state
    torch.testing.assert_close(ours[mask.bool()], theirs[mask.bool()], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("progress", [0.0, 0.03, 0.06, 0.5, 0.99, 1.0])
def test_the_rate_rises_then_falls_to_nothing(progress: float):
    expected = max(progress / 0.06, 0.02) if progress < 0.06 else (1 - progress) / 0.94
    assert learning.pace(progress, 0.06) == pytest.approx(expected)


def test_batches_hold_every_example_once():
    class One:
        def __init__(self, size: int) -> None:
            self.rows = (Row(list(range(size)), 1, []),)

    examples = [One(size) for size in (5, 9, 3, 7, 7, 2, 4)]
    cut = learning.buckets(examples, 3, "0")
    assert sorted(id(one) for batch in cut for one in batch) == sorted(map(id, examples))
