"""How many claims of `benchmarks/frames.jsonl` (its test half) and `benchmarks/values.jsonl` the judges support.

    python training/supported.py

Each claim is judged by its passage alone. Both files were written by hand for this project, by one writer each.
"""

from __future__ import annotations

import json
from pathlib import Path

from toulmin.data import Passage
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


if __name__ == "__main__":
    main()
