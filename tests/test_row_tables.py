"""A table as one test: it runs every row and names those that fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from row_tables import table


def test_every_row_that_fails_is_named():
    rows = []

    @table(("text", "words"), [("a b", 2), ("c", 2), pytest.param("", 1, id="nothing")])
    def count(text: str, words: int):
        rows.append(text)
        assert len(text.split()) == words

    with pytest.raises(ExceptionGroup, match="2 of 3 rows fail") as error:
        count()
    assert rows == ["a b", "c", ""]
    assert [str(row).split("]")[0] for row in error.value.exceptions] == ["[1: 'c'-2", "[2: nothing"]


def test_tables_multiply():
    pairs = []

    @table("first", "ab")
    @table("second", [1, 2])
    def note(first: str, second: int):
        pairs.append((first, second))

    note()
    assert pairs == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]


@table("name", ["one.txt", "two.txt"], ids=str.upper)
def test_rows_share_the_fixtures_of_their_test(name: str, tmp_path: Path):
    (tmp_path / name).touch()
    assert (tmp_path / "one.txt").exists()


def test_a_table_needs_rows_and_a_test_that_takes_them():
    with pytest.raises(AssertionError, match="no rows"):
        table("name", [])
    with pytest.raises(AssertionError, match="does not take all"):
        table("name", "a")(lambda other: None)
