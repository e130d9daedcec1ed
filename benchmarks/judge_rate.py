"""How many pairs any judge decides in a second, in batches as a driver sends them.

    OMP_NUM_THREADS=1 python benchmarks/judge_rate.py                       the lexical judge
    OMP_NUM_THREADS=1 python benchmarks/judge_rate.py --judge cross:FOLDER  others too

Premises are cut to 75 words, claims to 20, which is about 128 tokens of a word-piece vocabulary; each premise stands in
one pair. `cores` is processor time over wall time: the target is for one. `judge_speed.py` times the lexical judge with
premises that it has analysed before.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from itertools import islice

from agreement import verdicts
from data import rows
from headings import heading

from toulmin.build import parts
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.steps import Pair

BATCH = 64
PREMISE, CLAIM = 75, 20  # words
WANTED = 100  # pairs a second of a trained judge


def pairs(count: int) -> list[Pair]:
    """As many premises with a claim each: half hold their claim, half are of another passage."""
    long = (row for row in rows("pool_corpus") if len(row["text"].split()) >= PREMISE)
    texts = [(row["text"].split()[:PREMISE], row["title"]) for row in islice(long, count + 1)]
    found = []
    for n, (words, title) in enumerate(texts[:count]):
        claim = texts[n + n % 2][0][10 : 10 + CLAIM]
        found.append(Pair((Passage.of(" ".join(words), title),), " ".join(claim)))
    return found


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", nargs="+", default=[], metavar="SPEC")
    parser.add_argument("--batches", type=int, default=10)
    asked = parser.parse_args(words)
    given = pairs(BATCH * (asked.batches + 1))
    print(heading("judge_rate.py", f"{asked.batches} batches of {BATCH} pairs after one to warm up."))
    print(f"{'':34}{'pairs/s':>10}{'cores':>8}{'wanted':>8}")
    for spec in ["lexical", *asked.judge]:
        judge = parts.judge(spec, Settings())
        verdicts(judge, given[:BATCH])
        began, worked = time.perf_counter(), time.process_time()
        for at in range(BATCH, len(given), BATCH):
            verdicts(judge, given[at : at + BATCH])
        took, used = time.perf_counter() - began, time.process_time() - worked
        rate = (len(given) - BATCH) / took
        print(f"{judge.name[:33]:34}{rate:10.0f}{used / took:8.2f}{WANTED:8}", flush=True)
    print("```")


if __name__ == "__main__":
    main()
