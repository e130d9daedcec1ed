"""How one question of a dataset is asked: whence it is answered, in which style, and with whose help."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toulmin.build import assembly, opening
from toulmin.build.assembly import Own
from toulmin.config import Settings
from toulmin.data import Claim, Hit
from toulmin.driver.drive import Job
from toulmin.driver.kit import Judge, Retriever
from toulmin.errors import UsageError
from toulmin.methods import Method
from toulmin.build.opening import Sources

if TYPE_CHECKING:
    from toulmin.datasets.item import Dataset, Item

CONCURRENCY = 16
ORACLE = "oracle"  # as the option `correctness`: the dataset's own metric against its gold answers


@dataclass(frozen=True, slots=True)
class Study:
    """What one run is: a dataset, whence it is answered, how, and where its answers go."""

    dataset: Dataset
    sources: Sources
    settings: Settings
    out: Path
    concurrency: int = CONCURRENCY
    own: Own = field(default_factory=Own)
    by: Method | None = None


class NoIndex:
    """In the place of an index that no question of the dataset needs."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Raises `UsageError`, which says what to name."""
        raise UsageError("This dataset's questions bring their own passages; name --index to search elsewhere.")


def searched(study: Study) -> Sources | None:
    """What is searched, a dataset's own corpus (BEIR) where nothing else was named; None where nothing need be."""
    if not study.sources.is_open:
        return study.sources
    if study.dataset.corpus is not None:
        return Sources(docs=(study.dataset.corpus,))
    return None if all(item.passages is not None for item in study.dataset.items) else study.sources


@contextmanager
def opened(ready: Sources | None, settings: Settings) -> Iterator[opening.Opened]:
    """The sources of `searched`, their documents indexed, closed at the end."""
    if ready is None:
        yield opening.Opened(NoIndex())
        return
    with opening.opened(ready, settings) as found:
        yield found


def job(study: Study, item: Item, judge: Judge | None, index: Retriever | None = None) -> Job:
    """The job of answering one question of the dataset as the dataset wants it."""
    settings = study.settings
    if settings.style is None and item.style is not None:
        settings = settings.updated(style=item.style)
    made = assembly.job(item.question, _with_oracle(settings, item, judge), by=study.by, id=item.id)
    shown = {**made.settings, **({"correctness": ORACLE} if _asks_oracle(settings) else {})}
    return replace(made, settings=shown, retriever=_retriever(study, item, index))


def _retriever(study: Study, item: Item, index: Retriever | None) -> Retriever | None:
    """Who serves the item's searches; None: the kit's own retriever."""
    from toulmin.build.beside import Beside, Without
    from toulmin.retrieval.bm25 import K1, B, InMemory

    chosen: Retriever | None = None
    if study.sources.is_open and item.passages is not None:
        settings = study.settings
        k1 = K1 if settings.bm25_k1 is None else settings.bm25_k1
        b = B if settings.bm25_b is None else settings.bm25_b
        passages = item.passages
        chosen = Beside(item.question, passages, k1, b) if item.is_ranked else InMemory(passages, k1, b)
    if not item.withheld:
        return chosen
    below = chosen or index
    return None if below is None else Without(below, item.withheld)


# ---------------------------------------------------------------- the oracle of A2R


def _asks_oracle(settings: Settings) -> bool:
    return settings.options.get("correctness") == ORACLE


def _with_oracle(settings: Settings, item: Item, judge: Judge | None) -> Settings:
    """The settings whose `correctness` is a function of the claims, where the oracle is asked for."""
    if not _asks_oracle(settings):
        return settings
    from toulmin.evaluation.oracle import answers_told, claims_told, entities_told, has_claims_only
    from toulmin.methods.assessing import ListCorrectness

    style = settings.style or "long"
    told: Callable[[Sequence[Claim]], Any]
    if style == "list":
        entities = entities_told(item)
        told = lambda claims: ListCorrectness(*entities(claims))  # noqa: E731
    elif has_claims_only(item, style):
        told = claims_told(item, assembly.judge(settings.judge, settings) if judge is None else judge)
    else:
        told = answers_told(item)
    return settings.updated(options={"correctness": told})
