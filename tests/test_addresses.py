"""Addresses of shared corpora, and their rows of files: what needs neither LanceDB nor PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toulmin
from toulmin.build import indexes
from toulmin.build.sources import Sources, open_sources
from toulmin.config import Settings
from toulmin.errors import SourceError, UsageError
from toulmin.stores.address import is_shared
from toulmin.stores.contents import FileRow, newer_row, newest, waste

SHARED = [
    "s3://b/c",
    "gs://b/c",
    "az://b/c",
    "lance:a/b",
    "postgresql://host/db/c",
    "postgres://host/db/c",
    "postgresql:///db/c",
]


@pytest.mark.parametrize("place", ["notes", "/a/b", "C:\\notes", "C:/notes", ".toulmin", "a:b", "lancet"])
def test_a_plain_path_is_an_embedded_index(place: str):
    assert not is_shared(place)


@pytest.mark.parametrize("place", SHARED)
def test_an_address_is_a_shared_corpus(place: str):
    assert is_shared(place)


def test_another_scheme_is_wrong_usage():
    with pytest.raises(UsageError, match=r"no address of a corpus called 's4://'.*s3://BUCKET/CORPUS"):
        is_shared("s4://bucket/corpus")


def test_an_address_without_lancedb_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toulmin.stores.address.find_spec", lambda name: None)
    with (
        pytest.raises(SourceError, match=r"not installed here; run: pip install 'toulmin\[scale\]'"),
        open_sources(Sources(index="s3://library/corpus"), Settings()),
    ):
        pass
    with pytest.raises(SourceError, match=r"toulmin\[scale\]"):
        indexes.update_index(["notes"], "s3://library/corpus", Settings())


def test_an_address_without_psycopg_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toulmin.stores.address.find_spec", lambda name: None)
    with pytest.raises(SourceError, match=r"not installed here; run: pip install 'toulmin\[postgres\]'"):
        toulmin.search("clock", index="postgresql://host/db/corpus")


# ---------------------------------------------------------------- files and their rows


rows = st.builds(FileRow, st.integers(1, 99), st.integers(0, 9), st.sampled_from("ab"), st.integers(0, 5))


@given(st.lists(rows, unique_by=lambda row: row.mark))
def test_removing_waste_by_path_keeps_the_same_files(found: list[FileRow]):
    def held(rows: list[FileRow]) -> Any:
        return {path: row for path, row in newest(rows).items() if not row.is_gone}

    left = found
    for one in waste(found):
        left = [row for row in left if row.mark not in one.marks]
        assert held(left) == held(found)


def test_a_newer_row_is_newer_even_where_the_clock_is_behind():
    known = FileRow(1, 1, "a", at=10**18)
    assert newest([newer_row(known, "a", file=2), known])["a"].file == 2
