"""Search by meaning with a trained encoder, from calls and from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import test_encoders
import test_vectors

import toulmin
from toulmin.build import indexes
from toulmin.cli.commands import index as index_command
from toulmin.cli.commands import search as search_command
from toulmin.cli.doctor import examine
from toulmin.cli.options import Place
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.indexing.store import label_of

exported, training, library = test_encoders.exported, test_encoders.training, test_vectors.library


@pytest.fixture
def ready(tmp_path: Path, library: Path, exported) -> Path:
    folder = tmp_path / "ready"
    toulmin.index([str(library)], into=str(folder), settings=Settings(encoder=f"onnx:{exported(8)}"))
    return folder


@pytest.mark.parametrize("fusion", ["rrf", "lexical", "dense", None])
def test_every_fusion_finds(ready: Path, fusion: str | None):
    assert len(toulmin.search("tower lamp keeper", index=str(ready), k=4, settings=Settings(fusion=fusion))) == 4


def test_a_later_run_keeps_the_vectors_without_being_told(ready: Path, library: Path):
    (library / "new.txt").write_text("the lamp of the boat", "utf-8")
    assert indexes.update_index([str(library)], ready, Settings()).encoded == 1


def test_a_later_run_drops_them_where_it_is_told(ready: Path, library: Path):
    indexes.update_index([str(library)], ready, Settings(encoder="none"))
    assert label_of(ready) is None


def test_given_passages_are_searched_by_meaning_where_an_encoder_is_set(exported):
    passages = [Passage.of("the tower was tall"), Passage.of("boat ship sea")]
    settings = Settings(encoder=f"onnx:{exported(8)}", fusion="dense")
    assert toulmin.search("the tower was tall", passages=passages, settings=settings)[0].passage is passages[0]


def test_an_answer_tells_the_fusion_and_no_path(ready: Path, library: Path):
    settings = Settings(fusion="rrf", encoder=label_of(ready).spec)
    answer = toulmin.ask("What stood by the lamp?", index=str(ready), settings=settings)
    assert answer.settings["fusion"] == "rrf"
    assert str(ready.parent) not in json.dumps(dict(answer.settings), default=str)


def test_the_command_line_encodes_and_searches(
    tmp_path: Path,
    library: Path,
    exported,
    capsys: pytest.CaptureFixture[str],
):
    place, spec = str(tmp_path / "index"), f"onnx:{exported(8)}"
    capsys.readouterr()  # what making the encoder printed
    assert index_command((str(library),), into=place, encoder=spec, json=True) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["encoder"], report["encoded"]) == ("model, 8 bits", 60)
    assert search_command("tower lamp", place=Place(index=place), k=3, fusion="dense", json=True) == 0
    assert len(json.loads(capsys.readouterr().out)["hits"]) == 3


def test_the_doctor_knows_the_encoder_of_an_index(ready: Path):
    (finding,) = [one for one in examine(str(ready)) if one.part == "encoder"]
    assert (finding.state, finding.detail.split(",")[0]) == ("works", "model")
