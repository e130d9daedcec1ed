"""Helpers that prepare documents change neither the index nor its order, whatever becomes of them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest

from toulmin.data import Document, Heading
from toulmin.documents.confined import Children
from toulmin.indexing import preparation
from toulmin.indexing.preparation import prepare, prepare_all
from toulmin.indexing.store import open_index
from toulmin.indexing.update import update

TABLES = ("files", "documents", "passages", "state", "skipped")


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "_CHARACTERS", 2_000)
    monkeypatch.setattr(preparation, "_FEW", 2)


def documents(count: int) -> list[Document]:
    texts = [
        f"The lamp of tower {n} was lit in {1700 + n}, " + "and its keeper slept. " * (n % 40) for n in range(count)
    ]
    return [Document(text, f"Tower {n % 7} – Türme", record=f"r{n}") for n, text in enumerate(texts)]


def rows_of(index: Path) -> list[Any]:
    with closing(sqlite3.connect(index / "corpus.sqlite")) as connection:
        return [connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in TABLES]


@pytest.mark.parametrize("helpers", [1, 3])
def test_catalogue_is_the_same_with_helpers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, helpers: int):
    rows = [{"_id": doc.record, "title": doc.title, "text": doc.text} for doc in [*documents(300), *documents(20)]]
    (tmp_path / "towers.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    os.utime(tmp_path / "towers.jsonl", (1, 1))
    for name, processors in (("alone", 1), ("helped", 1 + helpers)):
        monkeypatch.setattr(os, "cpu_count", lambda count=processors: count)
        update(tmp_path / name, [tmp_path / "towers.jsonl"])
    assert rows_of(tmp_path / "helped") == rows_of(tmp_path / "alone")
    with open_index(tmp_path / "helped") as corpus:
        corpus.verify()


def test_documents_with_pages_and_headings_survive_the_way():
    text = "One.\n\nTwo is here.\n\n" * 200
    document = Document(text, "T", pages=(0, 1000, 2000), headings=(Heading(6, 1, "Two"), Heading(1500, 2, "More")))
    with Children(100) as children:
        results = list(prepare_all([document] * 6, 20, children))
    assert [prepared for _, prepared in results] == [prepare(document, 20)] * 6


class NoChildren(Children):
    """Every child ends before it answers."""

    def _ask(self, path: Path, job: Any, values: Sequence[Any], scanned: int = 0) -> Any:
        child = self._take(path, [], 1 << 30)
        child.kill()
        return child.ask(path, job, values, scanned)


def test_documents_of_a_helper_that_ends_are_prepared_here():
    wanted = documents(120)
    with NoChildren(100) as children:
        results = list(prepare_all(wanted, 100, children))
    assert results == [(document, prepare(document, 100)) for document in wanted]


def test_an_error_of_the_source_passes_through():
    def broken() -> Any:
        yield from documents(120)
        raise OSError("the disk went away")

    with Children(100) as children, pytest.raises(OSError, match="went away"):
        list(prepare_all(broken(), 100, children))
