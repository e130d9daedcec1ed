"""A shared corpus in a folder of LanceDB: its rows, its writers, its addresses."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from shared_parts import notes_in
from test_store_contract import QUERIES

from toulmin.errors import SourceError, UsageError
from toulmin.indexing.store import open_index
from toulmin.indexing.update import update
from toulmin.retrieval.bm25 import Bm25

pytest.importorskip("lancedb", reason="needs lancedb")

from toulmin.stores.lance_corpus import Abreast, open_shared
from toulmin.stores.lance_writer import update_shared


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return notes_in(tmp_path / "notes")


def told(corpus: Any) -> list[Any]:
    """Every passage with its source, by id."""
    return sorted(corpus.every_passage(), key=lambda passage: passage.id)


def test_queries_side_by_side_are_ranked_as_one_by_one(notes: Path, tmp_path: Path):
    update_shared(f"lance:{tmp_path}/c", [notes])
    with open_shared(f"lance:{tmp_path}/c") as corpus:
        by_words = Bm25(corpus)
        assert Abreast(by_words).search([*QUERIES, *QUERIES], 5) == by_words.search([*QUERIES, *QUERIES], 5)


# ---------------------------------------------------------------- updates


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


def test_a_commit_that_a_second_first_writer_undid_is_made_again(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    import lancedb

    from toulmin.stores.lance_writer import SharedWriter

    place, tidy, undone = f"lance:{tmp_path}/c", SharedWriter._tidy, []

    def make_anew(self: SharedWriter) -> None:
        tidy(self)
        if not undone:
            undone.append(
                lancedb.connect(str(tmp_path / "c")).create_table("corpus", schema=self._schema, mode="overwrite")
            )

    monkeypatch.setattr(SharedWriter, "_tidy", make_anew)
    report = update_shared(place, [notes])
    update(tmp_path / "index", [notes])
    with open_shared(place) as shared, open_index(tmp_path / "index") as embedded:
        assert report.documents == embedded.stats.documents
        assert (told(shared), shared.stats) == (told(embedded), embedded.stats)


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


# ---------------------------------------------------------------- through the commands


def test_a_folder_of_lancedb_named_as_an_index_says_how_to_name_it(notes: Path, tmp_path: Path):
    update_shared(f"lance:{tmp_path}/c", [notes])
    with pytest.raises(SourceError, match=f"name it lance:{tmp_path}/c"):
        open_index(tmp_path / "c")


# ---------------------------------------------------------------- addresses


def test_a_folder_of_lancedb_may_lie_at_home(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    update_shared("lance:~/c", [notes])
    assert (tmp_path / "c" / "corpus.lance").is_dir()


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
