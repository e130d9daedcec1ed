"""Write `toulmin/text/common.txt`: the terms that English writes in lower case inside a sentence.

    python training/make_common.py

Counted over the passages of `pool_corpus`; the first word of each sentence does not count.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from data import rows

from toulmin.text.language import sentences, stem, words

TABLE = Path("toulmin/text/common.txt")
LEAST = 4  # lower-case occurrences that a term needs
SHARE = 0.6  # of its occurrences inside sentences that must be lower case


def main() -> None:
    lower: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for row in rows("pool_corpus"):
        for start, end in sentences(row["text"]):
            sentence = row["text"][start:end]
            inside = [sentence[a:b] for a, b in words(sentence)[1:]]
            every.update(stem(word) for word in inside)
            lower.update(stem(word) for word in inside if word.islower() and word.isalpha())
    kept = sorted(term for term, n in lower.items() if n >= LEAST and n >= SHARE * every[term])
    head = f"# terms written in lower case inside {SHARE:.0%} of sentences; made by training/make_common.py\n"
    TABLE.write_text(head + "".join(f"{term}\n" for term in kept), "utf-8")
    print(f"{len(kept)} terms -> {TABLE}")


if __name__ == "__main__":
    main()
