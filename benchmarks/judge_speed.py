"""How many premise-claim pairs a judge decides in a second, on one core.

    python benchmarks/judge_speed.py
    taskset -c 0 python benchmarks/judge_speed.py --judge embedded         another judge, in batches of 64

Premises are cut to 100 words, claims to 25, from `pool_corpus`. Half of the claims are sentences of their premise
(near copies, the costly case), half are sentences of another passage. The first figure judges each claim against
premises already analysed; the second analyses every premise anew. A judge that is named is asked once, anew.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from itertools import islice

from agreement import verdicts
from data import rows

from toulmin.build import parts
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.driver.kit import Judge
from toulmin.judges.lexical import Lexical
from toulmin.steps import Pair

BATCH, NAMED = 64, 100
PREMISES = 700  # fewer than the judge remembers
TARGETS = {"premises analysed once": 3000, "premises analysed anew": 1000}


def _words(text: str, first: int, last: int) -> str:
    return " ".join(text.split()[first:last])


def pairs() -> list[Pair]:
    """One pair a premise, of exactly 100 and 25 words."""
    long = (row for row in rows("pool_corpus") if len(row["text"].split()) >= 100)
    texts = [(row["text"], row["title"]) for row in islice(long, PREMISES + 1)]
    made = []
    for i, (text, title) in enumerate(texts[:PREMISES]):
        source = text if i % 2 else texts[i + 1][0]
        made.append(Pair((Passage.of(_words(text, 0, 100), title),), _words(source, 20, 45)))
    return made


def rate(judge: Judge, given: Sequence[Pair]) -> float:
    """Pairs a second of processor time, after a first batch."""
    verdicts(judge, given[:BATCH])
    begin = time.process_time()
    for at in range(BATCH, len(given), BATCH):
        verdicts(judge, given[at : at + BATCH])
    return (len(given) - BATCH) / (time.process_time() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", metavar="SPEC", help="as `toulmin --judge` names it")
    options = parser.parse_args()
    if spec := options.judge:
        judge = parts.judge(spec, Settings())  # its network should have been given one core
        print(f"{judge.name}, one core: {rate(judge, pairs()):.0f} pairs/s, target {NAMED}")
        return
    given = pairs()
    warm, cold = Lexical(), Lexical(remembered=1)
    other = [Pair(pair.premises, _words(pair.claim, 0, 24) + " so") for pair in given]
    warm.judge(other)
    print(f"{'lexical judge, one core':30}{'pairs/s':>10}{'target':>10}")
    for (name, target), lexical in zip(TARGETS.items(), (warm, cold), strict=True):
        begin = time.process_time()
        lexical.judge(given)
        print(f"{name:30}{len(given) / (time.process_time() - begin):10.0f}{target:10}")


if __name__ == "__main__":
    main()
