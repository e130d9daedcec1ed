"""Training the reader: where answers stand in windows, and what its calibration is worth."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch (extra: dev)")
pytest.importorskip("onnxruntime", reason="needs onnxruntime (extra: embedded)")
pytest.importorskip("onnx", reason="needs onnx (extra: dev)")

import numpy as np
import torch
import trained_parts
from trained_parts import export, model, questions, reader

from toulmin.data import Passage
from toulmin.extractive.trained_reader import Frame, TrainedReader, best
from toulmin.runtime.network import Tokens

LAMP = "The lamp was lit in 1824 by Hannah. The keeper was tall. The boat came by the sea."
ASKED = "When was the lamp lit?"


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> Frame:
    start = trained_parts.start(tmp_path_factory.mktemp("start"))
    return Frame(Tokens(start / "tokenizer.json", 48))


def item(answer: str, title: str = "The lamp") -> questions.Item:
    start = LAMP.index(answer)
    return questions.Item("made", ASKED, Passage.of(LAMP, title), ((start, start + len(answer)),), (answer,))


@pytest.mark.parametrize("answer", ["1824", "in 1824 by Hannah", "tall", "The boat"])
def test_an_answer_is_learnt_in_exactly_the_windows_that_hold_it(frame: Frame, answer: str):
    asked = item(answer)
    said = []
    for view in frame.views(ASKED, asked.passage):
        one = reader.example(asked, view)
        if one.first:
            start, end = view.characters(one.first, one.last)
            said.append(LAMP[start:end])
    assert said
    assert set(said) == {answer}


def test_a_title_that_names_the_answer_is_not_the_answer(frame: Frame):
    asked = item("lamp")
    view = frame.views(ASKED, asked.passage)[0]
    first = reader.example(asked, view).first
    assert view.row.spans[first - view.row.second][0] > view.title


def test_the_best_span_is_the_one_that_trying_all_finds(frame: Frame):
    view = frame.views(ASKED, Passage.of(LAMP))[0]
    logits = np.random.default_rng(0).normal(size=(len(view.row.ids), 2)).astype(np.float32)
    found = best(view, logits)
    every = [(a, b) for a in view.readable for b in view.readable if a <= b < a + 30]
    assert found is not None
    assert (found.first, found.last) == max(every, key=lambda pair: logits[pair[0], 0] + logits[pair[1], 1])


def test_found_answers_are_whole_words_the_longest_first():
    assert questions.places_of("In 1824, not 18245, by Ann Lee.", ["1824", "lee", "Ann Lee"]) == (
        (23, 30),
        (3, 7),
        (27, 30),
    )


def write(folder: Path, name: str, rows: list[dict[str, object]]) -> None:
    with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the reader learns from, a few records each; what is held out is told by the pool."""
    if not Path(os.environ.get("TOULMIN_DATA", "../shared/data")).is_dir():
        pytest.skip("needs the evaluation data: TOULMIN_DATA")
    folder = tmp_path_factory.mktemp("data")
    marked = []
    for n, word in enumerate(trained_parts.WORDS * 2):
        context = f"The tower was {word}. The sea was {trained_parts.WORDS[n % 7]} in {1800 + n}."
        answer = {"text": word, "answer_start": context.index(word, 14)}
        row = {"id": str(n), "question": "What was the tower?", "context": context, "split": ("train", "dev")[n % 2]}
        marked.append(row | {"answers": [answer] if n % 3 else []})
    write(folder, "squad1_mrqa", [row for row in marked if row["answers"]])
    write(folder, "squad2_devhalf", [row | {"title": "Tower"} for row in marked])
    natural = {"id": "n", "question": "who lit it", "answers": ["Hannah"], "title": "Lamp", "passage": LAMP}
    write(folder, "qa_nq_gold", [natural | {"split": "train"}])
    asked = {"id": "q", "question": "who lit it", "kind": "short", "answers": [["Hannah"]], "split": "train"}
    write(folder, "pool_questions", [asked | {"distractor_passages": ["p1", "p2"], "gold_passages": []}])
    pool = [{"id": "p1", "title": "A", "text": LAMP}, {"id": "p2", "title": "B", "text": "The sea was tall."}]
    film = {"id": "p3", "title": "Low Tide", "text": "Low Tide is a 1951 film directed by Hannah Pell."}
    write(folder, "pool_corpus", [*pool, film])
    swapped = {"question": "who lit it", "context": "It was lit by Tom Ashby , the keeper .", "answer": "Tom Ashby"}
    write(folder, "qa_nq_swap", [swapped | {"split": "train"}])
    return folder


def test_a_passage_that_holds_the_answer_is_never_said_to_be_silent(data: Path):
    silent = [one.passage.text for one in questions.items(data, "train") if one.source == "pool_questions"]
    assert silent == ["The sea was tall."]


def test_a_marked_answer_stands_where_it_is_said_to(data: Path):
    for one in questions.items(data, "dev"):
        for start, end in one.places:
            assert one.passage.text[start:end].lower() in {answer.lower() for answer in one.answers}


def test_an_answer_that_was_swapped_is_read_from_its_passage(data: Path):
    (one,) = [one for one in questions.items(data, "train") if one.source == "qa_nq_swap"]
    assert (one.passage.text, one.answers) == ("It was lit by Tom Ashby, the keeper.", ("Tom Ashby",))


# ---------------------------------------------------------------- runs


def trained(data: Path, out: Path, *more: str) -> Path:
    torch.set_num_threads(1)
    start = trained_parts.start(out.parent / "start")
    usual = "--batch 8 --micro 4 --max-tokens 48 --threads 1 --rate 0.01".split()
    reader.main(["--data", str(data), "--start", str(start), "--out", str(out), *usual, *more])
    return out


def weights(out: Path) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in model.load(out).state_dict().items()}


def are_equal(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(first[name], second[name]) for name in first)


def test_a_trained_reader_is_exported_and_reads(data: Path, tmp_path: Path):
    trained(data, tmp_path / "run", "--epochs", "1")
    export.export(tmp_path / "run", tmp_path / "out", "reader-tiny")
    (span,) = TrainedReader(tmp_path / "out", least=0.0).read([(ASKED, (Passage.of(LAMP),))])
    assert span is not None
    assert span.quote.text in LAMP


def test_a_run_resumed_twice_has_the_same_weights(data: Path, tmp_path: Path):
    whole = trained(data, tmp_path / "whole", "--epochs", "2")
    parts = trained(data, tmp_path / "parts", "--epochs", "2", "--steps", "3")
    trained(data, parts, "--epochs", "2", "--steps", "5", "--resume")
    trained(data, parts, "--epochs", "2", "--resume")
    assert are_equal(weights(whole), weights(parts))


def test_another_seed_gives_other_weights(data: Path, tmp_path: Path):
    first = trained(data, tmp_path / "a", "--epochs", "0.3", "--seed", "1")
    assert not are_equal(weights(first), weights(trained(data, tmp_path / "b", "--epochs", "0.3", "--seed", "2")))


def test_what_is_learnt_costs_less_in_the_end(data: Path, tmp_path: Path):
    out = trained(data, tmp_path / "run", "--epochs", "6", "--every", "0")
    costs = [json.loads(line)["loss"] for line in (out / "metrics.jsonl").read_text("utf-8").splitlines()]
    known = [cost for cost in costs if cost is not None]
    assert sum(known[-10:]) < 0.8 * sum(known[:10])


def test_frozen_layers_stay_as_they_were(data: Path, tmp_path: Path):
    out = trained(data, tmp_path / "run", "--epochs", "0.5", "--frozen", "1")
    before, after = model.backbone_from(tmp_path / "start").state_dict(), weights(out)
    moved = [name for name in before if not torch.equal(before[name], after[f"backbone.{name}"])]
    assert {name.split(".")[1] for name in moved if name.startswith("layers.")} == {"1"}


def test_a_folder_of_a_run_is_not_overwritten(data: Path, tmp_path: Path):
    out = trained(data, tmp_path / "run", "--epochs", "1", "--steps", "1")
    with pytest.raises(SystemExit, match="add --resume"):
        trained(data, out, "--epochs", "1")


def test_a_run_is_not_resumed_with_other_settings(data: Path, tmp_path: Path):
    out = trained(data, tmp_path / "run", "--epochs", "1", "--steps", "1")
    with pytest.raises(SystemExit, match="of another run"):
        trained(data, out, "--epochs", "3", "--resume")


def test_what_is_exported_says_nearly_what_was_trained(data: Path, tmp_path: Path):
    run = trained_parts.finished(tmp_path / "run", "reader")
    network = export.export(run, tmp_path / "out", "reader-tiny")
    gap = export.parity(model.load(run), network, export.random_rows(20, 40, vocabulary=90))
    assert gap.difference < 0.2


def test_a_regression_finds_the_weights_of_what_it_is_shown():
    dice = np.random.default_rng(0)
    x = np.column_stack([np.ones(4000), dice.normal(size=4000), 100 * dice.normal(size=4000)])
    truth = dice.random(4000) < 1 / (1 + np.exp(-x @ [0.5, -1.0, 0.02]))
    assert reader.logistic(x, truth) == pytest.approx([0.5, -1.0, 0.02], rel=0.2)
