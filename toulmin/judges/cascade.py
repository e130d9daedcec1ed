"""The lexical judge first, and another for what it does not refuse: most of what a search finds for a claim."""

from __future__ import annotations

from collections.abc import Sequence

from toulmin.driver.kit import Judge
from toulmin.judges.lexical import Lexical
from toulmin.steps import Pair, Verdict, resolve

# Of pairs that words refuse the trained judge supports 2 in 1,000 (`benchmarks/kept.py`).
REFUSED = frozenset(("unsupported", "contradicted"))


class Cascade:
    """Verdicts of the lexical judge where it refuses, else of another; each names the judge that gave it."""

    def __init__(self, judge: Judge) -> None:
        self._first, self._judge = Lexical(), judge
        self.name = f"{self._first.name}, {judge.name}"
        self.key = f"{self._first.key}, {getattr(judge, 'key', judge.name)}"

    async def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        verdicts = self._first.judge(pairs)
        open_ = [n for n, verdict in enumerate(verdicts) if verdict.label not in REFUSED]
        if open_:
            seconds = await resolve(self._judge.judge([pairs[n] for n in open_]))
            for n, verdict in zip(open_, seconds, strict=True):
                verdicts[n] = verdict
        return verdicts

    async def aclose(self) -> None:
        end = getattr(self._judge, "aclose", None)
        if end is not None:
            await end()
