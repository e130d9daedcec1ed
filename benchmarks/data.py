"""The evaluation data: gzip JSON lines under `TOULMIN_DATA` (default `../shared/data`)."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))


def path(name: str) -> Path:
    """The file of that name; raises SystemExit with what to do where there is none."""
    file = FOLDER / f"{name}.jsonl.gz"
    if not file.exists():
        raise SystemExit(f"{file} is not there; set TOULMIN_DATA to the folder of the evaluation data.")
    return file


def rows(name: str, split: str | None = None) -> Iterator[dict[str, Any]]:
    """The records of a set, of one split where it is named."""
    with gzip.open(path(name), "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if split is None or row["split"] == split:
                yield row
