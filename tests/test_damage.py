"""What is no usable index: missing, foreign, of another version, damaged. It says so, or answers truly."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import damage
import pytest

from toulmin.errors import IndexDamaged, SourceError
from toulmin.indexing.catalogue import compress, text_of
from toulmin.indexing.store import open_index
from toulmin.indexing.update import Progress, update
from toulmin.retrieval.bm25 import Bm25

TOWER = "Kettle Rock Tower was lit for the first time on 3 May 1824. Hannah Pell drew its plans."
BRIDGE = "The Long Bridge carries two lanes of traffic. It opened in 1931."


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Two short files."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "tower.txt").write_text(TOWER, "utf-8")
    (folder / "bridge.txt").write_text(BRIDGE, "utf-8")
    return folder


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Where the index is to lie."""
    return tmp_path / "index"


def found(index: Path, query: str) -> list[str]:
    """The texts that a fresh reader finds, best first."""
    with open_index(index) as corpus:
        return [hit.passage.text for hit in Bm25(corpus).search([query], 5)[0]]


def test_a_file_is_no_index(docs: Path) -> None:
    with pytest.raises(SourceError, match="is a file; an index is a folder"):
        open_index(docs / "tower.txt")


def test_the_database_of_another_program_is_not_touched(docs: Path, index: Path) -> None:
    index.mkdir()
    with sqlite3.connect(index / "corpus.sqlite") as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(SourceError, match="belongs to another program"):
        update(index, [docs])


VERSIONS = ["PRAGMA user_version = 999", "UPDATE state SET terms_version = 0"]


def _altered(index: Path, statement: str) -> None:
    connection = sqlite3.connect(index / "corpus.sqlite")
    connection.create_function("packed", 1, compress)
    connection.create_function("unpacked", 1, text_of)
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("statement", VERSIONS)
def test_an_index_of_another_version_says_so(docs: Path, index: Path, statement: str) -> None:
    update(index, [docs])
    _altered(index, statement)
    with pytest.raises(IndexDamaged, match=r"another version; run: toulmin index"):
        open_index(index)


@pytest.mark.parametrize("statement", VERSIONS)
def test_indexing_again_mends_an_index_of_another_version(docs: Path, index: Path, statement: str) -> None:
    update(index, [docs])
    _altered(index, statement)
    update(index, [docs / "bridge.txt"])
    assert found(index, "Hannah Pell") == [TOWER]


def _answers_or_says_so(index: Path) -> bool:
    """Whether the true answer comes, or an error that says what to do."""
    try:
        with open_index(index) as corpus:
            hits = Bm25(corpus).search(["Hannah Pell"], 5)[0]
            list(map(corpus.text, corpus.documents()))
        return [hit.passage.text for hit in hits] in ([TOWER], [])
    except SourceError as error:
        return "toulmin index" in str(error)


def _files(index: Path) -> list[Path]:
    return sorted(file for file in index.rglob("*") if file.is_file() and file.stat().st_size)


def _cut_short(content: bytes, part: float) -> bytes:
    return content[: int(len(content) * part)]


def _overwritten(content: bytes, part: float) -> bytes:
    at = int(len(content) * part)
    return content[:at] + b"\xa5" * min(40, len(content) - at) + content[at + 40 :]


@pytest.mark.parametrize("harm", [_cut_short, _overwritten])
@pytest.mark.parametrize("part", [0.0, 0.2, 0.5, 0.8, 0.97])
def test_a_damaged_file_never_gives_a_wrong_answer(
    docs: Path, index: Path, harm: Callable[[bytes, float], bytes], part: float
) -> None:
    update(index, [docs])
    outcomes = []
    for file in _files(index):
        content = file.read_bytes()
        damage.replace(file, harm(content, part))
        outcomes.append(_answers_or_says_so(index))
        damage.replace(file, content)
    assert all(outcomes)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.97])
def test_verifying_notices_overwritten_bytes_in_the_term_index(docs: Path, index: Path, part: float) -> None:
    update(index, [docs])
    (postings,) = index.rglob("*.idx")
    content = bytearray(postings.read_bytes())
    content[int(len(content) * part)] ^= 1
    damage.replace(postings, content)
    with pytest.raises(IndexDamaged), open_index(index) as corpus:
        corpus.verify()


def test_a_whole_index_is_verified_also_after_several_updates(docs: Path, index: Path) -> None:
    update(index, [docs])
    (docs / "tower.txt").write_text("The tower fell in 1950.", "utf-8")
    (docs / "bridge.txt").unlink()
    update(index, [docs])
    with open_index(index) as corpus:
        corpus.verify()


def test_interrupted_update_keeps_an_index_of_another_version(docs: Path, index: Path) -> None:
    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    update(index, [docs])
    before = sorted(index.rglob("*"))
    _altered(index, VERSIONS[0])
    with pytest.raises(KeyboardInterrupt):
        update(index, [docs], on_progress=interrupt)
    assert set(before) <= set(index.rglob("*"))


def test_a_closed_corpus_may_be_closed_again(docs: Path, index: Path) -> None:
    update(index, [docs])
    with open_index(index) as corpus:
        corpus.close()


def test_a_missing_term_index_is_damage(docs: Path, index: Path) -> None:
    update(index, [docs])
    for folder in index.glob("terms-*"):
        shutil.rmtree(folder)
    with pytest.raises(IndexDamaged, match="its term index is missing"):
        open_index(index)


def test_an_update_does_not_build_on_a_missing_term_index(docs: Path, index: Path) -> None:
    update(index, [docs])
    for folder in index.glob("terms-*"):
        shutil.rmtree(folder)
    (docs / "tower.txt").write_text("The tower fell in 1950.", "utf-8")
    with pytest.raises(IndexDamaged, match="its term index is missing"):
        update(index, [docs])


def test_a_changed_word_in_the_stored_text_is_noticed(docs: Path, index: Path) -> None:
    update(index, [docs])
    _altered(index, "UPDATE passages SET text = packed(replace(unpacked(text), '1824', '1834'))")
    with open_index(index) as corpus, pytest.raises(IndexDamaged, match="is not what was indexed"):
        Bm25(corpus).search(["Hannah"], 1)


def test_text_that_cannot_be_unpacked_is_noticed(docs: Path, index: Path) -> None:
    update(index, [docs])
    _altered(index, "UPDATE passages SET text = CAST(x'00' AS BLOB)")
    with open_index(index) as corpus, pytest.raises(IndexDamaged, match="cannot be unpacked"):
        Bm25(corpus).search(["Hannah"], 1)
