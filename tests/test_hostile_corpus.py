"""Inputs that once broke a parser, or may break a careless one (tests/hostile, by parser): each is read or refused."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from row_tables import table

ROOT = Path(__file__).parent.parent
CORPUS = sorted(Path(__file__).parent.glob("hostile/*/*"))
MOST_BYTES = 10_000


@pytest.fixture(scope="module")
def parsers() -> Iterator[Any]:
    """Of `benchmarks/`, whose scripts import each other by their bare names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module("fuzz")


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # of the model server that sends what it is given
@table("path", CORPUS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_an_input_that_once_broke_its_parser_is_read_or_refused(path: Path, parsers: Any):
    parser = parsers.parser_of(path.parent.name)
    with suppress(parser.refusals):
        parser.read(path.read_bytes())


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_every_parser_reads_what_its_fuzzing_begins_with(parsers: Any):
    for name in parsers.names():
        parser = parsers.parser_of(name)
        for seed in parser.seeds:
            parser.read(seed)


def test_the_inputs_are_small():
    assert [path for path in CORPUS if path.stat().st_size > MOST_BYTES] == []
