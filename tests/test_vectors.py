"""Vectors beside the words of an index: exact, kept up to date, of one encoder, and told when they are missing."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import damage
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from words_encoder import ByWords

from toulmin.build.encoding import search_of
from toulmin.cli.doctor import examine
from toulmin.config import Settings
from toulmin.errors import IndexDamaged, ModelError, SourceError
from toulmin.indexing.nearest import Nearest
from toulmin.indexing.nearest import build as build_nearest
from toulmin.indexing.packed_vectors import pack
from toulmin.indexing.store import label_of, open_index
from toulmin.indexing.update import update
from toulmin.indexing.vector_files import EncoderChoice
from toulmin.retrieval.bm25 import Bm25
from toulmin.retrieval.vectors import Dense, DenseInMemory

WORDS = "tower lamp keeper rock sea boat wind light stone island ship storm gull harbour rope bell".split()


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Sixty documents of four words each."""
    folder = tmp_path / "library"
    folder.mkdir()
    for n in range(60):
        words = [WORDS[(n * step + step) % len(WORDS)] for step in (1, 3, 5, 7)]
        (folder / f"{n:02}.txt").write_text(f"{' '.join(words)} number{n}", "utf-8")
    return folder


@pytest.fixture
def index(tmp_path: Path, library: Path) -> Path:
    update(tmp_path / "index", [library], vectors=EncoderChoice(ByWords(), "by:words"))
    return tmp_path / "index"


def searched_ids(index: Path, query: str, k: int = 5, encoder: ByWords | None = None) -> list[str]:
    with open_index(index) as corpus:
        return [hit.passage.id for hit in Dense(corpus, encoder or ByWords()).search([query], k)[0]]


# ---------------------------------------------------------------- packing


@given(arrays.arrays(np.float32, (3, 5), elements=st.floats(-10, 10, width=32)))
def test_a_packed_number_is_off_by_half_a_level_at_most(vectors: np.ndarray):
    kept = pack(np.arange(3), vectors)
    level = np.abs(vectors).max(axis=1, keepdims=True) / 127
    assert (np.abs(kept.codes * kept.scales[:, None] - vectors) <= level / 2 + 1e-5).all()


def test_scores_are_the_inner_products_of_what_is_kept():
    draw = np.random.default_rng(1)
    vectors, queries = (draw.normal(size=(n, 8)).astype(np.float32) for n in (9000, 2))
    kept = pack(np.arange(9000), vectors)
    np.testing.assert_allclose(
        kept.scores(queries), queries @ (kept.codes * kept.scales[:, None]).T, rtol=1e-4, atol=1e-4
    )


def test_inverted_lists_find_nearly_all_of_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toulmin.indexing.nearest.FLAT_UP_TO", 1000)
    draw = np.random.default_rng(2)
    centres = draw.normal(size=(40, 16))
    vectors = (centres[draw.integers(0, 40, 6000)] + draw.normal(size=(6000, 16)) / 3).astype(np.float32)
    kept = pack(np.arange(6000), vectors)
    build_nearest(kept, tmp_path / "lists")
    found = Nearest(tmp_path, tmp_path / "lists", 6000).places(vectors[:50], 10)
    exact = [set(np.argsort(-row)[:10]) for row in kept.scores(vectors[:50])]
    assert np.mean([len(set(places) & true) / 10 for places, true in zip(found, exact, strict=True)]) > 0.9


# ---------------------------------------------------------------- searching


def test_an_index_ranks_as_all_vectors_side_by_side_do(index: Path):
    with open_index(index) as corpus:
        beside = DenseInMemory(list(corpus.every_passage()), ByWords()).search(["lamp rock sea"], 3)[0]
        found = Dense(corpus, ByWords()).search(["lamp rock sea"], 3)[0]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in beside], abs=0.01)


def test_faiss_changes_no_ranking(index: Path, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toulmin.indexing.vector_files.find_spec", lambda name: None)
    update(tmp_path / "plain", [library], vectors=EncoderChoice(ByWords(), "by:words"))
    without = searched_ids(tmp_path / "plain", "storm bell")
    monkeypatch.undo()
    assert searched_ids(index, "storm bell") == without


def test_equal_queries_are_encoded_and_answered_alike(index: Path):
    with open_index(index) as corpus:
        rows = Dense(corpus, ByWords()).search(["lamp", "rock", "lamp"], 4)
    assert rows[0] == rows[2] != rows[1]


def test_an_empty_index_finds_nothing(tmp_path: Path, library: Path, index: Path):
    for file in library.iterdir():
        file.unlink()
    update(index, [library], vectors=EncoderChoice(ByWords(), "by:words"))
    assert searched_ids(index, "lamp") == []


# ---------------------------------------------------------------- keeping up to date


def test_only_new_passages_are_encoded(index: Path, library: Path):
    (library / "new.txt").write_text("a lantern on a pier", "utf-8")
    encoder = ByWords()
    report = update(index, [library], vectors=EncoderChoice(encoder, "by:words"))
    assert (report.encoded, encoder.encoded) == (1, ["New\na lantern on a pier"])


def test_what_a_later_run_adds_is_found(index: Path, library: Path):
    (library / "new.txt").write_text("a lantern on a pier", "utf-8")
    update(index, [library], vectors=EncoderChoice(ByWords(), "by:words"))
    with open_index(index) as corpus:
        assert Dense(corpus, ByWords()).search(["lantern pier"], 1)[0][0].passage.text == "a lantern on a pier"


def test_what_is_removed_is_not_found(index: Path, library: Path):
    (library / "00.txt").unlink()
    update(index, [library], vectors=EncoderChoice(ByWords(), "by:words"))
    with open_index(index) as corpus:
        assert all("number0" not in h.passage.text.split() for h in Dense(corpus, ByWords()).search(["number0"], 99)[0])


def test_a_run_that_changes_nothing_writes_nothing(index: Path, library: Path):
    before = sorted(path.name for path in index.iterdir())
    update(index, [library], vectors=EncoderChoice(ByWords(), "by:words"))
    assert sorted(path.name for path in index.iterdir()) == before


def test_another_encoder_encodes_everything(index: Path, library: Path):
    report = update(index, [library], vectors=EncoderChoice(ByWords("other"), "by:other"))
    assert (report.encoded, report.encoder) == (60, "other")


def test_vectors_come_to_an_index_that_had_none(tmp_path: Path, library: Path):
    update(tmp_path / "index", [library])
    update(tmp_path / "index", [library], vectors=EncoderChoice(ByWords(), "by:words"))
    assert len(searched_ids(tmp_path / "index", "lamp")) == 5


def test_an_update_without_an_encoder_leaves_none(index: Path, library: Path):
    update(index, [library])
    assert label_of(index) is None
    assert list(index.glob("vectors-*")) == []


class Failing(ByWords):
    """Fails at its second chunk."""

    def encode_passages(self, passages):
        if self.encoded:
            raise ModelError("the machine is gone")
        return super().encode_passages(passages)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toulmin.indexing.vector_files._CHUNK", 25)


def test_an_update_that_failed_changes_nothing(index: Path, library: Path, small_chunks: None):
    (library / "new.txt").write_text("a lantern on a pier", "utf-8")
    with pytest.raises(ModelError):
        update(index, [library], vectors=EncoderChoice(Failing("other"), "by:other"))
    assert label_of(index).name == "by-words"
    assert len(searched_ids(index, "number7", 1)) == 1


def test_what_a_failed_update_encoded_is_not_encoded_again(index: Path, library: Path, small_chunks: None):
    with pytest.raises(ModelError):
        update(index, [library], vectors=EncoderChoice(Failing("other"), "by:other"))
    (part,) = (index / "vectors-parts").iterdir()
    with part.open("ab") as file:
        file.write(b"torn")
    report = update(index, [library], vectors=EncoderChoice(ByWords("other"), "by:other"))
    assert report.encoded == 35
    assert searched_ids(index, "number7", 1, ByWords("other"))
    assert not (index / "vectors-parts").exists()


def test_a_reader_goes_on_with_the_vectors_that_it_opened(index: Path, library: Path):
    with open_index(index) as corpus:
        (library / "new.txt").write_text("a lantern on a pier", "utf-8")
        update(index, [library], vectors=EncoderChoice(ByWords("other"), "by:other"))
        assert len(Dense(corpus, ByWords()).search(["lamp"], 5)[0]) == 5


# ---------------------------------------------------------------- damage


def test_a_whole_index_passes_its_examination(index: Path):
    with open_index(index) as corpus:
        corpus.verify()


@pytest.mark.parametrize("name", ["codes.npy", "scales.npy", "nearest.faiss"])
def test_a_changed_byte_is_found(index: Path, name: str):
    (path,) = index.glob(f"vectors-*/{name}")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    damage.replace(path, content)
    with pytest.raises(IndexDamaged, match="vectors"), open_index(index) as corpus:
        corpus.verify()


def test_a_missing_file_is_damage(index: Path):
    (path,) = index.glob("vectors-*/keys.npy")
    path.unlink()
    with pytest.raises(IndexDamaged, match="vectors"):
        open_index(index)


def test_a_row_that_says_nothing_is_damage(index: Path):
    with closing(sqlite3.connect(index / "corpus.sqlite")) as connection, connection:
        connection.execute("UPDATE vectors SET label = '{}'")
    with pytest.raises(IndexDamaged, match="vectors"):
        open_index(index)


# ---------------------------------------------------------------- what settings ask for


def test_vectors_of_another_encoder_are_refused_with_command(index: Path):
    with open_index(index) as corpus, pytest.raises(SourceError, match=r"another encoder.*toulmin index PATH --into"):
        Dense(corpus, ByWords("other"))


def test_meaning_that_is_not_there_is_refused_where_it_is_asked_for(tmp_path: Path, library: Path):
    update(tmp_path / "index", [library])
    with open_index(tmp_path / "index") as corpus, pytest.raises(SourceError, match="--encoder"):
        search_of(corpus, Bm25(corpus), Settings(fusion="dense"))


def test_an_index_without_vectors_is_searched_by_words(tmp_path: Path, library: Path):
    update(tmp_path / "index", [library])
    with open_index(tmp_path / "index") as corpus:
        lexical = Bm25(corpus)
        assert search_of(corpus, lexical, Settings(fusion="lexical")) == (lexical, ())
        assert search_of(corpus, lexical, Settings()) == (lexical, ())


def test_a_search_says_that_its_encoder_is_gone(tmp_path: Path, library: Path):
    update(tmp_path / "index", [library], vectors=EncoderChoice(ByWords(), f"onnx:{tmp_path / 'gone'}"))
    with open_index(tmp_path / "index") as corpus:
        found = search_of(corpus, Bm25(corpus), Settings())
    assert "by words only" in found.remarks[0]


# ---------------------------------------------------------------- from the command line


def test_the_doctor_tells_an_encoder_that_does_not_load(tmp_path: Path, library: Path):
    update(tmp_path / "index", [library], vectors=EncoderChoice(ByWords(), f"onnx:{tmp_path / 'gone'}"))
    (finding,) = [one for one in examine(str(tmp_path / "index")) if one.part == "encoder"]
    assert finding.state == "broken"


def test_search_by_words_loads_no_encoder(tmp_path: Path, library: Path):
    update(tmp_path / "index", [library])
    search = f"toulmin.search('lamp', index={str(tmp_path / 'index')!r})"
    code = f"import sys, toulmin; {search}; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"onnxruntime", "tokenizers", "faiss", "torch"} & set(out) == set()
