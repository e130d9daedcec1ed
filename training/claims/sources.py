"""The files that pairs are made from: their terms, their records, and the pages that belong to dev."""

from __future__ import annotations

import gzip
import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from claims.pair import page_key
from toulmin.errors import SourceError

TABLE = Path(__file__).parent.parent / "sources.toml"


@dataclass(frozen=True, slots=True)
class Terms:
    """Who published a file, under what, and whether weights that learnt from it may be given away."""

    name: str
    publisher: str
    licence: str
    ship: bool
    why: str
    check: bool = False  # the licence is as generally known; look it up before a release


def terms_of(table: Path = TABLE) -> dict[str, Terms]:
    """The terms of every source, by the file's name."""
    return {name: Terms(name, **row) for name, row in tomllib.loads(table.read_text("utf-8")).items()}


def rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """The records of a file, in order. Raises SourceError where it is not there."""
    file = folder / f"{name}.jsonl.gz"
    if not file.exists():
        raise SourceError(f"{file} is not there; set TOULMIN_DATA to the folder of the evaluation data.")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def question_pages(folder: Path) -> set[str]:
    """The keys of the pages that prove the answer of a dev question."""
    gold = {
        passage for row in rows(folder, "pool_questions") if row["split"] == "dev" for passage in row["gold_passages"]
    }
    return {page_key(row["title"]) for row in rows(folder, "pool_corpus") if row["id"] in gold}
