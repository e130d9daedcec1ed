"""How many premise-claim pairs a judge decides in a second, on one core: the last line but two of `judge_table.py`.

Premises are cut to 100 words, claims to 25, from `pool_corpus`. Half of the claims are sentences of their premise
(near copies, the costly case), half are sentences of another passage.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

from data import rows

from toulmin.data import Passage
from toulmin.driver.kit import Judge
from toulmin.steps import Pair, Verdict

BATCH = 64
PREMISES = 700  # fewer than the judge remembers


def verdicts(judge: Judge, pairs: Sequence[Pair]) -> list[Verdict]:
    """Of a plain judge or one to be awaited."""

    async def wait_for(reply: Any) -> Any:
        return await reply

    reply = judge.judge(pairs)
    return list(asyncio.run(wait_for(reply)) if inspect.isawaitable(reply) else reply)


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


def rate(judge: Judge, some: Sequence[Pair]) -> float:
    """Pairs a second of processor time, after a first batch."""
    verdicts(judge, some[:BATCH])
    begin = time.process_time()
    for at in range(BATCH, len(some), BATCH):
        verdicts(judge, some[at : at + BATCH])
    return (len(some) - BATCH) / (time.process_time() - begin)
