"""A corpus in a PostgreSQL server: who may use it, a server that fails, several writers, and readers beside them."""

from __future__ import annotations

import os
import select
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from postgres_server import OWNER, PASSWORD, Server, postgres_server, why_not
from shared_parts import free_port, notes_in, run
from words_encoder import ByWords

if why_not():
    pytest.skip(str(why_not()), allow_module_level=True)

import psycopg

import toulmin
from toulmin.errors import SourceError, StoreAway
from toulmin.indexing.vector_files import EncoderChoice
from toulmin.retrieval.bm25 import Bm25
from toulmin.stores.postgres_corpus import open_postgres
from toulmin.stores.postgres_writer import update_postgres

QUERIES = ["Who built the first marine clock?", "longitude act prize", "moons of Jupiter", "Harrison"]


pytestmark = pytest.mark.xdist_group("postgres")  # one worker starts a server, for all of these


@pytest.fixture
def server(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server, with an environment that leads there."""
    for name, value in postgres.environment.items():
        monkeypatch.setenv(name, value)
    return postgres


_numbers = count()


@pytest.fixture
def place(server: Server) -> str:
    """An address at which no corpus is yet."""
    return f"postgresql:///postgres/corpus_{next(_numbers)}"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return notes_in(tmp_path / "notes")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.chdir(tmp_path)
    return monkeypatch


def ask(statement: str, database: str = "postgres") -> list[Any]:
    """What the server says to its owner."""
    with psycopg.connect(dbname=database, user=OWNER, password=PASSWORD, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def schema(place: str) -> str:
    return place.rpartition("/")[2]


def held(place: str) -> Any:
    with open_postgres(place) as corpus:
        return corpus.stamp(), corpus.stats, sorted(one.id for one in corpus.every_passage())


def disconnect() -> int:
    """Breaks every connection of ours; gives how many there were."""
    return len(ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'toulmin'"))


USES = pytest.mark.parametrize(
    "words", [["search", "x", "--index"], ["index", "notes", "--into"]], ids=["read", "write"]
)


# ---------------------------------------------------------------- what cannot be used


@USES
def test_a_wrong_password_ends_with_3_and_what_to_do(place: str, words: list[str], notes: Path, capsys: Any, here: Any):
    here.setenv("PGPASSWORD", "a-wrong-password")
    assert run(*words, place) == 3
    told = " ".join(capsys.readouterr().err.split())
    assert "refused the credentials of this environment; set PGUSER and PGPASSWORD" in told
    assert not [name for name in ("a-wrong-password", PASSWORD) if name in told]


@USES
def test_no_password_ends_with_3_and_what_to_do(place: str, words: list[str], notes: Path, capsys: Any, here: Any):
    here.delenv("PGPASSWORD")
    here.setenv("PGPASSFILE", os.devnull)
    assert run(*words, place) == 3
    assert "set PGUSER and PGPASSWORD" in " ".join(capsys.readouterr().err.split())


def test_a_password_file_is_read_by_libpq_itself(place: str, notes: Path, tmp_path: Path, here: Any):
    here.delenv("PGPASSWORD")
    (tmp_path / "passwords").write_text(f"*:*:*:{OWNER}:{PASSWORD}\n")
    (tmp_path / "passwords").chmod(0o600)
    here.setenv("PGPASSFILE", str(tmp_path / "passwords"))
    assert run("index", "notes", "--into", place) == 0


@USES
def test_a_missing_database_ends_with_3_and_what_to_do(
    server: Server, words: list[str], notes: Path, capsys: Any, here: Any
):
    assert run(*words, "postgresql:///nowhere/corpus") == 3
    told = " ".join(capsys.readouterr().err.split())
    assert "There is no database 'nowhere'" in told
    assert "createdb nowhere" in told


@USES
def test_a_server_that_is_not_there_ends_with_3(place: str, words: list[str], notes: Path, capsys: Any, here: Any):
    here.setenv("PGPORT", str(free_port()))
    assert run(*words, place) == 3
    assert "cannot be reached, or broke the connection; check host and port" in " ".join(
        capsys.readouterr().err.split()
    )


def test_who_may_not_read_or_make_a_corpus_is_told_what_is_needed(place: str, notes: Path, monkeypatch: Any):
    update_postgres(place, [notes])
    ask(f"CREATE ROLE nobody_{schema(place)} LOGIN PASSWORD '{PASSWORD}'")
    monkeypatch.setenv("PGUSER", f"nobody_{schema(place)}")
    with pytest.raises(SourceError, match=r"may not do that in .*USAGE on the schema"):
        open_postgres(place)
    with pytest.raises(SourceError, match=r"may not do that in .*CREATE on the database"):
        update_postgres(f"{place}_of_mine", [notes])


def test_reading_needs_no_right_to_write(place: str, notes: Path, monkeypatch: Any):
    update_postgres(place, [notes])
    name = f"reader_{schema(place)}"
    ask(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'; GRANT USAGE ON SCHEMA {schema(place)} TO {name}")
    ask(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema(place)} TO {name}")
    monkeypatch.setenv("PGUSER", name)
    with open_postgres(place) as corpus:
        corpus.verify()
        assert Bm25(corpus).search(["Harrison"], 1)[0]


def test_writing_needs_no_more_than_the_rights_to_the_rows(place: str, notes: Path, monkeypatch: Any):
    update_postgres(place, [notes])
    name = f"writer_{schema(place)}"
    ask(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'; GRANT USAGE ON SCHEMA {schema(place)} TO {name}")
    ask(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema(place)} TO {name}")
    (notes / "new.md").write_text("Something new.")
    (notes / "longitude_act.md").unlink()
    monkeypatch.setenv("PGUSER", name)
    report = update_postgres(place, [notes])
    assert (report.read, report.removed, report.documents) == (1, 1, 11)


def test_vectors_without_the_extension_on_the_server_say_what_to_install(notes: Path, monkeypatch: Any):
    with postgres_server(has_pgvector=False) as bare:
        for name, value in bare.environment.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SourceError, match=r"no extension `vector`.* Install pgvector.*leave out --encoder"):
            update_postgres("postgresql:///postgres/c", [notes], vectors=EncoderChoice(ByWords(), "own:words"))
        assert update_postgres("postgresql:///postgres/c", [notes]).documents == 11  # for which none is needed


def test_vectors_without_the_right_to_add_the_extension_say_who_must(server: Server, notes: Path, monkeypatch: Any):
    ask("CREATE DATABASE plain")
    ask(f"CREATE ROLE maker LOGIN PASSWORD '{PASSWORD}'; GRANT CREATE ON DATABASE plain TO maker", "plain")
    monkeypatch.setenv("PGUSER", "maker")
    with pytest.raises(SourceError, match="have an administrator run there: CREATE EXTENSION vector"):
        update_postgres("postgresql:///plain/c", [notes], vectors=EncoderChoice(ByWords(), "own:words"))


# ---------------------------------------------------------------- a server that fails


@contextmanager
def refusing_first(target: int, times: int) -> Iterator[int]:
    """A port that closes so many connections at once, and hands on those that come after."""
    left = iter(range(times))

    class Between(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            if next(left, None) is not None:
                return
            with socket.create_connection(("127.0.0.1", target)) as behind:
                other = {self.request: behind, behind: self.request}
                while True:
                    for ready in select.select(list(other), [], [])[0]:
                        if not (data := ready.recv(65536)):
                            return
                        other[ready].sendall(data)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Between) as between:
        threading.Thread(target=between.serve_forever, args=(0.05,)).start()
        try:
            yield between.server_address[1]
        finally:
            between.shutdown()


def test_connections_that_are_refused_at_first_are_tried_again(
    place: str, notes: Path, monkeypatch: Any, server: Server
):
    with refusing_first(server.port, 2) as port:
        monkeypatch.setenv("PGPORT", str(port))
        report = update_postgres(place, [notes])
    with refusing_first(server.port, 1) as port:
        monkeypatch.setenv("PGPORT", str(port))
        answer = toulmin.ask("When was the sea watch H4 finished?", index=place)
    assert (report.documents, answer.status) == (11, "answered")


def test_a_reader_whose_connection_breaks_finds_its_moment_again(place: str, notes: Path):
    update_postgres(place, [notes])
    with open_postgres(place) as corpus:
        before = Bm25(corpus).search(QUERIES, 5)
        assert disconnect() == 1
        assert Bm25(corpus).search(QUERIES, 5) == before


def test_a_reader_whose_moment_is_lost_says_so(place: str, notes: Path):
    update_postgres(place, [notes])
    with open_postgres(place) as corpus:
        (notes / "new.md").write_text("Something new.")
        update_postgres(place, [notes])
        disconnect()
        with pytest.raises(StoreAway, match="was lost, and the corpus was changed meanwhile"):
            Bm25(corpus).search(QUERIES, 5)


def test_a_connection_broken_during_update_changes_nothing(place: str, notes: Path):
    update_postgres(place, [notes])
    before = held(place)
    (notes / "new.md").write_text("Something new.")
    broken: list[int] = []

    def breaks(progress: Any) -> None:
        if not broken:
            broken.append(disconnect())

    with pytest.raises(StoreAway, match="broke the connection") as told:
        update_postgres(place, [notes], on_progress=breaks)
    assert (told.value.exit_code, broken, held(place)) == (3, [1], before)


# ---------------------------------------------------------------- several at once


def test_two_that_make_a_corpus_at_once_both_have_theirs_in_it(place: str, tmp_path: Path):
    from concurrent.futures import ThreadPoolExecutor

    folders = [notes_in(tmp_path / f"notes{n}") for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(lambda folder: update_postgres(place, [folder]), folders))
    with open_postgres(place) as corpus:
        corpus.verify()
        assert ([report.read for report in reports], corpus.stats.files, len(corpus)) == ([11] * 4, 44, 22)


def during(place: str, folder: Path, meanwhile: Any) -> None:
    """An update, after whose reading something happens before it is committed."""
    done: list[bool] = []

    def happens(progress: Any) -> None:
        if progress.done_files == progress.total_files and not done:
            done.append(True)
            meanwhile()

    update_postgres(place, [folder], on_progress=happens)
    assert done


def texts(place: str) -> list[str]:
    with open_postgres(place) as corpus:
        corpus.verify()
        return sorted(passage.text for passage in corpus.every_passage())


def test_of_two_that_read_a_path_the_later_reading_stays(place: str, tmp_path: Path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("The first writer read this.")
    (folder / "b.md").write_text("Both read this.")

    def second() -> None:
        (folder / "a.md").write_text("The second writer read this.")
        update_postgres(place, [folder])

    during(place, folder, second)
    assert texts(place) == ["Both read this.", "The second writer read this."]


def test_news_of_a_reading_that_another_replaced_are_dropped(place: str, tmp_path: Path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("This was read at first.")
    update_postgres(place, [folder])
    os.utime(folder / "a.md", (1_000_000_000, 1_000_000_000))  # the first writer is to note that

    def second() -> None:
        (folder / "a.md").write_text("This was read later.")
        update_postgres(place, [folder])

    during(place, folder, second)
    assert texts(place) == ["This was read later."]
    assert update_postgres(place, [folder]).unchanged == 1


def test_a_file_that_one_missed_and_another_read_anew_stays(place: str, tmp_path: Path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("This was read at first.")
    (folder / "b.md").write_text("This stays.")
    update_postgres(place, [folder])
    (folder / "a.md").unlink()

    def second() -> None:  # between the looks of the first writer and its commit
        (folder / "a.md").write_text("This was written again.")
        update_postgres(place, [folder])

    from toulmin.stores.postgres_writer import PostgresWriter

    commit = PostgresWriter.commit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PostgresWriter, "commit", lambda self: (patch.undo(), second(), commit(self))[-1])
        update_postgres(place, [folder])
    assert texts(place) == ["This stays.", "This was written again."]


def test_a_corpus_that_another_made_otherwise_meanwhile_is_left_alone(place: str, notes: Path):
    with pytest.raises(SourceError, match="about 50 words, not 100"):
        during(place, notes, lambda: update_postgres(place, [notes], passage_words=50))
    with open_postgres(place) as corpus:
        corpus.verify()
        assert corpus.passage_words == 50


def test_a_moment_that_is_past_can_be_verified(place: str, notes: Path):
    update_postgres(place, [notes])
    with open_postgres(place) as before:
        (notes / "moons_of_jupiter.md").unlink()
        update_postgres(place, [notes])
        before.verify()


# ---------------------------------------------------------------- killed


KILLED = """
import sys, time
from pathlib import Path
from toulmin.stores.postgres_writer import update_postgres

def told(progress):
    if progress.done_files == progress.total_files:
        print("read", flush=True)
        if sys.argv[3] == "reading":
            time.sleep(60)

update_postgres(sys.argv[1], [Path(sys.argv[2])], on_progress=told)
"""


@pytest.mark.parametrize("when", ["reading", "merging"])
@pytest.mark.parametrize("is_there", [True, False], ids=["a corpus", "none yet"])
def test_a_writer_that_is_killed_changes_nothing(place: str, notes: Path, when: str, is_there: bool):
    if is_there:
        update_postgres(place, [notes])
    before = held(place) if is_there else None
    (notes / "new.md").write_text("Something new.")
    with psycopg.connect(dbname="postgres") as connection:  # in a transaction, until the end of this
        if when == "merging":
            merging_waits_for(connection, place)
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, place, str(notes), when], stdout=subprocess.PIPE, env={**os.environ}
        )
        assert process.stdout is not None
        process.stdout.readline()
        if when == "merging":
            waited_for()
        process.send_signal(signal.SIGKILL)
        process.communicate()
    if is_there:
        assert held(place) == before
    else:
        assert ask(f"SELECT count(*) FROM pg_namespace WHERE nspname = '{schema(place)}'") == [(0,)]
    assert update_postgres(place, [notes]).passages == 23


def merging_waits_for(connection: psycopg.Connection[Any], place: str) -> None:
    """A writer cannot end its merge while the transaction of that connection is open."""
    from toulmin.stores.postgres_connection import place_of
    from toulmin.stores.postgres_writer import wait_for_others

    wait_for_others(connection, place_of(place))


def waited_for() -> None:
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'toulmin'"
    for _ in range(500):
        if ask(waits) == [(1,)]:
            return
        time.sleep(0.02)
    raise AssertionError("no writer came to its merge")
