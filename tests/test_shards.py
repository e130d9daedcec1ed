"""An index of shards is read as one in one piece would be, whatever was changed, killed or broken in between."""

from __future__ import annotations

import errno
import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from store_parts import Here
from words_encoder import ByWords

import toulmin
from toulmin.data import Document
from toulmin.documents.loaders import read_documents
from toulmin.errors import DiskFull, IndexDamaged, SourceError, UsageError
from toulmin.indexing.catalogue import id_of
from toulmin.indexing.sharding import Call, Process, Shard, ShardedWriter, update_shards
from toulmin.indexing.shards import Sharded, open_any, place_of, shards_in
from toulmin.indexing.store import Corpus, open_index
from toulmin.indexing.update import IndexReport, update
from toulmin.indexing.vector_files import EncoderChoice
from toulmin.retrieval.bm25 import Bm25
from toulmin.retrieval.vectors import Dense

DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
WORDS = "lamp tower keeper storm harbour reef oil wick lens fog horn boat wreck tide rock bell night ship crew".split()
COUNT = 3


def spread(index: Path, *paths: Path, **options: Any) -> IndexReport:
    return update_shards(index, paths, shards=COUNT, hire=Here, **options)


def sentence(n: int) -> str:
    return " ".join(WORDS[(n * step + step) % len(WORDS)] for step in (1, 2, 3, 5, 7, 11)) + f" number{n}."


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Files of several documents, one of many passages, and one that cannot be read."""
    folder = tmp_path / "docs"
    folder.mkdir()
    rows = [{"_id": f"r{n}", "title": f"Record {n % 30}", "text": sentence(n)} for n in range(60)]
    (folder / "records.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    (folder / "untitled.jsonl").write_bytes(b"\n".join(orjson.dumps({"text": sentence(n)}) for n in range(60, 80)))
    (folder / "long.md").write_text("# The long one\n\n" + "\n\n".join(map(sentence, range(100, 190))), "utf-8")
    (folder / "broken.jsonl").write_text('{"text": 1}', "utf-8")
    return folder


def seen(
    corpus: Corpus | Sharded, queries: Sequence[str] = (*WORDS, "number7", "keeper of the lamp")
) -> dict[str, Any]:
    """All that a reader can see."""
    documents = list(corpus.documents())
    passages = {passage.id: passage for passage in corpus.every_passage()}
    return {
        "hits": [[(hit.passage, hit.score) for hit in ranked] for ranked in Bm25(corpus).search(queries, 300)],
        "documents": [(one.title, one.path, one.record, one.passages, corpus.text(one)) for one in documents],
        "passages": passages,
        "neighbours": {passage_id: corpus.neighbours(passage_id) for passage_id in passages},
        "homes": {passage_id: corpus.text(corpus.document_of(passage_id)) for passage_id in passages},
        "stats": corpus.stats,
        "contents": corpus.contents,
        "skipped": corpus.skipped(),
        "size": len(corpus),
    }


def both(tmp_path: Path, *paths: Path, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What readers see of the index in one piece and of the one in shards, after both were brought up to date."""
    one, several = update(tmp_path / "one", paths, **options), spread(tmp_path / "several", *paths, **options)
    assert one == several
    with open_index(tmp_path / "one") as whole, open_any(tmp_path / "several") as parts:
        assert isinstance(parts, Sharded)
        parts.verify()
        return seen(whole), seen(parts)


# ---------------------------------------------------------------- the same as in one piece


def test_everything_is_as_in_one_piece(docs: Path, tmp_path: Path):
    whole, parts = both(tmp_path, docs, passage_words=20)
    assert parts == whole
    assert len(whole["passages"]) > 100


def test_every_shard_has_some_of_the_documents(docs: Path, tmp_path: Path):
    spread(tmp_path / "several", docs)
    for shard in shards_in(tmp_path / "several"):
        with open_index(shard) as corpus:
            assert 15 < corpus.stats.documents < 40


def test_what_changed_vanished_and_came_is_as_in_one_piece(docs: Path, tmp_path: Path):
    both(tmp_path, docs)
    (docs / "untitled.jsonl").unlink()
    (docs / "long.md").write_text("# The long one\n\n" + "\n\n".join(map(sentence, range(150, 260))), "utf-8")
    (docs / "new.txt").write_text(sentence(300), "utf-8")
    (docs / "broken.jsonl").write_bytes(orjson.dumps({"text": sentence(301)}))
    whole, parts = both(tmp_path, docs)
    assert {**parts, "documents": sorted(parts["documents"])} == {**whole, "documents": sorted(whole["documents"])}
    assert parts["skipped"] == []


def test_a_batch_that_the_last_call_fills_is_answered(tmp_path: Path):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(99):  # two calls each, one for what was skipped, one for the vectors
        (folder / f"{number}.txt").write_text(f"Lamp {number} was lit in {1800 + number}.", "utf-8")
    report = update_shards(tmp_path / "one", [folder], shards=1, hire=Here)
    assert (report.read, report.documents) == (99, 99)


def test_another_length_of_passages_cuts_everything_again(docs: Path, tmp_path: Path):
    both(tmp_path, docs)
    whole, parts = both(tmp_path, docs, passage_words=15)
    assert parts == whole


def test_a_passage_that_several_files_hold_goes_with_the_last(tmp_path: Path):
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("a", "b"):
        text = "\n\n".join(sentence(n) for n in (1, *range(10 if name == "a" else 20, 40)))
        (docs / f"{name}.md").write_text(f"# The same title\n\n{text}", "utf-8")
    whole, parts = both(tmp_path, docs, passage_words=5)
    assert parts == whole
    (docs / "a.md").unlink()
    whole, parts = both(tmp_path, docs)
    assert parts == whole


def test_documents_of_one_title_share_a_shard():
    assert len({place_of(Document(sentence(n), "One title"), 16) for n in range(50)}) == 1
    assert place_of(Document(" The same. "), 16) == place_of(Document("The same."), 16)
    dealt = [place_of(Document(sentence(n)), 4) for n in range(400)]
    assert min(map(dealt.count, range(4))) > 60


def test_rarity_in_one_shard_does_not_crowd_out_others(tmp_path: Path):
    at: dict[int, list[str]] = {place: [] for place in range(COUNT)}
    for title in (f"Log {n}" for n in range(200)):
        at[place_of(Document("", title), COUNT)].append(title)
    told = dict.fromkeys(at[0][:20] + at[1][:20], "the fog came early")
    told |= dict.fromkeys(at[0][:15], "the storm came early")
    told |= dict.fromkeys(at[1][:1], "the storm came late") | dict.fromkeys(at[1][1:4], "the wreck came late")
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(orjson.dumps({"title": t, "text": x}) for t, x in told.items()))
    spread(tmp_path / "shards", tmp_path / "log.jsonl")
    with open_any(tmp_path / "shards") as corpus:
        found = [id_of(key) for key, _ in corpus.candidates(["storm", "wreck"], 3)]
        assert {passage.title for passage in corpus.passages(found)} == set(at[1][1:4])


def test_vectors_are_ranked_as_in_one_piece(docs: Path, tmp_path: Path):
    wanted = EncoderChoice(ByWords(), "by:words")
    update(tmp_path / "one", [docs], vectors=wanted)
    report = spread(tmp_path / "several", docs, wanted=lambda: wanted)
    assert (report.encoder, report.encoded) == ("by-words", report.passages)
    queries = [sentence(n) for n in range(0, 200, 9)]
    with open_index(tmp_path / "one") as whole, open_any(tmp_path / "several") as parts:
        expected = Dense(whole, ByWords()).search(queries, 20)
        found = Dense(parts, ByWords()).search(queries, 20)
        parts.verify()
    assert [[hit.passage for hit in row] for row in found] == [[hit.passage for hit in row] for row in expected]
    flat = [[hit.score for row in rows for hit in row] for rows in (found, expected)]
    np.testing.assert_allclose(flat[0], flat[1], rtol=1e-6)


@pytest.mark.skipif(not (DATA / "pool_corpus.jsonl.gz").is_file(), reason="TOULMIN_DATA names no data")
def test_real_passages_in_four_shards_are_ranked_as_in_one_piece(tmp_path: Path):
    """Of a part of the pool; benchmarks/shards.py looks at all of it."""
    file = tmp_path / "part.jsonl"
    with gzip.open(DATA / "pool_corpus.jsonl.gz") as lines:
        file.write_bytes(b"".join(islice(lines, 5000)))
    questions = map(orjson.loads, gzip.decompress((DATA / "pool_questions.jsonl.gz").read_bytes()).splitlines())
    asked = [row["question"] for row in questions][::40]
    update(tmp_path / "one", [file])
    update_shards(tmp_path / "four", [file], shards=4, hire=Here)
    with open_index(tmp_path / "one") as whole, open_any(tmp_path / "four") as parts:
        assert Bm25(parts).search(asked, 20) == Bm25(whole).search(asked, 20)
    assert len(asked) > 100


# ---------------------------------------------------------------- processes


def test_processes_write_what_one_does(docs: Path, tmp_path: Path):
    update(tmp_path / "one", [docs])
    told: list[int] = []
    options = {"shards": 2, "hire": Process, "on_progress": lambda progress: told.append(progress.passages)}
    update_shards(tmp_path / "several", [docs], **options)
    with open_index(tmp_path / "one") as whole, open_any(tmp_path / "several") as parts:
        assert seen(parts) == seen(whole)


class Fragile(Process):
    """A process that is killed after some lots of calls."""

    def __init__(self, make: Callable[[], Shard], after: int) -> None:
        super().__init__(make)
        self._left = after

    def send(self, calls: Sequence[Call]) -> None:
        self._left -= 1
        if self._left == 0:
            self._process.kill()
            self._process.join()
        super().send(calls)


@pytest.mark.parametrize("after", [2, 3])
def test_a_process_that_ends_changes_nothing(docs: Path, tmp_path: Path, after: int):
    index = tmp_path / "several"
    update_shards(index, [docs], shards=2, hire=Process)
    with open_any(index) as corpus:
        before = seen(corpus)
    (docs / "long.md").write_text("# The long one\n\n" + sentence(400), "utf-8")
    with pytest.raises(SourceError, match=r"ended \(exit code -9\).*Nothing was changed"):
        update_shards(index, [docs], shards=2, hire=partial(Fragile, after=after))
    with open_any(index) as corpus:
        assert seen(corpus) == before


def on_a_full_disk(make: Callable[[], Shard]) -> Shard:
    def prepare(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    shard = make()
    shard._writer.prepare = prepare  # type: ignore[method-assign]
    return shard


def test_a_process_that_finds_the_disk_full_says_so(docs: Path, tmp_path: Path):
    with pytest.raises(DiskFull, match="The disk is full"):
        update_shards(tmp_path / "i", [docs], shards=2, hire=lambda make: Process(partial(on_a_full_disk, make)))


PROGRAM = """
import sys
from pathlib import Path
from toulmin.indexing.sharding import Process
from toulmin.indexing.sharding import update_shards
if __name__ == "__main__":
    print("ready", flush=True)
    update_shards(Path(sys.argv[1]), [Path(sys.argv[2])], shards=2, hire=Process)
"""


@pytest.mark.parametrize("after", [0.5, 1.0])
def test_killed_at_any_moment_the_index_is_as_before_or_after(docs: Path, tmp_path: Path, after: float):
    index, program = tmp_path / "several", tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    update_shards(index, [docs], shards=2, hire=Process)
    with open_any(index) as corpus:
        before = seen(corpus)
    (docs / "long.md").write_text("# The long one\n\n" + "\n\n".join(map(sentence, range(400, 900))), "utf-8")
    with subprocess.Popen([sys.executable, program, index, docs], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
    _until_workers_left(index)
    with open_any(index) as corpus:
        found = seen(corpus)
    update_shards(index, [docs], shards=2, hire=Process)
    with open_any(index) as corpus:
        assert found in (before, seen(corpus))


def _until_workers_left(index: Path) -> None:
    """Workers end by themselves when whoever reads is gone."""
    until = time.monotonic() + 20
    for shard in shards_in(index):
        while True:
            connection = sqlite3.connect(shard / "corpus.sqlite", timeout=0.1, isolation_level=None)
            try:
                connection.execute("BEGIN IMMEDIATE")
                break
            except sqlite3.OperationalError:
                assert time.monotonic() < until
            finally:
                connection.close()


# ---------------------------------------------------------------- moments


def _half_committed(index: Path, docs: Path) -> None:
    """Ends an update between the first shard and the second."""

    class Killed(Exception):
        pass

    class Half(Here):
        made = 0

        def __init__(self, make: Callable[[], Shard]) -> None:
            super().__init__(make)
            Half.made += 1
            self._is_first = Half.made == 1

        def send(self, calls: Sequence[Call]) -> None:
            if not self._is_first and calls[-1][0] == "commit":
                raise Killed
            super().send(calls)

    with pytest.raises(Killed):
        update_shards(index, [docs], shards=COUNT, hire=Half)


def test_shards_of_two_moments_are_refused_and_made_anew(docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toulmin.indexing.shards._PATIENCE_SECONDS", 0.1)
    both(tmp_path, docs)
    (docs / "records.jsonl").write_bytes(orjson.dumps({"title": "Record 7", "text": sentence(500)}))
    _half_committed(tmp_path / "several", docs)
    with pytest.raises(IndexDamaged, match=r"not of one moment.*toulmin index"):
        open_any(tmp_path / "several")
    report = spread(tmp_path / "several", docs)
    assert report.read == 3
    update(tmp_path / "one", [docs])
    with open_index(tmp_path / "one") as whole, open_any(tmp_path / "several") as parts:
        expected, found = seen(whole), seen(parts)
    assert {**found, "documents": sorted(found["documents"])} == {
        **expected,
        "documents": sorted(expected["documents"]),
    }


# ---------------------------------------------------------------- what is refused


def test_another_number_of_shards_is_refused(docs: Path, tmp_path: Path):
    spread(tmp_path / "several", docs)
    with pytest.raises(SourceError, match="has 3 shards, not 4; leave the number out"):
        update_shards(tmp_path / "several", [docs], shards=4, hire=Here)


@pytest.mark.parametrize("count", [0, -1, 257])
def test_an_odd_number_of_shards_is_refused(docs: Path, tmp_path: Path, count: int):
    with pytest.raises(UsageError, match="1 to 256 shards"):
        update_shards(tmp_path / "several", [docs], shards=count, hire=Here)


def test_an_index_in_one_piece_stays_so(docs: Path, tmp_path: Path):
    update(tmp_path / "one", [docs])
    with pytest.raises(SourceError, match="is in one piece; name another folder"):
        spread(tmp_path / "one", docs)


def test_a_folder_whose_first_update_never_ended_holds_no_index(docs: Path, tmp_path: Path):
    class Stopped(Exception):
        pass

    def stop(progress: Any) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        spread(tmp_path / "several", docs, on_progress=stop)
    with pytest.raises(SourceError, match=f"There is no index in {tmp_path / 'several'}; to make one"):
        open_any(tmp_path / "several")
    whole, parts = both(tmp_path, docs)
    assert parts == whole


def test_process_killed_before_shard_list_leaves_it_usable(docs: Path, tmp_path: Path):
    (tmp_path / "several").mkdir()
    (tmp_path / "several" / "shards.json.4711").write_text('{"shards"', "utf-8")
    whole, parts = both(tmp_path, docs)
    assert parts == whole


@pytest.mark.parametrize("told", ["", "[]", '{"shards": "many"}'])
def test_a_broken_list_of_shards_is_damage(docs: Path, tmp_path: Path, told: str):
    spread(tmp_path / "several", docs)
    (tmp_path / "several" / "shards.json").write_text(told, "utf-8")
    with pytest.raises(IndexDamaged, match=r"shards\.json"):
        open_any(tmp_path / "several")


def test_leaving_without_commit_changes_nothing(docs: Path, tmp_path: Path):
    spread(tmp_path / "several", docs)
    with open_any(tmp_path / "several") as corpus:
        before = seen(corpus)
    makes = [partial(Shard, folder, None, lambda: None) for folder in shards_in(tmp_path / "several")]
    with ShardedWriter(makes, Here) as writer:
        for number, _ in writer.files():
            writer.remove_file(number)
    with open_any(tmp_path / "several") as corpus:
        assert seen(corpus) == before


# ---------------------------------------------------------------- by command and call


ENTRY = [sys.executable, "-c", "from toulmin.cli import main; main()"]


def _said(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ENTRY, *map(str, words)], capture_output=True, text=True, check=False)


def test_the_commands_make_search_and_look_at_shards(docs: Path, tmp_path: Path):
    index = tmp_path / "several"
    made = _said("index", docs, "--into", index, "--shards", "2", "--json")
    assert (made.returncode, json.loads(made.stdout)["documents"]) == (0, 81), made.stderr
    again = _said("index", docs, "--into", index, "--json")
    assert json.loads(again.stdout)["unchanged"] == 3
    (hit,) = json.loads(_said("search", "number7", "--index", index, "--k", "1", "--json").stdout)["hits"]
    assert hit["passage"]["text"] == sentence(7)
    other = _said("index", docs, "--into", index, "--shards", "3")
    assert (other.returncode, "has 2 shards, not 3" in other.stderr.replace("\n", " ")) == (3, True)
    assert "81 documents" in _said("doctor", "--index", index).stdout.replace("\n", " ")


@pytest.mark.parametrize(("more", "told"), [(["--shards", "2"], "by one process"), (["--workers", "2"], "--on ray")])
def test_a_copy_is_made_by_one_process(tmp_path: Path, more: list[str], told: str):
    said = _said("index", "--from", "lance:somewhere", "--into", tmp_path / "copy", *more)
    assert (said.returncode, told in said.stderr.replace("\n", " ")) == (2, True), said.stderr


def test_shards_are_of_a_folder(docs: Path):
    with pytest.raises(UsageError, match="index of shards lies in a folder"):
        toulmin.index(str(docs), into="lance:somewhere", shards=2)


def test_every_reader_of_a_file_gives_documents_that_can_be_sent(docs: Path):
    import pickle

    for file in ("records.jsonl", "long.md"):
        documents = list(read_documents(docs / file))
        assert pickle.loads(pickle.dumps(documents)) == documents
