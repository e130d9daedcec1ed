"""A corpus in a PostgreSQL server: its candidates, its vectors, its tables, its addresses."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from postgres_server import PACKAGES, Server, postgres_server, why_not
from row_tables import table
from shared_parts import notes_in
from test_store_contract import QUERIES
from words_encoder import ByWords

if why_not():
    pytest.skip(str(why_not()), allow_module_level=True)

import psycopg

from toulmin.build import encoding
from toulmin.config import Settings
from toulmin.errors import IndexDamaged, UsageError
from toulmin.indexing.catalogue import id_of
from toulmin.indexing.store import open_index
from toulmin.indexing.update import update
from toulmin.indexing.vector_files import EncoderChoice
from toulmin.retrieval.bm25 import Bm25, query_terms
from toulmin.stores import postgres_corpus
from toulmin.stores.postgres_connection import place_of
from toulmin.stores.postgres_corpus import open_postgres
from toulmin.stores.postgres_writer import update_postgres

TOKEN = "a-token-of-some-length"


pytestmark = pytest.mark.xdist_group("postgres")  # one worker starts a server, for all of these


@pytest.fixture(scope="module")
def server(postgres: Server) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as environment:
        for name, value in postgres.environment.items():
            environment.setenv(name, value)
        yield postgres


_numbers = count()


@pytest.fixture
def place(server: Server) -> str:
    """An address at which no corpus is yet."""
    return f"postgresql://127.0.0.1:{server.port}/postgres/corpus-{next(_numbers)}"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return notes_in(tmp_path / "notes")


@pytest.fixture(scope="module", params=PACKAGES)
def both(server: Server, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same files in an embedded index and in a database, with vectors of the type that its pgvector has."""
    ground = tmp_path_factory.mktemp("both")
    files = notes_in(ground / "notes")
    wanted = EncoderChoice(ByWords(), "own:words")
    update(ground / "index", [files], vectors=wanted)
    with postgres_server(request.param) as own:
        place = f"postgresql://127.0.0.1:{own.port}/postgres/both"
        update_postgres(place, [files], vectors=wanted)
        with open_index(ground / "index") as embedded, open_postgres(place) as shared:
            yield embedded, shared


def ask(statement: str) -> list[Any]:
    """What the server says to its owner."""
    with psycopg.connect(dbname="postgres", autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def schema(place: str) -> str:
    return '"' + place.rpartition("/")[2] + '"'


# ---------------------------------------------------------------- the same as the embedded index


@table("enough", [1, 5, 10**9], ids=["rarest", "some", "all"])
@table("query", QUERIES)
def test_the_ranking_and_its_scores_are_those_of_the_embedded_index(
    both: Any, query: str, enough: int, monkeypatch: Any
):
    monkeypatch.setattr(postgres_corpus, "_ENOUGH", enough)  # which words the first passages are looked up by
    embedded, shared = both
    assert Bm25(shared).search([query], 10) == Bm25(embedded).search([query], 10)


@table("query", QUERIES)
def test_the_first_candidates_are_the_best_however_few_are_wanted(both: Any, query: str, monkeypatch: Any):
    monkeypatch.setattr(postgres_corpus, "_ENOUGH", 1)
    embedded, shared = both
    best = [hit.passage.id for hit in Bm25(embedded).search([query], 3)[0]]
    keys = shared.candidates(sorted(set(query_terms(query))), 6)[:3]
    assert [id_of(key) for key, _ in keys] == best


@pytest.mark.parametrize("fusion", ["dense", "rrf"])
def test_search_by_meaning_and_by_both_finds_what_the_embedded_index_does(both: Any, fusion: Any, monkeypatch: Any):
    monkeypatch.setattr("toulmin.build.encoding.encoder", lambda spec, settings: ByWords())
    found = []
    for corpus in both:
        ranker = encoding.search_of(corpus, Bm25(corpus), Settings(fusion=fusion)).ranker
        found.append(ranker.search(["the clock of a ship"], 5)[0])
    ids = [[hit.passage.id for hit in hits] for hits in found]
    scores = [[hit.score for hit in hits] for hits in found]
    assert ids[1] == ids[0]
    assert scores[1] == pytest.approx(scores[0], abs=0.01)  # which are rounded otherwise


def test_vectors_are_searched_by_an_index_of_inner_products(both: Any, request: pytest.FixtureRequest):
    row = [1] + [0] * (ByWords().dimension - 1)
    nearest = f"SELECT key FROM \"both\".found ORDER BY vector OPERATOR(public.<#>) '{row}' LIMIT 5"
    port = urlsplit(str(both[1].folder)).port
    with psycopg.connect(port=port, dbname="postgres") as connection:
        kind = connection.execute('SELECT pg_typeof(vector)::text FROM "both".found LIMIT 1').fetchone()
        connection.execute("SET enable_seqscan = off")  # which few passages are quicker searched by
        plan = connection.execute(f"EXPLAIN {nearest}".encode()).fetchall()
    assert kind == ({"pgserver": "vector"}.get(request.node.callspec.params["both"], "halfvec"),)
    assert "Index Scan using found_vector" in str(plan)


DAMAGE = {
    "the terms of passage": "UPDATE {}.found SET counts = counts || 1::smallint",
    "the frequencies of 1 words": "DELETE FROM {0}.frequencies WHERE word = (SELECT min(word) FROM {0}.frequencies)",
    "22 passages are counted": "DELETE FROM {0}.passages WHERE number = 1",
}


def test_verify_finds_nothing_wrong(both: Any):
    both[1].verify()


@pytest.mark.parametrize("finding", DAMAGE)
def test_verify_finds_what_was_changed(notes: Path, place: str, finding: str):
    update_postgres(place, [notes])
    ask(DAMAGE[finding].format(schema(place)))
    with open_postgres(place) as corpus, pytest.raises(IndexDamaged, match=finding):
        corpus.verify()


# ---------------------------------------------------------------- updates


def titles(place: str, query: str) -> list[str]:
    with open_postgres(place) as corpus:
        return [Path(hit.passage.source.path or "").name for hit in Bm25(corpus).search([query], 10)[0]]


def test_a_passage_in_several_files_goes_with_the_last(tmp_path: Path, place: str):
    folder = tmp_path / "same"
    folder.mkdir()
    held = []
    for name in ("a.md", "b.md"):
        (folder / name).write_text("# Same\n\nThe same words in several files.")
    update_postgres(place, [folder])
    held.append(titles(place, "same words"))
    for name in ("a.md", "b.md"):
        (folder / name).unlink()
        update_postgres(place, [folder])
        held.append(titles(place, "same words"))
    assert held == [["a.md"], ["b.md"], []]
    assert ask(f"SELECT count(*) FROM {schema(place)}.frequencies") == [(0,)]


def test_another_version_is_not_written_to(notes: Path, place: str):
    update_postgres(place, [notes])
    ask(f"UPDATE {schema(place)}.about SET made = made || '{{\"format\": 0}}'")
    with pytest.raises(IndexDamaged, match="written by another version of Toulmin"):
        update_postgres(place, [notes])


# ---------------------------------------------------------------- through the commands


def test_the_server_follows_a_database_that_broke_its_connections(notes: Path, place: str):
    from web_parts import served, until

    update_postgres(place, [notes])
    with served(place, token=TOKEN) as server:
        client = server.client
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        assert len(client.get("/v1/documents").json()["documents"]) == 11
        (notes / "moons_of_jupiter.md").unlink()
        update_postgres(place, [notes])
        ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'toulmin'")
        assert until(lambda: len(client.get("/v1/documents").json().get("documents", ())) == 10)


def test_doctor_looks_at_a_corpus_in_a_database(notes: Path, place: str):
    from toulmin.cli import doctor

    update_postgres(place, [notes])
    found = doctor._index(place)
    assert (found.state, found.detail.startswith(f"{place}: 11 files, 11 documents, 22 passages")) == ("works", True)


# ---------------------------------------------------------------- addresses


def test_an_address_says_host_port_user_database_and_corpus():
    place = place_of("postgresql://reader@db.example:5433/library/Notes_1/")
    assert (place.host, place.port, place.user, place.database) == ("db.example", 5433, "reader", "library")
    assert (place.schema, str(place)) == ("Notes_1", "postgresql://reader@db.example:5433/library/Notes_1")


def test_what_the_address_leaves_out_is_left_to_libpq(server: Server, notes: Path, monkeypatch: Any):
    monkeypatch.setenv("PGHOST", str(server.sockets))
    assert update_postgres("postgres:///postgres/by_socket", [notes]).documents == 11


@pytest.mark.parametrize("place", ["postgresql://me:secret@host/db/c", "postgresql://host/db/c?password=secret"])
def test_an_address_with_a_password_is_refused_without_repeating_it(place: str):
    with pytest.raises(UsageError, match="set PGUSER and PGPASSWORD") as told:
        open_postgres(place)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("place", ["postgresql://host", "postgresql://host/db", "postgresql://host//c"])
def test_an_address_without_a_database_or_a_corpus_is_wrong_usage(place: str):
    with pytest.raises(UsageError, match="names a database and in it a corpus"):
        place_of(place)


@pytest.mark.parametrize("corpus", ["public", "pg_catalog", "a;drop", 'a"b', "a/b", "1a", "x" * 64])
def test_a_name_that_a_schema_must_not_have_is_wrong_usage(corpus: str):
    with pytest.raises(UsageError, match="A corpus in a database is named with"):
        place_of(f"postgresql://host/db/{corpus}")


def test_a_port_that_is_none_is_wrong_usage():
    with pytest.raises(UsageError, match="A port is a number"):
        place_of("postgresql://host:many/db/c")


# ---------------------------------------------------------------- without the library


def test_psycopg_is_loaded_only_where_such_an_address_is_used(notes: Path, place: str, tmp_path: Path):
    code = (
        "import sys, toulmin\n"
        f"toulmin.index({str(notes)!r}, into={str(tmp_path / 'index')!r})\n"
        f"toulmin.search('clock', index={str(tmp_path / 'index')!r})\n"
        "print(sorted({'psycopg', 'lancedb'} & sys.modules.keys()))\n"
        f"toulmin.index({str(notes)!r}, into={place!r})\n"
        f"toulmin.search('clock', index={place!r})\n"
        "print(sorted({'psycopg', 'lancedb'} & sys.modules.keys()))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ})
    assert done.stdout.splitlines() == ["[]", "['psycopg']"], done.stderr
