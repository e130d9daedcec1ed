"""How a question of a dataset is answered: its passages, style and oracle."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from toulmin.build import jobs, parts
from toulmin.build.sources import Sources, bm25_constants, limit_passages
from toulmin.build.specs import Own
from toulmin.config import Settings
from toulmin.data import Claim, Hit, Passage
from toulmin.datasets.item import Dataset, Item
from toulmin.driver.drive import Job
from toulmin.driver.kit import Judge, Retriever
from toulmin.errors import UsageError
from toulmin.methods import Method
from toulmin.retrieval.bm25 import K1, B, InMemory, StaticRanking
from toulmin.steps import resolve

CONCURRENCY = 16
ORACLE = "oracle"  # for the option `correctness`: the dataset's metric against its gold answers


@dataclass(frozen=True, slots=True)
class Study:
    """A run: a dataset, sources, settings and the folder of the answers."""

    dataset: Dataset
    sources: Sources
    settings: Settings
    out: Path
    concurrency: int = CONCURRENCY
    own: Own = field(default_factory=Own)
    by: Method | None = None


class NoIndex:
    """Replaces an index that no question of the dataset needs."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        raise UsageError("The questions of this dataset have passages; name --index to search an index.")


def sources_for(study: Study) -> Sources:
    """The named sources, else the dataset's corpus (BEIR), else `NoIndex` if all questions have passages."""
    if not study.sources.is_open:
        return study.sources
    if study.dataset.corpus is not None:
        return Sources(docs=(study.dataset.corpus,))
    is_whole = all(item.passages is not None for item in study.dataset.items)
    return Sources(retriever=NoIndex()) if is_whole else study.sources


def job(study: Study, item: Item, judge: Judge | None, index: Retriever | None = None) -> Job:
    settings = study.settings
    if settings.style is None and item.style is not None:
        settings = settings.override(style=item.style)
    made = jobs.job(item.question, _with_oracle(settings, item, judge), by=study.by, id=item.id)
    shown = {**made.settings, **({"correctness": ORACLE} if _asks_oracle(settings) else {})}
    return replace(made, settings=shown, retriever=_retriever(study, item, index))


def _retriever(study: Study, item: Item, index: Retriever | None) -> Retriever | None:
    """The item's retriever; None: the kit's."""
    chosen: Retriever | None = None
    if study.sources.is_open and item.passages is not None:
        k1, b = bm25_constants(study.settings)
        only = study.settings.only
        passages = limit_passages(item.passages, only)[0] if only else item.passages
        chosen = Beside(item.question, passages, k1, b) if item.is_ranked else InMemory(passages, k1, b)
    if not item.withheld:
        return chosen
    below = chosen or index
    return None if below is None else Without(below, item.withheld)


# ---------------------------------------------------------------- the oracle of A2R


def _asks_oracle(settings: Settings) -> bool:
    return settings.options.get("correctness") == ORACLE


def _with_oracle(settings: Settings, item: Item, judge: Judge | None) -> Settings:
    """Replaces the oracle in the option `correctness` by a function of the claims."""
    if not _asks_oracle(settings):
        return settings
    from toulmin.evaluation.oracle import answers_oracle, claims_oracle, entities_oracle
    from toulmin.methods.assessing import ListCorrectness

    style = settings.style or "long"
    correctness: Callable[[Sequence[Claim]], Any]
    if style == "list":
        entities = entities_oracle(item)
        correctness = lambda claims: ListCorrectness(*entities(claims))  # noqa: E731
    elif item.gold.claims and not item.gold.parts and not item.gold.answers:
        correctness = claims_oracle(item, parts.judge(settings.judge, settings) if judge is None else judge)
    else:
        correctness = answers_oracle(item)
    return settings.override(options={"correctness": correctness})


# ---------------------------------------------------------------- the passages of a dataset


class Beside(StaticRanking):
    """The passages of a question in a dataset, ranked by some retriever.

    The question gets them in that order (score 1 / rank); any other query searches them by BM25.
    """

    def __init__(self, question: str, passages: Sequence[Passage], k1: float = K1, b: float = B) -> None:
        super().__init__(passages)
        self._question, self._passages, self._k1, self._b = question, passages, k1, b

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        (ranked,) = super().search([self._question], k)
        return [ranked if query == self._question else self._by_words.search([query], k)[0] for query in queries]

    @cached_property
    def _by_words(self) -> InMemory:
        return InMemory(self._passages, self._k1, self._b)


class Without:
    """A retriever that never finds certain passages, named by id or record."""

    def __init__(self, retriever: Retriever, withheld: Collection[str]) -> None:
        self._retriever, self._withheld = retriever, frozenset(withheld)

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Asks for more until `k` hits a query are left or the retriever has no more."""
        wanted = k + len(self._withheld)
        while True:
            rows = await resolve(self._retriever.search(queries, wanted))
            kept = [
                [hit for hit in row if not self._withheld & {hit.passage.id, hit.passage.source.record}] for row in rows
            ]
            if all(len(row) >= k or len(full) < wanted for row, full in zip(kept, rows, strict=True)):
                return [row[:k] for row in kept]
            wanted *= 2
