"""Inputs that once broke a parser, or may break a careless one (tests/hostile, by parser): each is read or refused."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import fuzz_parsers as parsers
import pytest
from row_tables import table

CORPUS = sorted(Path(__file__).parent.glob("hostile/*/*"))
MOST_BYTES = 10_000


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # of the model server that sends what it is given
@table("path", CORPUS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_an_input_that_once_broke_its_parser_is_read_or_refused(path: Path):
    parser = parsers.parser_of(path.parent.name)
    with suppress(parser.refusals):
        parser.read(path.read_bytes())


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_every_parser_reads_what_its_fuzzing_begins_with():
    for name in parsers.names():
        parser = parsers.parser_of(name)
        for seed in parser.seeds:
            parser.read(seed)


def test_the_inputs_are_small():
    assert [path for path in CORPUS if path.stat().st_size > MOST_BYTES] == []
