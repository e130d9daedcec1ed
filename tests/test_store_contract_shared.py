"""What a corpus that many may write to promises besides, in LanceDB, in a folder or on S3, as in PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import test_store_contract
from postgres_server import OWNER, PASSWORD
from shared_parts import SECRET, run
from store_parts import IN_BUCKET, SHARED, InFolder, Store, everything
from web_parts import served, until
from words_encoder import ByWords

import toulmin
from toulmin.build.indexes import open_index
from toulmin.errors import SourceError
from toulmin.indexing.vector_files import EncoderChoice
from toulmin.retrieval.bm25 import Bm25

TOKEN = "a-token-of-some-length"

docs, kind, library, store = (getattr(test_store_contract, name) for name in ("docs", "kind", "library", "store"))

pytestmark = pytest.mark.parametrize("kind", [*SHARED, IN_BUCKET], indirect=True)


def test_another_length_of_passages_is_refused(docs: Path, store: Store):
    store.update(docs)
    with pytest.raises(SourceError, match="about 100 words, not 50"):
        store.update(docs, passage_words=50)


def test_an_encoder_that_the_corpus_was_not_made_with_is_refused(docs: Path, store: Store):
    store.update(docs)
    with pytest.raises(SourceError, match="made without vectors, and the encoder asked for is by-words"):
        store.update(docs, vectors=EncoderChoice(ByWords(), "own:words"))


def test_an_update_without_changes_makes_no_new_moment(docs: Path, store: Store):
    store.update(docs)
    with open_index(store.place) as corpus:
        before = corpus.stamp()
        assert store.update(docs).unchanged == 3
        assert corpus.stamp() == before


def test_hits_and_answers_are_those_of_the_index_of_a_folder(library: Path, store: Store, tmp_path: Path):
    index = InFolder(tmp_path / "embedded")
    store.update(library)
    index.update(library)
    with open_index(store.place) as shared, open_index(index.place) as embedded:
        assert Bm25(shared).search(test_store_contract.QUERIES, 10) == Bm25(embedded).search(
            test_store_contract.QUERIES, 10
        )
    question = "When was the sea watch H4 finished?"
    here, there = (toulmin.ask(question, index=place) for place in (index.place, store.place))
    assert (there.text, there.claims, there.passages) == (here.text, here.claims, here.passages)


def test_search_without_corpus_exits_3_with_the_command(store: Store, capsys: Any):
    assert run("search", "x", "--index", store.place) == 3
    assert f"toulmin index PATH --into {store.place}" in " ".join(capsys.readouterr().err.split())


def test_credentials_stand_nowhere_in_what_a_run_leaves(docs: Path, store: Store, capsys: Any, monkeypatch: Any):
    monkeypatch.chdir(docs.parent)
    Path("questions.jsonl").write_text('{"id": "a", "question": "When was the tower lit?"}\n', "utf-8")
    store.update(docs)
    assert run("run", "questions.jsonl", "--index", store.place, "--out", "out") == 0
    left = b"".join(file.read_bytes() for file in Path("out").iterdir()) + "".join(capsys.readouterr()).encode()
    assert not [name for name in (b"test-key", SECRET.encode(), OWNER.encode(), PASSWORD.encode()) if name in left]


def test_every_command_takes_an_address(library: Path, store: Store, tmp_path: Path, capsys: Any, monkeypatch: Any):
    monkeypatch.chdir(tmp_path)
    Path("questions.jsonl").write_text('{"id": "a", "question": "Who built the sea clocks?"}\n', "utf-8")
    Path("draft.txt").write_text("Harrison finished his first sea clock in 1735.", "utf-8")
    assert run("index", str(library), "--into", store.place) == 0
    assert run("search", "sea clocks", "--index", store.place) == 0
    assert run("check", "draft.txt", "--index", store.place) == 0
    assert run("run", "questions.jsonl", "--index", store.place, "--out", "out") == 0
    assert run("questions", store.place, "--out", "made.jsonl", "--n", "3") == 0
    assert json.loads(Path("out", "run.json").read_text("utf-8"))["index"]["path"] == store.place
    capsys.readouterr()
    assert run("ask", "Who built the sea clocks?", "--index", store.place, "--json") == 0
    assert json.loads(capsys.readouterr().out)["status"] == "answered"


def test_the_index_of_a_folder_is_built_from_it(library: Path, store: Store, tmp_path: Path):
    copy, index = InFolder(tmp_path / "copy"), InFolder(tmp_path / "index")
    store.update(library)
    index.update(library)
    assert run("index", "--from", store.place, "--into", copy.place) == 0
    assert everything(copy) == everything(index)


def test_a_copy_keeps_the_remarks_on_documents(docs: Path, store: Store, tmp_path: Path):
    (docs / "fluss.txt").write_bytes("Die Brücke führt über den Fluß.".encode("cp1252"))
    store.update(docs)
    toulmin.index(store.place, into=tmp_path / "copy")
    with open_index(str(tmp_path / "copy")) as opened:
        assert [one.remarks for one in opened.documents() if one.remarks] == [("not UTF-8, read as cp1252, a guess",)]


def test_a_second_copy_writes_only_what_changed_and_takes_out_what_is_gone(docs: Path, store: Store, tmp_path: Path):
    store.update(docs)
    toulmin.index(store.place, into=tmp_path / "copy")
    (docs / "new.md").write_text("Something new.", "utf-8")
    (docs / "tower.txt").unlink()
    store.update(docs)
    report = toulmin.index(store.place, into=tmp_path / "copy")
    assert (report.read, report.unchanged, report.removed) == (1, 2, 1)


def test_the_server_answers_lists_and_follows_it(docs: Path, store: Store):

    store.update(docs)
    with served(store.place, token=TOKEN) as server:
        client = server.client
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        found = client.post("/v1/search", json={"query": "Hannah Pell", "k": 1}).json()["hits"][0]["passage"]
        listed = client.get("/v1/documents").json()
        assert client.get(f"/v1/passages/{found['id']}").json()["document"]["title"] == found["title"]
        assert (len(listed["documents"]), listed["uploads"]) == (3, False)
        (docs / "new.md").write_text("# New\n\nA quokka watched the tower.", "utf-8")
        store.update(docs)
        assert until(lambda: len(client.get("/v1/documents").json()["documents"]) == 4)


# ---------------------------------------------------------------- several at once


WRITES = """
import sys, toulmin
from pathlib import Path

place, folder = sys.argv[1], Path(sys.argv[2])
for n in range(3):
    (folder / f"{folder.name}{n}.md").write_text(f"# {folder.name} {n}\\n\\nThe word {folder.name}word{n} stands here.")
    (folder / "changing.md").write_text(f"# Changing\\n\\n{folder.name} wrote this {n} times.")
    toulmin.index(folder, into=place)
"""


def writer(store: Store, folder: Path) -> subprocess.Popen[str]:
    folder.mkdir()
    words = [sys.executable, "-c", WRITES, store.place, str(folder)]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env={**os.environ})


def end(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said


def test_two_writers_at_once_lose_nothing(store: Store, tmp_path: Path):
    for process in [writer(store, tmp_path / name) for name in ("left", "right")]:
        end(process)
    index = InFolder(tmp_path / "embedded")
    index.update(tmp_path / "left", tmp_path / "right")
    assert everything(store) == everything(index)
    words = [f"{name}word{n}" for name in ("left", "right") for n in range(3)]
    with open_index(store.place) as shared, open_index(index.place) as embedded:
        assert Bm25(shared).search(words, 10) == Bm25(embedded).search(words, 10)


def test_readers_during_writes_see_whole_moments_and_no_error(docs: Path, store: Store, tmp_path: Path):
    store.update(docs)
    is_over = Event()

    def read() -> list[tuple[int, list[str]]]:
        seen = []
        with open_index(store.place) as before:
            at_first = Bm25(before).search(["tower", "ship"], 10)
            while not is_over.is_set():
                with open_index(store.place) as now:
                    files = [Path(document.path or "").name for document in now.documents()]
                    texts = [hit.passage.text for hit in Bm25(now).search(["changing wrote times"], 3)[0]]
                    seen.append((sum(name.startswith("left") for name in files), texts))
                assert Bm25(before).search(["tower", "ship"], 10) == at_first
        return seen

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        try:
            end(writer(store, tmp_path / "left"))
        finally:
            is_over.set()
    moments = [moment for reader in readers for moment in reader.result()]
    assert {count for count, _ in moments} > {0}
    for count, texts in moments:  # the n-th update wrote the n-th file, and how many there are by then
        assert [text for text in texts if "wrote this" in text] == (
            [f"Changing\n\nleft wrote this {count - 1} times."] if count else []
        )
