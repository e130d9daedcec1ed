"""Claims written by hand, meant to be hard, over the documents that ship with the package (`hard_claims.jsonl`).

The false ones swap roles, mix the halves of a sentence, move a number or name to another subject, or say the opposite
in other words; the true ones say the same otherwise. Each goes through `check`, as a draft without citations does.
There is no target: this is where a judge ends.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from toulmin import aio
from toulmin.data import Answer
from toulmin.driver.kit import Judge
from toulmin.judges.objections import RANKS

CLAIMS = [json.loads(line) for line in Path(__file__).with_suffix(".jsonl").read_text("utf-8").splitlines()]
FALSE, TRUE = ([row["claim"] for row in CLAIMS if row["true"] is truth] for truth in (False, True))


def check_each(claims: Sequence[str], docs: Path, judge: str | Judge) -> list[Answer]:
    """What `check` says of each claim by itself, over one opening of the documents.

    Vectors have the time that they take, so that a busy machine finds the same passages.
    """

    async def check() -> list[Answer]:
        async with aio.session(docs=docs, judge=judge) as session:
            return [await session.check(claim) for claim in claims]

    return asyncio.run(check())


def label_of(answer: Answer) -> str:
    """The lowest label of an answer's sentences; "unjudged" where none was judged."""
    labels = [claim.support.label for claim in answer.claims if claim.support is not None]
    return min(labels, key=("disputed", *RANKS).index, default="unjudged")
