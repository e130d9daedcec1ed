"""How many claims of `benchmarks/frames.jsonl` (its test half) and `benchmarks/values.jsonl` the judges support, and
how many of `benchmarks/disputes.jsonl` a check disputes.

    python training/supported.py

Each claim is judged by its passage alone, those of the last file by a check over both sources; rules were chosen on its
cases with odd numbers. All files were written by hand for this project, by one writer each.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import toulmin
from toulmin.data import HOLDING, Passage
from toulmin.judges.embedded import load_judge
from toulmin.judges.lexical import Lexical
from toulmin.steps import Pair

WRITTEN = Path(__file__).parent.parent / "benchmarks"


def main() -> None:
    for name in ("frames", "values"):
        lines = (WRITTEN / f"{name}.jsonl").read_text("utf-8").splitlines()
        claims = [row for row in map(json.loads, lines) if row.get("part", "test") == "test"]
        pairs = [Pair((Passage.of(row["passage"]),), row["claim"]) for row in claims]
        for judge in (Lexical(), load_judge()):
            entailed = [verdict.entails for verdict in judge.judge(pairs)]
            for label in ("supported", "unsupported"):
                called = [e for row, e in zip(claims, entailed, strict=True) if row["label"] == label]
                print(f"{name}: of {len(called)} {label} claims {judge.name} supports {sum(called)}")
    note_disputes()


def note_disputes() -> None:
    lines = (WRITTEN / "disputes.jsonl").read_text("utf-8").splitlines()
    for half in ("odd", "even"):
        rows = [row for n, row in enumerate(map(json.loads, lines), start=1) if (n % 2 == 1) is (half == "odd")]
        for is_disputed in (True, False):
            claims = [row for row in rows if row["disputed"] is is_disputed]
            labels = [label_of(row) for row in claims]
            noted, lost = labels.count("disputed"), sum(label not in ("disputed", *HOLDING) for label in labels)
            kind = "that sources dispute" if is_disputed else "that no source disputes"
            print(f"disputes, {half}: of {len(claims)} claims {kind} {noted} are called disputed, {lost} not supported")


def label_of(row: dict[str, Any]) -> str:
    passages = [Passage.of(each["text"], each["title"]) for each in row["sources"]]
    (claim,) = toulmin.check(row["claim"], passages=passages, judge="embedded").claims
    return claim.support.label if claim.support else "unchecked"


if __name__ == "__main__":
    main()
