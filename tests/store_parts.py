"""The three places that a corpus can be kept in, as tests make them: a folder, LanceDB, PostgreSQL."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import postgres_server
import pytest
import shared_parts

from toulmin.build.indexes import open_index
from toulmin.data import Hit
from toulmin.indexing.catalogue import compress
from toulmin.indexing.corpus import IndexedDocument
from toulmin.indexing.update import IndexReport, update
from toulmin.indexing.vector_files import EncoderChoice
from toulmin.retrieval.bm25 import Bm25

_numbers = count()
OTHER_TEXT = "Something else was written."


# ---------------------------------------------------------------- the three places, each of them empty at first


class InFolder:
    def __init__(self, ground: Path) -> None:
        self.folder = ground / "index"
        self.place = str(self.folder)

    @staticmethod
    def environment(fixture: Callable[[str], Any]) -> dict[str, str]:
        """What leads to it, by the fixtures of that name."""
        return {}

    def update(self, *paths: Path, vectors: EncoderChoice | None = None, **options: Any) -> IndexReport:
        return update(self.folder, paths, vectors=vectors, **options)

    def change_text(self) -> None:
        """Changes the text of a passage and nothing else."""
        self._execute(f"UPDATE passages SET text = packed('{OTHER_TEXT}') WHERE number = 1")

    def make_old(self) -> None:
        """Makes it a corpus of another version of the program."""
        self._execute("PRAGMA user_version = 999")

    def _execute(self, statement: str) -> None:
        for file in self.folder.rglob("corpus.sqlite"):
            with closing(sqlite3.connect(file)) as connection:
                connection.create_function("packed", 1, compress)
                connection.execute(statement)
                connection.commit()

    def occupy(self) -> None:
        """Puts something of another program there."""
        self.folder.mkdir()
        (self.folder / "theirs.txt").write_text("This is not ours.", "utf-8")

    def inventory(self) -> list[Any]:
        """The names of all that is there."""
        return sorted(str(file) for file in self.folder.rglob("*"))


class InLance(InFolder):
    def __init__(self, ground: Path) -> None:
        super().__init__(ground)
        self.place = f"lance:{self.folder}"

    def update(self, *paths: Path, **options: Any) -> IndexReport:
        from toulmin.stores.lance_writer import update_shared

        return update_shared(self.place, paths, **options)

    def change_text(self) -> None:
        self._connection().open_table("corpus").update(where="kind = 2 AND number = 0", values={"text": OTHER_TEXT})

    def make_old(self) -> None:
        columns = self._connection().open_table("corpus").schema
        written = json.loads(columns.metadata[b"toulmin"]) | {"format": 0}
        columns = columns.with_metadata({b"toulmin": json.dumps(written).encode()})
        self._connection().create_table("corpus", schema=columns, mode="overwrite")

    def occupy(self) -> None:
        self._connection().create_table("corpus", [{"theirs": 1}])

    def _connection(self) -> Any:
        import lancedb

        return lancedb.connect(str(self.folder))


class InBucket(InLance):
    def __init__(self, ground: Path) -> None:
        super().__init__(ground)
        self.place = f"s3://library/places_{next(_numbers)}"

    @staticmethod
    def environment(fixture: Callable[[str], Any]) -> dict[str, str]:
        return {**shared_parts.ENVIRONMENT, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{fixture('s3_port')}"}


class InPostgres:
    def __init__(self, ground: Path) -> None:
        self.schema = f"places_{next(_numbers)}"
        self.place = f"postgresql:///postgres/{self.schema}"

    @staticmethod
    def environment(fixture: Callable[[str], Any]) -> dict[str, str]:
        environment: dict[str, str] = fixture("postgres").environment
        return environment

    def update(self, *paths: Path, **options: Any) -> IndexReport:
        from toulmin.stores.postgres_writer import update_postgres

        return update_postgres(self.place, paths, **options)

    def change_text(self) -> None:
        self._execute(f"UPDATE {self.schema}.passages SET text = '{OTHER_TEXT}' WHERE document = 1")

    def make_old(self) -> None:
        self._execute(f"UPDATE {self.schema}.about SET made = made || '{{\"format\": 0}}'")

    def occupy(self) -> None:
        self._execute(f"CREATE SCHEMA {self.schema}; CREATE TABLE {self.schema}.theirs (a int)")

    def inventory(self) -> list[Any]:
        return self._execute(f"SELECT tablename FROM pg_tables WHERE schemaname = '{self.schema}' ORDER BY 1")

    def _execute(self, statement: str) -> list[Any]:
        import psycopg

        with psycopg.connect(dbname="postgres", autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


Store = InFolder | InPostgres


def _needs(*libraries: str, extra: str) -> pytest.MarkDecorator:
    absent = " and ".join(library for library in libraries if not find_spec(library))
    return pytest.mark.skipif(bool(absent), reason=f"{absent} is not installed: pip install -e '.[{extra}]'")


_NO_POSTGRES = pytest.mark.skipif(bool(postgres_server.why_not()), reason=str(postgres_server.why_not()))
ALONE = [pytest.param(InFolder, id="index")]
SHARED = [  # many may write to these at once
    pytest.param(InLance, id="lance", marks=[pytest.mark.slow, _needs("lancedb", extra="scale")]),
    pytest.param(
        InPostgres, id="postgres", marks=[pytest.mark.slow, pytest.mark.xdist_group("postgres"), _NO_POSTGRES]
    ),
]
IN_BUCKET = pytest.param(InBucket, id="s3", marks=[pytest.mark.slow, _needs("lancedb", "boto3", "moto", extra="dev")])


# ---------------------------------------------------------------- what readers and writers say


def search(store: Store, query: str, k: int = 5) -> list[str]:
    """The texts that a new reader finds, best first."""
    with open_index(store.place) as corpus:
        return [hit.passage.text for hit in Bm25(corpus).search([query], k)[0]]


def counts(report: IndexReport) -> tuple[int, int, int, int]:
    """Files read, unchanged, removed and skipped."""
    return report.read, report.unchanged, report.removed, len(report.skipped)


def described(document: IndexedDocument) -> tuple[Any, ...]:
    """All of a document but its number, which is the corpus's own."""
    return document.path, document.record, document.title, document.url, document.pages, document.passages


def everything(store: Store) -> dict[str, Any]:
    """All that a new reader sees, in an order that does not depend on that of the updates."""
    with open_index(store.place) as corpus:
        corpus.verify()
        passages = {passage.id: (passage.title, passage.text) for passage in corpus.every_passage()}
        return {
            "passages": passages,
            "neighbours": {one: [side and side.id for side in corpus.neighbours(one)] for one in passages},
            "documents": sorted((*map(str, described(one)), corpus.text(one)) for one in corpus.documents()),
            "hits": scores(Bm25(corpus).search(["tower bridge", "number", "ship number 7", "the"], 100)),
            "skipped": corpus.skipped(),
            "facts": (corpus.stats, corpus.contents, len(corpus)),
        }


def scores(rankings: list[list[Hit]]) -> list[list[tuple[str, float]]]:
    """Ids and scores, rounded to what sums in another order may differ by."""
    return [[(hit.passage.id, round(hit.score, 9)) for hit in hits] for hits in rankings]
