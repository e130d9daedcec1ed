"""The index on disk, beside what test_store_contract says of it: its size, its look-ups, other users and processes."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from texts import texts

from toulmin.errors import IndexDamaged, SourceError
from toulmin.indexing.store import open_index
from toulmin.indexing.update import IndexReport, Progress, update
from toulmin.retrieval.bm25 import Bm25

TOWER = "Kettle Rock Tower was lit for the first time on 3 May 1824. Hannah Pell drew its plans."
BRIDGE = "The Long Bridge carries two lanes of traffic. It opened in 1931."
LONG = " ".join(f"Sentence number {n} speaks of the harbour and of ship number {n}." for n in range(60))


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Two short files and a long one."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "tower.txt").write_text(TOWER, "utf-8")
    (folder / "bridge.txt").write_text(BRIDGE, "utf-8")
    (folder / "harbour.txt").write_text(LONG, "utf-8")
    return folder


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Where the index is to lie."""
    return tmp_path / "index"


def found(index: Path, query: str, k: int = 5) -> list[str]:
    """The texts that a fresh reader finds, best first."""
    with open_index(index) as corpus:
        return [hit.passage.text for hit in Bm25(corpus).search([query], k)[0]]


def counts(report: IndexReport) -> tuple[int, int, int, int]:
    """Files read, unchanged, removed and skipped."""
    return report.read, report.unchanged, report.removed, len(report.skipped)


# ---------------------------------------------------------------- updating


def test_an_index_shrinks_with_its_files(docs: Path, index: Path) -> None:
    update(index, [docs])
    small = (index / "corpus.sqlite").stat().st_size
    (docs / "big.txt").write_text("".join(f"Line {n} of a long tale. " for n in range(50_000)), "utf-8")
    update(index, [docs])
    (docs / "big.txt").unlink()
    update(index, [docs])
    assert (index / "corpus.sqlite").stat().st_size <= 1.5 * small


def test_an_index_within_the_documents_does_not_read_itself(docs: Path) -> None:
    update(docs / "index", [docs])
    assert counts(update(docs / "index", [docs])) == (0, 3, 0, 0)


def test_another_passage_length_cuts_everything_again(docs: Path, index: Path) -> None:
    update(index, [docs])
    assert update(index, [docs], passage_words=20).passages > 20


def test_another_passage_length_reads_files_of_other_folders_too(docs: Path, index: Path, tmp_path: Path) -> None:
    update(index, [docs])
    (tmp_path / "mill.txt").write_text("The mill grinds barley.", "utf-8")
    assert update(index, [tmp_path / "mill.txt"], passage_words=20).read == 4


# ---------------------------------------------------------------- reading


@pytest.fixture
def fleet(docs: Path) -> Path:
    """A file of many short documents."""
    file = docs / "fleet.jsonl"
    file.write_text("".join(json.dumps({"text": f"Ship {n} sailed in {1800 + n}."}) + "\n" for n in range(60)), "utf-8")
    return file


@pytest.mark.parametrize("has_searched", [False, True])
@pytest.mark.parametrize("what", ["changed", "vanished", "the index lies elsewhere"])
def test_a_reader_of_many_passages_sees_the_moment_in_which_it_was_opened(
    fleet: Path, index: Path, what: str, has_searched: bool
) -> None:
    update(index, [fleet.parent])
    before = sorted(found(index, "ship sailed", 60))
    with open_index(index) as corpus:
        if has_searched:
            Bm25(corpus).search(["ship sailed"], 60)
        if what == "changed":
            fleet.write_text(fleet.read_text("utf-8").replace("sailed", "sank, and never sailed again"), "utf-8")
        elif what == "vanished":
            fleet.unlink()
        if what == "the index lies elsewhere":
            index.rename(index.with_name("moved"))
        else:
            update(index, [fleet.parent])
            assert sorted(found(index, "ship sailed", 60)) != before
        assert sorted(hit.passage.text for hit in Bm25(corpus).search(["ship sailed"], 60)[0]) == before


@given(st.data())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_codes_looked_up_together_are_those_looked_up_one_by_one(fleet: Path, index: Path, data: st.DataObject) -> None:
    update(index, [fleet.parent])
    with open_index(index) as corpus:
        keys = [key for key, _ in corpus.candidates(["ship"], 60)]
        some = data.draw(st.lists(st.sampled_from(keys), max_size=150))
        assert corpus.codes(some) == [corpus.codes([key])[0] for key in some]
        with pytest.raises(IndexDamaged, match="not stored"):
            corpus.codes([*keys, 1])


@given(st.lists(texts(12), min_size=1, max_size=5), st.lists(texts(12), max_size=5))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_updated_index_equals_one_made_anew(
    tmp_path_factory: pytest.TempPathFactory, before: list[str], after: list[str]
) -> None:
    """Whatever the texts were and became: same passages, same statistics, same offsets that hold."""
    folder = tmp_path_factory.mktemp("law")
    (folder / "docs").mkdir()
    _write(folder / "docs", before)
    update(folder / "old", [folder / "docs"], passage_words=12)
    _write(folder / "docs", after)
    update(folder / "old", [folder / "docs"])
    update(folder / "new", [folder / "docs"], passage_words=12)
    assert _contents(folder / "old") == _contents(folder / "new")


def _write(folder: Path, contents: list[str]) -> None:
    for file in folder.iterdir():
        file.unlink()
    for n, content in enumerate(contents):
        (folder / f"{n}.txt").write_text(content, "utf-8", newline="")


def _contents(index: Path) -> tuple[object, ...]:
    """All that a reader can see, each passage's offsets checked against its document's text."""
    with open_index(index) as corpus:
        hits = Bm25(corpus).search(["lamp keeper storm Маяк 灯台 harbour"], 300)[0]
        texts = {entry.path: corpus.text(entry) for entry in corpus.documents()}
        for hit in hits:
            source = hit.passage.source
            assert texts[source.path][source.start : source.end] == hit.passage.text
        ranked = [(hit.passage.id, round(hit.score, 9)) for hit in hits]
        return texts, ranked, corpus.stats


# ---------------------------------------------------------------- readers without the right to write

AS_NOBODY = """
import os, sys
from pathlib import Path
from toulmin.retrieval.bm25 import Bm25
from toulmin.indexing.codes import term_code
from toulmin.indexing.store import open_index
term_code("read")  # the files of the package may be for its owner alone
os.setuid(65534)
with open_index(Path(sys.argv[1])) as corpus:
    print(Bm25(corpus).search(["Hannah Pell"], 1)[0][0].passage.text)
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user")
def test_another_user_may_read_an_index(docs: Path) -> None:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        update(Path(folder) / "index", [docs])
        command = [sys.executable, "-c", AS_NOBODY, str(Path(folder) / "index")]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.stdout.strip() == TOWER, said.stderr


ONE_AFTER_ANOTHER = """
import sys
from pathlib import Path
from toulmin.indexing.update import update
index, docs = map(Path, sys.argv[1:])
for version in range(30):
    for name in ("a.txt", "b.txt", "c.txt"):
        (docs / name).write_text(f"The keeper of file {name} saw version{version}.", "utf-8")
    update(index, [docs])
"""


def test_a_generation_that_goes_while_it_is_opened_is_told_at_once(index: Path, tmp_path: Path):
    (tmp_path / "a.txt").write_text("The keeper saw the lamp.", "utf-8")
    update(index, [tmp_path / "a.txt"])
    for file in index.glob("terms-*/*.pos"):
        file.unlink()
    with pytest.raises(IndexDamaged):
        open_index(index)


def test_readers_that_come_while_updates_go_on_each_see_one_version(index: Path, tmp_path: Path) -> None:
    docs = tmp_path / "versions"
    docs.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (docs / name).write_text(f"The keeper of file {name} saw no version.", "utf-8")
    update(index, [docs])
    seen: set[tuple[int, int]] = set()
    with subprocess.Popen([sys.executable, "-c", ONE_AFTER_ANOTHER, str(index), str(docs)]) as process:
        while process.poll() is None:
            texts = found(index, "keeper")
            seen.add((len(texts), len({text.split()[-1] for text in texts})))
    assert seen == {(3, 1)}


# ---------------------------------------------------------------- writers


def test_nobody_comes_in_between_the_commits_of_a_first_update(
    docs: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toulmin.indexing.catalogue.WRITER_WAIT_SECONDS", 0.1)
    monkeypatch.setattr("toulmin.indexing.writer._COMMIT_EVERY", 1)
    told = []

    def meanwhile(progress: Progress) -> None:
        for ask in (lambda: open_index(index), lambda: update(index, [docs])):
            with pytest.raises(SourceError, match="Another process is writing"):
                ask()
        told.append(progress)

    update(index, [docs], on_progress=meanwhile)
    assert len(told) > 2
    with open_index(index) as corpus:
        corpus.verify()


def test_an_interrupted_first_update_leaves_no_rows_behind(
    docs: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toulmin.indexing.writer._COMMIT_EVERY", 1)

    def stop(progress: Progress) -> None:
        if progress.done_files:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        update(index, [docs], on_progress=stop)
    with pytest.raises(SourceError, match="There is no index"):
        open_index(index)
    connection = sqlite3.connect(index / "corpus.sqlite")
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    connection.close()


def test_two_first_updates_at_once_leave_a_whole_index(docs: Path, index: Path) -> None:
    code = "import sys; from pathlib import Path; from toulmin.indexing.update import update;"
    code += "update(Path(sys.argv[1]), [Path(sys.argv[2])])"
    arguments = [sys.executable, "-c", code, str(index), str(docs)]
    running = [subprocess.Popen(arguments, stderr=subprocess.PIPE) for _ in range(2)]
    for process in running:
        process.communicate()
    assert found(index, "Hannah Pell") == [TOWER]
