"""Write `toulmin/text/rarity.tsv`: how rare each term is, counted over the passages of `pool_corpus`.

python training/make_rarity.py
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
import data

from toulmin.text.language import terms

TABLE = Path("toulmin/text/rarity.tsv")
LEAST = 4  # passages that must hold a term for it to be listed


def main() -> None:
    counts: Counter[str] = Counter()
    n = 0
    for row in data.rows("pool_corpus"):
        counts.update(set(terms(row["text"])))
        n += 1
    rows = sorted((term, df) for term, df in counts.items() if df >= LEAST)
    head = f"# ln(N/df) over {n} English Wikipedia passages; in at least {LEAST}; made by training/make_rarity.py\n"
    TABLE.write_text(head + "".join(f"{term}\t{math.log(n / df):.2f}\n" for term, df in rows), "utf-8")
    print(f"{len(rows)} terms of {n} passages -> {TABLE}")


if __name__ == "__main__":
    main()
