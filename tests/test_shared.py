"""A shared corpus in a folder of LanceDB: it holds, ranks and tells what the embedded index of the same files does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_parts import ByWords, notes_in, run

import toulmin
from toulmin.build import encoding, indexes
from toulmin.build.sources import Sources, open_sources
from toulmin.config import Settings
from toulmin.errors import SourceError, UsageError
from toulmin.indexing.store import open_index
from toulmin.indexing.update import update
from toulmin.indexing.vector_files import Wanted
from toulmin.retrieval.bm25 import Bm25
from toulmin.stores.address import is_shared
from toulmin.stores.contents import FileRow, newer_row, newest, waste

pytest.importorskip("lancedb", reason="needs lancedb")

from toulmin.stores.lance_corpus import Abreast, SharedCorpus, open_shared
from toulmin.stores.lance_writer import update_shared

TOKEN = "a-token-of-some-length"
QUERIES = (
    "Who built the first marine clock?",
    "longitude act prize",
    "When was the sea watch H4 finished and how much did it weigh?",
    "moons of Jupiter",
    "the of and",
    "Harrison",
    "a word that nobody wrote: zyzzyva",
    "Greenwich meridian conference 1884 ships",
)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return notes_in(tmp_path / "notes")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same files in an embedded index and in a shared corpus, with vectors."""
    ground = tmp_path_factory.mktemp("both")
    files = notes_in(ground / "notes")
    wanted = Wanted(ByWords(), "own:words")
    update(ground / "index", [files], vectors=wanted)
    update_shared(f"lance:{ground}/shared", [files], vectors=wanted)
    with open_index(ground / "index") as embedded, open_shared(f"lance:{ground}/shared") as shared:
        yield embedded, shared


def told(corpus: Any) -> list[Any]:
    """Every passage with its source, by id."""
    return sorted(corpus.every_passage(), key=lambda passage: passage.id)


# ---------------------------------------------------------------- the same as the embedded index


def test_passages_ids_offsets_and_sources_are_those_of_the_embedded_index(both: Any):
    embedded, shared = both
    assert told(shared) == told(embedded)


@pytest.mark.parametrize("query", QUERIES)
def test_the_ranking_and_its_scores_are_those_of_the_embedded_index(both: Any, query: str):
    embedded, shared = both
    assert Bm25(shared).search([query], 10) == Bm25(embedded).search([query], 10)


def test_queries_side_by_side_are_ranked_as_one_by_one(both: Any):
    _, shared = both
    assert Abreast(Bm25(shared)).search([*QUERIES, *QUERIES], 5) == Bm25(shared).search([*QUERIES, *QUERIES], 5)


@pytest.mark.parametrize("fusion", ["dense", "rrf", "weighted"])
def test_search_by_meaning_and_by_both_finds_what_the_embedded_index_does(both: Any, fusion: Any, monkeypatch: Any):
    monkeypatch.setattr("toulmin.build.encoding.encoder", lambda spec, settings: ByWords())
    found = []
    for corpus in both:
        ranker = encoding.search_of(corpus, Bm25(corpus), Settings(fusion=fusion)).ranker
        found.append([(hit.passage.id, round(hit.score, 2)) for hit in ranker.search(["the clock of a ship"], 5)[0]])
    assert found[1] == found[0]


def test_stats_and_contents_are_those_of_the_embedded_index(both: Any):
    embedded, shared = both
    assert (shared.stats, shared.contents, len(shared)) == (embedded.stats, embedded.contents, len(embedded))


def test_a_passage_has_the_neighbours_and_the_document_that_it_has_in_the_embedded_index(both: Any):
    embedded, shared = both
    for passage in embedded.every_passage():
        assert shared.neighbours(passage.id) == embedded.neighbours(passage.id)
        assert shared.text(shared.document_of(passage.id)) == embedded.text(embedded.document_of(passage.id))


def test_documents_are_listed_as_in_the_embedded_index(both: Any):
    embedded, shared = both
    assert list(shared.documents()) == list(embedded.documents())


def test_an_unknown_id_is_told(both: Any):
    with pytest.raises(SourceError, match="There is no passage 'nothing'"):
        both[1].passage("nothing")


def test_verify_finds_nothing_wrong(both: Any):
    both[1].verify()


def test_verify_finds_a_text_that_was_changed(notes: Path, tmp_path: Path):
    import lancedb

    update_shared(f"lance:{tmp_path}/c", [notes])
    lance_table = lancedb.connect(str(tmp_path / "c")).open_table("corpus")
    lance_table.update(where="kind = 2 AND number = 0", values={"text": "# Something else was written."})
    with open_shared(f"lance:{tmp_path}/c") as corpus, pytest.raises(SourceError, match="is not what was indexed"):
        corpus.verify()


# ---------------------------------------------------------------- updates


def titles(place: str, query: str) -> list[str]:
    with open_shared(place) as corpus:
        return [Path(hit.passage.source.path or "").name for hit in Bm25(corpus).search([query], 10)[0]]


def test_a_second_update_reads_nothing_and_makes_no_version(notes: Path, tmp_path: Path):
    place = f"lance:{tmp_path}/c"
    first = update_shared(place, [notes])
    with open_shared(place) as corpus:
        before = corpus.stamp()
    second = update_shared(place, [notes])
    with open_shared(place) as corpus:
        assert (first.read, second.read, second.unchanged, corpus.stamp()) == (11, 0, 11, before)


def test_a_changed_file_is_replaced(notes: Path, tmp_path: Path):
    place = f"lance:{tmp_path}/c"
    update_shared(place, [notes])
    (notes / "moons_of_jupiter.md").write_text("# Moons\n\nA quokka watched the moons.")
    report = update_shared(place, [notes])
    assert (report.read, report.unchanged) == (1, 10)
    assert titles(place, "quokka") == ["moons_of_jupiter.md"]
    assert "moons_of_jupiter.md" not in titles(place, "eclipses of Io")


def test_a_removed_file_is_taken_out(notes: Path, tmp_path: Path):
    place = f"lance:{tmp_path}/c"
    update_shared(place, [notes])
    (notes / "moons_of_jupiter.md").unlink()
    report = update_shared(place, [notes])
    assert report.removed == 1
    assert "moons_of_jupiter.md" not in titles(place, "moons of Jupiter")


def test_many_updates_leave_what_one_update_of_the_last_files_makes(notes: Path, tmp_path: Path):
    place = f"lance:{tmp_path}/c"
    for round in range(4):
        (notes / "changing.md").write_text(f"# Changing\n\nWord{round} stands here.")
        (notes / f"only{round}.md").write_text("The same words in several files.")
        (notes / f"only{round - 2}.md").unlink(missing_ok=True)
        update_shared(place, [notes])
    update(tmp_path / "index", [notes])
    with open_shared(place) as shared, open_index(tmp_path / "index") as embedded:
        assert (told(shared), shared.stats) == (told(embedded), embedded.stats)
        for query in ("word0 word3 stands", "the same words in several files"):
            assert Bm25(shared).search([query], 10) == Bm25(embedded).search([query], 10)


def test_nothing_that_is_superseded_stays_in_the_table(notes: Path, tmp_path: Path):
    import lancedb

    place = f"lance:{tmp_path}/c"
    update_shared(place, [notes])
    clean = lancedb.connect(str(tmp_path / "c")).open_table("corpus").count_rows()
    (notes / "new.md").write_text("Something new.")
    update_shared(place, [notes])
    (notes / "new.md").unlink()
    update_shared(place, [notes])
    assert lancedb.connect(str(tmp_path / "c")).open_table("corpus").count_rows() == clean


def test_rows_that_no_writer_tidied_up_count_nowhere(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    place = f"lance:{tmp_path}/c"
    update_shared(place, [notes])
    (notes / "moons_of_jupiter.md").write_text("# Moons\n\nA quokka watched the moons.")
    (notes / "longitude_act.md").unlink()
    monkeypatch.setattr(
        "toulmin.stores.lance_writer.SharedWriter._tidy", lambda self: None
    )  # as if it were killed here
    update_shared(place, [notes])
    update(tmp_path / "index", [notes])
    with open_shared(place) as shared, open_index(tmp_path / "index") as embedded:
        assert (told(shared), shared.stats) == (told(embedded), embedded.stats)
        assert Bm25(shared).search(list(QUERIES), 10) == Bm25(embedded).search(list(QUERIES), 10)


def test_two_that_make_a_corpus_at_once_both_have_one(tmp_path: Path):
    from concurrent.futures import ThreadPoolExecutor

    from toulmin.stores import lance_table
    from toulmin.stores.address import address
    from toulmin.stores.contents import About

    def make(n: int) -> Any:
        return lance_table.ensure_table(address(f"lance:{tmp_path}/c{n}"), About(100, None))

    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(make, [0, 0, 0, 1, 1, 1]))
    names = [sorted(index.name for index in one.list_indices()) for one in made]
    assert names == [["file_idx", "key_idx", "terms_idx"]] * 6


KILLED = """
import sys
from pathlib import Path
from toulmin.stores.lance_writer import update_shared

for n in range(1000):
    (Path(sys.argv[2]) / "changing.md").write_text(f"# Changing\\n\\nThis is version{n}.")
    update_shared(sys.argv[1], [Path(sys.argv[2])])
    print(n, flush=True)
"""


def test_an_update_after_a_kill_makes_what_an_update_makes(notes: Path, tmp_path: Path):
    place = f"lance:{tmp_path}/c"
    words = [sys.executable, "-c", KILLED, place, str(notes)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, env={**os.environ})
    assert process.stdout is not None
    for pause in (0.013, 0.0):  # some way into an update, and right after one
        process.stdout.readline()
        time.sleep(pause)
    process.kill()
    process.communicate()
    (notes / "changing.md").write_text("# Changing\n\nThis was written in the end.")  # it may have been left half
    update_shared(place, [notes])
    update(tmp_path / "index", [notes])
    with open_shared(place) as shared, open_index(tmp_path / "index") as embedded:
        shared.verify()
        assert (told(shared), shared.stats) == (told(embedded), embedded.stats)


def test_a_file_that_cannot_be_read_is_skipped_and_listed_until_it_can(notes: Path, tmp_path: Path):
    place = f"lance:{tmp_path}/c"
    (notes / "bad.json").write_text("{")
    report = update_shared(place, [notes])
    with open_shared(place) as corpus:
        assert [Path(one.path).name for one in corpus.skipped()] == ["bad.json"]
    (notes / "bad.json").unlink()
    update_shared(place, [notes])
    with open_shared(place) as corpus:
        assert ([Path(one.path).name for one in report.skipped], corpus.skipped()) == (["bad.json"], [])


def test_a_reader_stays_at_its_version(notes: Path, tmp_path: Path):
    place = f"lance:{tmp_path}/c"
    update_shared(place, [notes])
    with open_shared(place) as before:
        found = Bm25(before).search(["moons"], 5)
        (notes / "moons_of_jupiter.md").unlink()
        update_shared(place, [notes])
        assert Bm25(before).search(["moons"], 5) == found
        assert before.stamp() != before.version


def test_another_length_of_passages_is_refused(notes: Path, tmp_path: Path):
    update_shared(f"lance:{tmp_path}/c", [notes])
    with pytest.raises(SourceError, match="about 100 words, not 50"):
        update_shared(f"lance:{tmp_path}/c", [notes], passage_words=50)


def test_an_encoder_that_the_corpus_was_not_made_with_is_refused(notes: Path, tmp_path: Path):
    update_shared(f"lance:{tmp_path}/c", [notes])
    with pytest.raises(SourceError, match="made without vectors, and the encoder asked for is words"):
        update_shared(f"lance:{tmp_path}/c", [notes], vectors=Wanted(ByWords(), "own:words"))


# ---------------------------------------------------------------- files and their rows


rows = st.builds(FileRow, st.integers(1, 99), st.integers(0, 9), st.sampled_from("ab"), st.integers(0, 5))


@given(st.lists(rows, unique_by=lambda row: row.mark))
def test_taking_out_waste_a_path_at_a_time_never_changes_which_files_there_are(found: list[FileRow]):
    def held(rows: list[FileRow]) -> Any:
        return {path: row for path, row in newest(rows).items() if not row.is_gone}

    left = found
    for one in waste(found):
        left = [row for row in left if row.mark not in one.marks]
        assert held(left) == held(found)


def test_a_newer_row_is_newer_even_where_the_clock_is_behind():
    known = FileRow(1, 1, "a", at=10**18)
    assert newest([newer_row(known, "a", file=2), known])["a"].file == 2


# ---------------------------------------------------------------- through the commands


def test_every_command_takes_an_address(notes: Path, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "questions.jsonl").write_text('{"id": "a", "question": "Who built the sea clocks?"}\n')
    (tmp_path / "draft.txt").write_text("Harrison finished his first sea clock in 1735.")
    assert run("index", "notes", "--into", "lance:c") == 0
    assert run("search", "sea clocks", "--index", "lance:c") == 0
    assert run("check", "draft.txt", "--index", "lance:c") == 0
    assert run("run", "questions.jsonl", "--index", "lance:c", "--out", "out") == 0
    assert run("questions", "lance:c", "--out", "made.jsonl", "--n", "3") == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["index"]["path"] == "lance:c"
    capsys.readouterr()
    assert run("ask", "Who built the sea clocks?", "--index", "lance:c", "--json") == 0
    assert json.loads(capsys.readouterr().out)["status"] == "answered"


def test_the_embedded_index_is_built_from_a_shared_corpus(notes: Path, tmp_path: Path):
    update_shared(f"lance:{tmp_path}/c", [notes])
    update(tmp_path / "index", [notes])
    assert run("index", "--from", f"lance:{tmp_path}/c", "--into", str(tmp_path / "copy")) == 0
    with open_index(tmp_path / "copy") as copy, open_index(tmp_path / "index") as embedded:
        copy.verify()
        assert (told(copy), copy.stats, copy.contents) == (told(embedded), embedded.stats, embedded.contents)


def test_a_second_copy_writes_only_what_changed_and_takes_out_what_is_gone(notes: Path, tmp_path: Path):
    place = f"lance:{tmp_path}/c"
    update_shared(place, [notes])
    toulmin.index(place, into=tmp_path / "copy")
    (notes / "new.md").write_text("Something new.")
    (notes / "longitude_act.md").unlink()
    update_shared(place, [notes])
    report = toulmin.index(place, into=tmp_path / "copy")
    assert (report.read, report.unchanged, report.removed) == (1, 10, 1)


def test_a_folder_of_lancedb_named_as_an_index_says_how_to_name_it(notes: Path, tmp_path: Path):
    update_shared(f"lance:{tmp_path}/c", [notes])
    with pytest.raises(SourceError, match=f"name it lance:{tmp_path}/c"):
        open_index(tmp_path / "c")


def test_where_no_corpus_is_the_command_that_makes_one_is_told(tmp_path: Path):
    with pytest.raises(SourceError, match=f"toulmin index PATH --into lance:{tmp_path}/c"):
        open_shared(f"lance:{tmp_path}/c")


def test_the_server_answers_lists_and_follows_a_shared_corpus(notes: Path, tmp_path: Path):
    pytest.importorskip("fastapi", reason="needs fastapi")
    from web_parts import served, until

    place = f"lance:{tmp_path}/c"
    update_shared(place, [notes])
    with served(place, token=TOKEN) as server:
        client = server.client
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        found = client.post("/v1/search", json={"query": "moons of Jupiter", "k": 1}).json()["hits"][0]["passage"]
        listed = client.get("/v1/documents").json()
        assert client.get(f"/v1/passages/{found['id']}").json()["document"]["title"] == found["title"]
        assert (len(listed["documents"]), listed["uploads"]) == (11, False)
        (notes / "new.md").write_text("# New\n\nA quokka watched the moons.")
        update_shared(place, [notes])
        assert until(lambda: len(client.get("/v1/documents").json()["documents"]) == 12)


# ---------------------------------------------------------------- addresses


@pytest.mark.parametrize("place", ["notes", "/a/b", "C:\\notes", "C:/notes", ".toulmin", "a:b", "lancet"])
def test_a_plain_path_is_an_embedded_index(place: str):
    assert not is_shared(place)


@pytest.mark.parametrize("place", ["s3://b/c", "gs://b/c", "az://b/c", "lance:a/b"])
def test_an_address_is_a_shared_corpus(place: str):
    assert is_shared(place)


def test_a_folder_of_lancedb_may_lie_at_home(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    update_shared("lance:~/c", [notes])
    assert (tmp_path / "c" / "corpus.lance").is_dir()


def test_another_scheme_is_wrong_usage():
    with pytest.raises(UsageError, match=r"no address of a corpus called 's4://'.*s3://BUCKET/CORPUS"):
        is_shared("s4://bucket/corpus")


@pytest.mark.parametrize("place", ["s3://key:secret@bucket/corpus", "s3://bucket/corpus?password=secret"])
def test_an_address_with_a_password_is_refused_without_repeating_it(place: str):
    with pytest.raises(UsageError, match="AWS_ACCESS_KEY_ID") as told:
        open_shared(place)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("place", ["s3://bucket", "s3:///corpus", "lance:"])
def test_an_address_without_a_bucket_or_a_name_is_wrong_usage(place: str):
    with pytest.raises(UsageError, match="An address of this kind is"):
        open_shared(place)


# ---------------------------------------------------------------- without the library


def test_lancedb_is_loaded_only_where_an_address_is_used(notes: Path, tmp_path: Path):
    code = (
        "import sys, toulmin\n"
        f"toulmin.index({str(notes)!r}, into={str(tmp_path / 'index')!r})\n"
        f"toulmin.search('clock', index={str(tmp_path / 'index')!r})\n"
        "print(sorted({'lancedb', 'pyarrow'} & sys.modules.keys()))\n"
        f"toulmin.index({str(notes)!r}, into={'lance:' + str(tmp_path / 'c')!r})\n"
        "print(sorted({'lancedb', 'pyarrow'} & sys.modules.keys()))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ})
    assert done.stdout.splitlines() == ["[]", "['lancedb', 'pyarrow']"], done.stderr


def test_an_address_without_the_library_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toulmin.stores.address.find_spec", lambda name: None)
    with (
        pytest.raises(SourceError, match=r"not installed here; run: pip install 'toulmin\[scale\]'"),
        open_sources(Sources(index="s3://library/corpus"), Settings()),
    ):
        pass
    with pytest.raises(SourceError, match=r"toulmin\[scale\]"):
        indexes.update_index(["notes"], "s3://library/corpus", Settings())


def test_doctor_says_what_is_missing_and_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    from toulmin.cli import doctor

    assert doctor._object_store().state == "works"
    monkeypatch.setattr("toulmin.cli.doctor.find_spec", lambda name: None)
    assert (doctor._object_store().state, doctor._object_store().remedy) == ("missing", "pip install 'toulmin[scale]'")


def test_one_reader_serves_several_threads(both: Any):
    from concurrent.futures import ThreadPoolExecutor

    shared: SharedCorpus = both[1]
    alone = [Bm25(shared).search([query], 5) for query in QUERIES]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda query: Bm25(shared).search([query], 5), QUERIES)) == alone
