"""Teaching the encoder: what is contrasted, what counts as a mistake, and the folder that is written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch (extra: dev)")
pytest.importorskip("transformers", reason="needs transformers (extra: dev)")
pytest.importorskip("onnxruntime", reason="needs onnxruntime (extra: embedded)")
pytest.importorskip("onnx", reason="needs onnx (extra: dev)")

import torch
import trained_parts
from safetensors.torch import load_file
from trained_parts import WORDS, model, retrieval

from toulmin.data import Passage
from toulmin.runtime.network import Tokens

PAGES = [f"The {a} was {b} {c}." for a, b, c in zip(WORDS, WORDS[3:], WORDS[5:], strict=False)]


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_parts.start(tmp_path_factory.mktemp("start"))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small pool with questions, and the other sets without anything of use."""
    folder = tmp_path_factory.mktemp("data")
    pool = [{"id": f"p{n}", "title": f"Page {n}", "text": text} for n, text in enumerate(PAGES)]
    asked = [
        {"question": f"which {text[4:-1]}", "gold_passages": [f"p{n}"], "split": "dev" if n % 4 == 0 else "train"}
        for n, text in enumerate(PAGES)
    ]
    row = {"question": "what", "context": PAGES[0], "answers": [], "split": "train"}
    _write(folder, "pool_corpus", pool)
    _write(folder, "pool_questions", asked)
    _write(folder, "retrieval_scifact_corpus", [{"_id": "1", "title": "Cells", "text": "Cells divide."}])
    _write(folder, "retrieval_scifact_queries", [{"text": "Cells split.", "split": "train", "relevant": ["1"]}])
    for name in ("squad1_mrqa", "squad2_devhalf"):
        _write(folder, name, [row])
    return folder


def _write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)


def test_question_has_its_passage_and_a_near_one(data: Path):
    found = retrieval.gathered(data, "train")
    pool = [one for one in found if one.question.startswith("which")]
    assert pool
    for one in pool:
        assert one.gold.text[4:-1] == one.question.removeprefix("which ")
        assert one.miss is not None
        assert one.miss.id != one.gold.id


def test_dev_questions_are_not_learnt_from(data: Path):
    train, dev = ({one.question for one in retrieval.gathered(data, split)} for split in ("train", "dev"))
    assert train
    assert dev
    assert train.isdisjoint(dev)


def task(start: Path, train: list[Any]) -> Any:
    return retrieval.Nearest(train, [], Tokens(start / "tokenizer.json", 24), 0)


def asked(n: int, miss: int | None = None) -> Any:
    gold = Passage.of(PAGES[n], f"Page {n}")
    return retrieval.Asked(PAGES[n], gold, None if miss is None else Passage.of(PAGES[miss], "Near"))


class Told(torch.nn.Module):
    """In place of a network: rows as they are told, questions first."""

    def __init__(self, *rows: list[list[float]]) -> None:
        super().__init__()
        self._rows = [torch.tensor(each) for each in rows]

    def forward(self, **_: Any) -> torch.Tensor:
        return self._rows.pop(0)


def loss_of(start: Path, train: list[Any], *rows: list[list[float]]) -> float:
    made = task(start, train)
    examples = made.examples(range(len(train)))
    return float(made.loss(Told(*rows), {"ids": torch.zeros(1)}, examples))


def test_the_loss_is_the_cross_entropy_over_all_passages_of_the_batch(start: Path):
    questions, passages = [[1.0, 0.0], [0.0, 1.0]], [[0.8, 0.6], [0.6, 0.8], [0.0, 1.0]]
    found = loss_of(start, [asked(0), asked(1, 2)], questions, passages)
    scores = retrieval.SHARPNESS * torch.tensor(questions) @ torch.tensor(passages).T
    assert found == pytest.approx(float(-scores.log_softmax(1)[[0, 1], [0, 1]].sum()), rel=1e-5)


def test_an_equal_passage_of_another_question_is_no_mistake(start: Path):
    row = [[1.0, 0.0]]
    assert loss_of(start, [asked(0), asked(0)], row * 2, row * 2) == pytest.approx(0.0, abs=1e-4)


def test_what_is_written_is_the_start_with_what_was_learnt(data: Path, start: Path, tmp_path: Path):
    out = tmp_path / "run"
    arguments = f"--data {data} --start {start} --out {out} --epochs 2 --batch 4 --rate 0.01 --threads 1".split()
    retrieval.main(arguments)
    before, after = load_file(start / "model.safetensors"), load_file(out / "encoder" / "model.safetensors")
    assert before.keys() == after.keys()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    learnt = model.started(out / "encoder").state_dict()
    assert all(torch.equal(learnt[name], after[model.their_name(name)]) for name in learnt)
    assert (out / "encoder" / "tokenizer.json").read_bytes() == (start / "tokenizer.json").read_bytes()
