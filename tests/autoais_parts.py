"""Judges and answers for the tests of citation metrics."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence

from tests.slow_alce import Entails, Record
from toulmin.data import Answer, Citation, Claim, Passage, Style
from toulmin.datasets.item import Gold, Item
from toulmin.metrics.answered import MetricTable, ScoringItem
from toulmin.metrics.autoais import citation_metrics
from toulmin.metrics.judging import Judging
from toulmin.metrics.statements import Alce, Honest, Profile, output_to_score
from toulmin.runtime.windows import hypothesis, premise
from toulmin.steps import Pair, Verdict

NLI = tuple[str, str]


def verdict(entails: bool, judge: str = "told") -> Verdict:
    return Verdict("supported" if entails else "unsupported", float(entails), 0.0, judge)


class Told:
    """A judge that decides by the two texts that a trained one reads, and remembers them."""

    name = "told"

    def __init__(self, entails: Entails) -> None:
        self._entails = entails
        self.asked: list[NLI] = []
        self.sizes: list[int] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        found = [(premise(pair.premises), hypothesis(pair)) for pair in pairs]
        self.asked += found
        self.sizes.append(len(pairs))
        return [verdict(self._entails(*one)) for one in found]


def one_a_stop(text: str) -> list[str]:
    """A plain splitter: a sentence ends at a stop before white space."""
    return [piece for piece in re.split(r"(?<=[.!?])\s+", text.strip()) if piece]


def in_a_file(record: Record, style: Style = "long", id: str = "q") -> ScoringItem:
    """A record of a result file, as it is read."""
    docs = tuple(Passage.of(doc.text, doc.title) for doc in record.docs)
    item = Item(id, record.question, Gold(claims=tuple(record.claims) or None), style=style)
    return output_to_score(item, record.output, docs)


def of_claims(
    *claims: tuple[str, str], style: Style = "long", invalid: int = 0, gold: tuple[str, ...] = ()
) -> ScoringItem:
    """An answer of ours: each claim cites the passages that are named by single letters."""
    passages = {name: Passage.of(f"Text {name}.", name) for name in "abcdef"}
    told = tuple(Claim(text, tuple(Citation(passages[name].id) for name in names)) for text, names in claims)
    status = "answered" if told else "abstained"
    answer = Answer("Who?", style, "vanilla", status, told, tuple(passages.values()), invalid_citations=invalid)
    return ScoringItem(Item("q", "Who?", Gold(claims=gold or None), style=style), answer, answer.text, answer.passages)


def measured(answered: Sequence[ScoringItem], profile: Profile, entails: Entails | Told) -> MetricTable:
    judge = entails if isinstance(entails, Told) else Told(entails)
    return asyncio.run(citation_metrics(answered, profile, Judging(judge)))


def alce(answered: Sequence[ScoringItem], entails: Entails | Told, **options) -> MetricTable:
    return measured(answered, Alce(one_a_stop, **options), entails)


def honest(answered: Sequence[ScoringItem], entails: Entails | Told) -> MetricTable:
    return measured(answered, Honest(), entails)


def values(found: MetricTable, name: str) -> tuple[float | None, ...]:
    return next(column.values for column in found.columns if column.name == name)


def scores(found: MetricTable) -> dict[str, float | None]:
    return {column.name: column.value for column in found.columns}


def holding(*needed: str) -> Callable[[str, str], bool]:
    """Entailment that asks for certain words in the premise, whatever the claim."""
    return lambda premise, _: all(word in premise for word in needed)
