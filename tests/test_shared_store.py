"""A shared corpus on an S3 server: credentials, failing requests, several writers, and readers beside them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from shared_parts import ENVIRONMENT, SECRET, flaky, free_port, notes_in, refusing, run, s3_server

pytest.importorskip("lancedb", reason="needs lancedb")
pytest.importorskip("moto.server", reason="needs moto[server]")
pytest.importorskip("boto3", reason="needs boto3")

import toulmin
from toulmin.errors import SourceError, StoreAway
from toulmin.indexing.store import open_index
from toulmin.indexing.update import update
from toulmin.retrieval.bm25 import Bm25
from toulmin.stores.lance_corpus import open_shared
from toulmin.stores.lance_writer import update_shared

QUERIES = ["Who built the first marine clock?", "longitude act prize", "moons of Jupiter", "Harrison"]


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with s3_server(tmp_path_factory.mktemp("s3") / "log") as port:
        yield port


@pytest.fixture
def s3(port: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """The server, with an environment that leads there."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    return port


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return notes_in(tmp_path / "notes")


def leads_to(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.chdir(tmp_path)
    return monkeypatch


# ---------------------------------------------------------------- the same ranking


def test_indexing_and_searching_on_s3_gives_the_local_ranking(s3: int, notes: Path, tmp_path: Path):
    report = update_shared("s3://library/same", [notes])
    update(tmp_path / "index", [notes])
    with open_shared("s3://library/same") as shared, open_index(tmp_path / "index") as embedded:
        assert report.passages == len(embedded)
        assert Bm25(shared).search(QUERIES, 10) == Bm25(embedded).search(QUERIES, 10)


def test_an_answer_from_s3_is_the_answer_from_the_folder(s3: int, notes: Path, tmp_path: Path):
    toulmin.index(notes, into="s3://library/answers")
    toulmin.index(notes, into=tmp_path / "index")
    question = "When was the sea watch H4 finished?"
    here, there = (toulmin.ask(question, index=place) for place in (tmp_path / "index", "s3://library/answers"))
    assert (there.text, there.claims, there.passages) == (here.text, here.claims, here.passages)


# ---------------------------------------------------------------- failing requests


def repeated_in(notes: Any) -> int:
    """How many requests the notes say were repeated."""
    return sum(int(note.split()[4]) for note in notes if note.startswith("The object store failed"))


def test_writing_repeats_requests_that_fail_half_of_the_time_and_tells_it(s3: int, notes: Path, monkeypatch: Any):
    with flaky(s3) as (port, counts):
        leads_to(port, monkeypatch)
        report = update_shared("s3://library/flaky", [notes])
    assert 0.4 < counts.failed / counts.asked < 0.6
    assert (report.documents, repeated_in(report.notes)) == (11, counts.failed)


def test_answering_repeats_requests_that_fail_half_of_the_time_and_tells_it(s3: int, notes: Path, monkeypatch: Any):
    update_shared("s3://library/halves", [notes])
    with flaky(s3) as (port, counts):
        leads_to(port, monkeypatch)
        answer = toulmin.ask("When was the sea watch H4 finished?", index="s3://library/halves")
    assert 0.3 < counts.failed / counts.asked < 0.7
    assert (answer.status, repeated_in(answer.notes)) == ("answered", counts.failed)


def test_an_object_store_that_does_not_fail_is_not_spoken_of(s3: int, notes: Path):
    report = update_shared("s3://library/sound", [notes])
    answer = toulmin.ask("When was the sea watch H4 finished?", index="s3://library/sound")
    assert (report.notes, repeated_in(answer.notes)) == ((), 0)


# ---------------------------------------------------------------- what cannot be used


@pytest.mark.parametrize("words", [["search", "x", "--index"], ["index", "notes", "--into"]], ids=["read", "write"])
def test_wrong_credentials_end_with_3_and_what_to_do(s3: int, words: list[str], notes: Path, capsys: Any, here: Any):
    with refusing() as port:
        leads_to(port, here)
        assert run(*words, "s3://library/refused") == 3
    told = " ".join(capsys.readouterr().err.split())
    assert "refused the credentials of this environment; set AWS_ACCESS_KEY_ID" in told
    assert not [name for name in ("test-key", SECRET) if name in told]


@pytest.mark.parametrize("words", [["search", "x", "--index"], ["index", "notes", "--into"]], ids=["read", "write"])
def test_a_missing_bucket_ends_with_3_and_what_to_do(s3: int, words: list[str], notes: Path, capsys: Any, here: Any):
    assert run(*words, "s3://nowhere-at-all/corpus") == 3
    told = " ".join(capsys.readouterr().err.split())
    assert "There is no bucket (or container) for s3://nowhere-at-all/corpus; make it" in told


def test_a_missing_corpus_ends_with_3_and_the_command_that_makes_it(s3: int, capsys: Any):
    assert run("search", "x", "--index", "s3://library/nothing") == 3
    assert "toulmin index PATH --into s3://library/nothing" in " ".join(capsys.readouterr().err.split())


def test_a_store_that_is_away_is_told(s3: int, monkeypatch: Any):
    leads_to(free_port(), monkeypatch)
    monkeypatch.setattr("toulmin.stores.lance_table._REPEATS", 1)
    with pytest.raises(StoreAway, match="cannot be reached; check its endpoint"):
        open_shared("s3://library/corpus")


def test_credentials_stand_nowhere_in_what_a_run_leaves(s3: int, notes: Path, here: Any, capsys: Any):
    Path("questions.jsonl").write_text('{"id": "a", "question": "Who built the sea clocks?"}\n')
    update_shared("s3://library/run", [notes])
    assert run("run", "questions.jsonl", "--index", "s3://library/run", "--out", "out") == 0
    left = b"".join(file.read_bytes() for file in Path("out").iterdir()) + "".join(capsys.readouterr()).encode()
    assert json.loads(Path("out", "run.json").read_text())["index"]["path"] == "s3://library/run"
    assert not [name for name in (b"test-key", SECRET.encode()) if name in left]


# ---------------------------------------------------------------- several at once


WRITES = """
import sys
from pathlib import Path
from toulmin.stores.lance_writer import update_shared

place, folder = sys.argv[1], Path(sys.argv[2])
for n in range(2):
    (folder / f"{folder.name}{n}.md").write_text(f"# {folder.name} {n}\\n\\nThe word {folder.name}word{n} stands here.")
    (folder / "changing.md").write_text(f"# Changing\\n\\n{folder.name} wrote this {n} times.")
    update_shared(place, [folder])
"""


def writing(place: str, folder: Path) -> subprocess.Popen[str]:
    folder.mkdir()
    words = [sys.executable, "-c", WRITES, place, str(folder)]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env={**os.environ})


def test_two_writers_at_once_lose_nothing(s3: int, tmp_path: Path):
    both = [writing("s3://library/writers", tmp_path / name) for name in ("left", "right")]
    for process in both:
        _, told = process.communicate(timeout=120)
        assert process.returncode == 0, told
    update(tmp_path / "index", [tmp_path / "left", tmp_path / "right"])
    with open_shared("s3://library/writers") as shared, open_index(tmp_path / "index") as embedded:
        shared.verify()
        held = [sorted(corpus.every_passage(), key=lambda one: one.id) for corpus in (shared, embedded)]
        assert held[0] == held[1]
        assert shared.stats == embedded.stats
        asked = [f"{name}word{n}" for name in ("left", "right") for n in range(2)]
        assert Bm25(shared).search(asked, 10) == Bm25(embedded).search(asked, 10)


def test_readers_during_writes_see_whole_moments_and_no_error(s3: int, notes: Path, tmp_path: Path):
    place = "s3://library/readers"
    update_shared(place, [notes])
    seen, trouble = [], list[BaseException]()
    ended = threading.Event()

    def read() -> None:
        try:
            with open_shared(place) as before:
                at_first = Bm25(before).search(QUERIES, 10)
                while not ended.is_set():
                    with open_shared(place) as now:
                        files = {Path(document.path or "").name for document in now.documents()}
                        times = [hit.passage.text for hit in Bm25(now).search(["changing wrote times"], 3)[0]]
                        seen.append((len([name for name in files if name.startswith("left")]), times))
                    assert Bm25(before).search(QUERIES, 10) == at_first
        except BaseException as error:
            trouble.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    process = writing(place, tmp_path / "left")
    _, told = process.communicate(timeout=120)
    ended.set()
    for reader in readers:
        reader.join()
    assert (trouble, process.returncode) == ([], 0), told
    assert len(seen) > 1
    for count, times in seen:  # the n-th update wrote the n-th file, and how many there are by then
        assert [text for text in times if "wrote this" in text] == (
            [f"# Changing\n\nleft wrote this {count - 1} times."] if count else []
        )


def test_an_update_that_fails_changes_nothing(s3: int, notes: Path, monkeypatch: Any):
    update_shared("s3://library/whole", [notes])
    with open_shared("s3://library/whole") as corpus:
        before = corpus.stamp()
    (notes / "new.md").write_text("Something new.")
    monkeypatch.setattr("toulmin.stores.lance_table._REPEATS", 0)
    monkeypatch.setattr("toulmin.stores.lance_table._ATTEMPTS", 1)
    with flaky(s3, share=1.0) as (port, _):
        leads_to(port, monkeypatch)
        with pytest.raises(SourceError, match="failed again and again"):
            update_shared("s3://library/whole", [notes])
    leads_to(s3, monkeypatch)
    with open_shared("s3://library/whole") as corpus:
        assert corpus.stamp() == before
