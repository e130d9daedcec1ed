"""Writes `toulmin/rarity.tsv`: how rare each term is, counted over the passages of `pool_corpus`.

    python benchmarks/make_rarity.py
"""

from __future__ import annotations

import gzip
import json
import math
import os
from collections import Counter
from pathlib import Path

from toulmin.language import terms

DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
TABLE = Path("toulmin/rarity.tsv")
LEAST = 4  # passages that must hold a term for it to be listed


def main() -> None:
    counts: Counter[str] = Counter()
    n = 0
    with gzip.open(DATA / "pool_corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            counts.update(set(terms(json.loads(line)["text"])))
            n += 1
    rows = sorted((term, df) for term, df in counts.items() if df >= LEAST)
    head = f"# ln(N/df) over {n} English Wikipedia passages; terms in at least {LEAST}; made by benchmarks/make_rarity.py\n"
    TABLE.write_text(head + "".join(f"{term}\t{math.log(n / df):.2f}\n" for term, df in rows), "utf-8")
    print(f"{len(rows)} terms of {n} passages -> {TABLE}")


if __name__ == "__main__":
    main()
