"""Training on tiny networks: that a killed run goes on as if nothing had been, and what is learnt and held out."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch (extra: dev)")
pytest.importorskip("transformers", reason="needs transformers (extra: dev)")
pytest.importorskip("onnxruntime", reason="needs onnxruntime (extra: embedded)")
pytest.importorskip("onnx", reason="needs onnx (extra: dev)")

import torch
import trained_parts
from trained_parts import export, judge, learning, model, pairs

from toulmin.data import Passage
from toulmin.judges.trained import JudgeNetwork
from toulmin.runtime.network import Row
from toulmin.steps import Pair


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_parts.start(tmp_path_factory.mktemp("start"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs to learn from."""
    return trained_parts.write_rows(tmp_path_factory.mktemp("pairs"), trained_parts.rows(120))


def trained(folder: Path, start: Path, out: Path, *options: str) -> Path:
    usual = "--batch 8 --micro 4 --rate 0.01 --max-tokens 40 --threads 1".split()
    judge.main(["--pairs", str(folder), "--start", str(start), "--out", str(out), *usual, *options])
    return out


def weights(out: Path) -> dict[str, torch.Tensor]:
    return model.load(out).state_dict()


def are_equal(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(first[name], second[name]) for name in first)


# ---------------------------------------------------------------- runs


def test_a_run_resumed_twice_has_the_same_weights(folder: Path, start: Path, tmp_path: Path):
    whole = trained(folder, start, tmp_path / "whole", "--epochs", "2")
    parts = trained(folder, start, tmp_path / "parts", "--epochs", "2", "--steps", "5")
    trained(folder, start, parts, "--epochs", "2", "--steps", "12", "--resume")
    trained(folder, start, parts, "--epochs", "2", "--resume")
    assert are_equal(weights(whole), weights(parts))


def test_another_seed_gives_other_weights(folder: Path, start: Path, tmp_path: Path):
    first = trained(folder, start, tmp_path / "a", "--epochs", "0.3", "--seed", "1")
    second = trained(folder, start, tmp_path / "b", "--epochs", "0.3", "--seed", "2")
    assert not are_equal(weights(first), weights(second))


def test_what_is_learnt_costs_less_in_the_end(folder: Path, start: Path, tmp_path: Path):
    out = trained(folder, start, tmp_path / "run", "--epochs", "6", "--every", "0")
    costs = [json.loads(line)["loss"] for line in (out / "metrics.jsonl").read_text("utf-8").splitlines()]
    told = [cost for cost in costs if cost is not None]
    assert sum(told[-10:]) < 0.8 * sum(told[:10])


def test_frozen_layers_stay_as_they_were(folder: Path, start: Path, tmp_path: Path):
    out = trained(folder, start, tmp_path / "run", "--epochs", "0.5", "--frozen", "1")
    before, after = model.Judge(model.backbone_from(start)).state_dict(), weights(out)
    moved = {
        name.split(".")[1:3][-1] for name in before if not torch.equal(before[name], after[name]) and "layers" in name
    }
    assert moved == {"1"}


def test_a_folder_of_a_run_is_not_overwritten(folder: Path, start: Path, tmp_path: Path):
    out = trained(folder, start, tmp_path / "run", "--epochs", "1", "--steps", "1")
    with pytest.raises(SystemExit, match="add --resume"):
        trained(folder, start, out, "--epochs", "1")


def test_a_run_is_not_resumed_with_other_settings(folder: Path, start: Path, tmp_path: Path):
    out = trained(folder, start, tmp_path / "run", "--epochs", "1", "--steps", "1")
    with pytest.raises(SystemExit, match="of another run"):
        trained(folder, start, out, "--epochs", "3", "--resume")


def test_a_finished_run_scores_every_pair_that_it_held_out(folder: Path, start: Path, tmp_path: Path):
    out = trained(folder, start, tmp_path / "run", "--epochs", "0.2", "--folds", "3", "--fold", "1")
    held = pairs.parts_of(pairs.entries(folder), 3, 1).held
    scored = [json.loads(line)["id"] for line in (out / "scores.jsonl").read_text("utf-8").splitlines()]
    assert scored == [entry.id for entry in held]


def test_a_run_may_start_where_another_ended(folder: Path, start: Path, tmp_path: Path):
    first = trained(folder, start, tmp_path / "first", "--epochs", "0.5")
    second = model.judge(first)
    assert are_equal(weights(first), second.state_dict())


def test_a_run_of_no_epochs_only_scores_what_is_held_out(folder: Path, start: Path, tmp_path: Path):
    first = trained(folder, start, tmp_path / "first", "--epochs", "0.5", "--folds", "3")
    again = trained(folder, first, tmp_path / "again", "--epochs", "0", "--folds", "3")
    assert are_equal(weights(first), weights(again))
    assert (first / "scores.jsonl").read_text("utf-8") == (again / "scores.jsonl").read_text("utf-8")


def test_a_held_pair_is_judged_by_the_excerpt_that_supports_most(start: Path, tmp_path: Path):
    told = [f"The {word} was told of in the tower of the sea." for word in trained_parts.WORDS[:8]]
    row = trained_parts.rows(1)[0] | {"claim": f"The {trained_parts.WORDS[0]} was told.", "split": "dev"}
    row["premise"] = [{"title": "", "text": " ".join(told)}]
    every = pairs.entries(trained_parts.write_rows(tmp_path, [row, {**row, "id": "learnt", "split": "train"}]))
    tokens, network = judge.Tokens(start / "tokenizer.json", 40), model.judge(start).eval()
    frame = judge.Frame(tokens, 3)
    task = judge.Verdicts(pairs.parts_of(every, None, 0), frame, pairs.Drawing(), 0, 5)
    with torch.inference_mode():
        found = task.shares(network, [pairs.pair(entry) for entry in task.parts.held])
        views = frame.views(pairs.pair(task.parts.held[0]))
        seen = [network(**learning.tensors([view.row], torch.device("cpu"))).softmax(-1)[0, 0].item() for view in views]
    assert len(views) > 1
    assert found[0][0] == pytest.approx(max(seen), abs=1e-5)


# ---------------------------------------------------------------- marks


def example(words: int, wrong: frozenset[int] | None) -> judge.Example:
    return judge.Example(Row([1] * (words + 6), words + 2, []), 0, False, wrong)


def test_marks_cost_what_the_wrong_words_and_the_others_cost_on_average():
    marks = torch.tensor([[9.0, -1.0, 2.0, -3.0, 9.0], [9.0, 0.5, 0.5, 0.5, 9.0]])
    told = judge.costs_of_marks(marks, [example(3, frozenset({2})), example(3, None)])

    def cost(logit: float, is_wrong: bool) -> float:
        return math.log1p(math.exp(-logit if is_wrong else logit))

    assert told[0].item() == pytest.approx(cost(2.0, True) + (cost(-1.0, False) + cost(-3.0, False)) / 3, rel=1e-6)
    assert told[1].item() == 0


def test_wrong_words_behind_the_question_are_marked(folder: Path, start: Path, tmp_path: Path):
    row = trained_parts.rows(1)[0] | {
        "claim": "The tower tall rock.",
        "question": "The sea?",
        "wrong": [[4, 9], [10, 14]],
    }
    every = pairs.entries(trained_parts.write_rows(tmp_path, [row | {"page": "a", "split": "train"}]))
    frame = judge.Frame(judge.Tokens(start / "tokenizer.json", 40))
    made = judge.Verdicts(pairs.parts_of(every, None, 0), frame, pairs.Drawing(), 0, 5).example(every[0])
    read = trained_parts.tokenizer()
    assert made.wrong is not None
    assert [read.id_to_token(made.row.ids[place]) for place in sorted(made.wrong)] == ["tower", "tall"]


def test_one_token_that_is_not_backed_is_enough(start: Path):
    made = model.judge(start).eval()
    ids = torch.full((1, 9), 7)
    kinds = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1, 1]])
    with torch.inference_mode():
        before = made(ids, kinds, torch.ones_like(ids))
        made.mark.bias += 8
        after = made(ids, kinds, torch.ones_like(ids))
    assert after[0].softmax(0)[0] < before[0].softmax(0)[0]


# ---------------------------------------------------------------- what is learnt from


def test_earlier_pairs_share_no_page_or_source_with_natural_ones(tmp_path: Path):
    kinds = [("natural", "one", "a"), ("corruption", "one", "b"), ("corruption", "two", "a"), ("qa", "two", "c")]
    kinds += [("inference", "three", "d"), ("inference", "three", "a")]
    held = [
        row | {"id": f"p{n}", "family": family, "source": source, "page": page}
        for n, (row, (family, source, page)) in enumerate(zip(trained_parts.rows(6), kinds, strict=True))
    ]
    every = pairs.entries(trained_parts.write_rows(tmp_path, held))
    assert [entry.id for entry in pairs.before_folds(every, every, ["corruption", "qa"])] == ["p3"]
    assert [entry.id for entry in pairs.before_folds(every, every, ["inference"])] == ["p4"]


def test_dev_records_of_inferences_are_learnt_from_in_no_fold(tmp_path: Path):
    rows = [row | {"family": "inference"} for row in trained_parts.rows(40)]
    every = pairs.entries(trained_parts.write_rows(tmp_path, rows))
    dev = {entry.id for entry in every if entry.split == "dev"}
    for fold in (0, 1):
        assert {entry.id for entry in pairs.parts_of(every, 2, fold).train} == {entry.id for entry in every} - dev
    assert dev


def test_each_page_is_held_out_of_exactly_one_fold(folder: Path):
    every = pairs.entries(folder)
    held = [entry.page for fold in range(4) for entry in pairs.parts_of(every, 4, fold).held]
    assert Counter(held) == Counter(entry.page for entry in every)


def test_no_page_of_a_fold_is_learnt_from(folder: Path):
    parts = pairs.parts_of(pairs.entries(folder), 4, 2)
    assert {entry.page for entry in parts.train}.isdisjoint(entry.page for entry in parts.held)


def test_without_folds_dev_is_held_out(folder: Path):
    parts = pairs.parts_of(pairs.entries(folder), None, 0)
    assert {entry.split for entry in parts.train} == {"train"}


def test_a_pair_of_weight_two_and_a_half_is_drawn_twice_or_three_times(folder: Path):
    train = pairs.entries(folder)
    drawn = Counter(pairs.epoch(train, pairs.Drawing({("natural", "first"): 2.5, ("natural", "second"): 0.0}), 0, 0))
    assert {train[place].source: None for place in drawn} == {"first": None}
    assert set(drawn.values()) == {2, 3}


def test_an_epoch_is_drawn_the_same_again(folder: Path):
    train = pairs.entries(folder)
    assert pairs.epoch(train, pairs.Drawing(), 3, 1) == pairs.epoch(train, pairs.Drawing(), 3, 1)


def test_a_label_is_vague_where_its_source_calls_nothing_contradicted(tmp_path: Path):
    rows = [row | {"source": "plain"} if row["label"] != "contradicted" else row for row in trained_parts.rows(6)]
    found = pairs.entries(trained_parts.write_rows(tmp_path, rows))
    assert {entry.is_vague for entry in found if rows[int(entry.id[1:])]["label"] == "unsupported"} == {True}


def test_a_vague_pair_costs_what_its_two_outcomes_together_lack():
    said = torch.tensor([[0.3, 1.0, -0.5], [0.3, 1.0, -0.5]])
    shares = said[0].softmax(-1)
    plain, vague = judge.costs(said, [1, 1], [False, True]).tolist()
    assert plain == pytest.approx(-math.log(shares[1]), rel=1e-5)
    assert vague == pytest.approx(-math.log(shares[1] + shares[2]), rel=1e-5)


# ---------------------------------------------------------------- the network


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


def test_what_is_exported_says_nearly_what_was_trained(tmp_path: Path):
    run = trained_parts.finished(tmp_path / "run", "judge")
    shipped = export.export(run, tmp_path / "out", "embedded-tiny")
    found = export.parity(model.load(run), shipped, export.random_rows(20, 40, vocabulary=90))
    assert found.difference < 0.2


def test_a_shipped_network_may_read_longer_rows_than_it_learnt_from(tmp_path: Path):
    run = trained_parts.finished(tmp_path / "run", "judge")
    export.export(run, tmp_path / "out", "embedded-tiny", reading={"max_tokens": 48})
    learnt, told = (json.loads((at / "settings.json").read_text("utf-8")) for at in (run, tmp_path / "out"))
    assert told == {**learnt, "max_tokens": 48}
    assert JudgeNetwork(tmp_path / "out").name == "embedded-tiny"  # its manifest is that of the settings it has now


def test_the_exported_judge_reads_what_the_trained_one_reads(folder: Path, start: Path, tmp_path: Path):
    out = trained(folder, start, tmp_path / "run", "--epochs", "0.2")
    export.export(out, tmp_path / "out", "embedded-tiny")
    pair = Pair((Passage.of("The rock was tall.", "Tower"),), "The rock was tall.")
    shares = JudgeNetwork(tmp_path / "out").shares([pair])[0].shares
    assert sum(shares) == pytest.approx(1)
