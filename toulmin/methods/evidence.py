"""Searches for evidence, and the memory of what they found. A failing search costs its passages, not the answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from toulmin.data import Dropped, Passage, Round
from toulmin.errors import IndexDamaged, SourceError
from toulmin.methods.reporting import ids
from toulmin.prompts.types import Queries
from toulmin.steps import Program, generate, search, together
from toulmin.text.language import words

# ---------------------------------------------------------------- VTG's two memories, and windows over them


@dataclass(frozen=True, slots=True)
class Memory:
    """VTG's memories: `long` (D_L) has what proved useful, `short` (D_S) what the last search found."""

    long: tuple[Passage, ...]
    short: tuple[Passage, ...] = ()

    @property
    def passages(self) -> tuple[Passage, ...]:
        """D_L, then D_S, each passage once; the order decides which citations a simplification keeps."""
        return distinct((*self.long, *self.short))

    def retaining(self, ids: Iterable[str]) -> Memory:
        """Adds passages of either memory to the long-term one, new ones at its end."""
        known = {passage.id: passage for passage in self.passages}
        return replace(self, long=distinct((*self.long, *(known[id] for id in ids))))

    def refresh(self, passages: Sequence[Passage]) -> Memory:
        return replace(self, short=tuple(passages))


def distinct(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    first: dict[str, Passage] = {}
    for passage in passages:
        first.setdefault(passage.id, passage)
    return tuple(first.values())


def windows(passages: Collection[Passage], size: int | None) -> tuple[tuple[Passage, ...], ...]:
    """The passages in order, cut into the fewest runs of at most `size` words, titles included.

    None is no limit. A longer passage is a window by itself.
    """
    if size is None:
        return (tuple(passages),) if passages else ()
    cut: list[list[Passage]] = []
    room = 0
    for passage in passages:
        length = len(words(passage.title)) + len(words(passage.text))
        if not cut or length > room:
            cut.append([])
            room = size
        cut[-1].append(passage)
        room -= length
    return tuple(tuple(window) for window in cut)


# ---------------------------------------------------------------- searches


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a search found; `failure` says why it found nothing if it failed."""

    query: str
    passages: tuple[Passage, ...] = ()
    failure: str = ""


def propose_queries(asked: Queries, sample: int) -> Program[tuple[str, ...]]:
    """The distinct queries of a model's reply, at most as many as it was asked for."""
    proposals = yield from generate(asked, sample=sample)
    unique = dict.fromkeys(" ".join(query.split()) for query in proposals)
    return tuple(query for query in unique if query)[: asked.n]


def evidence(queries: Sequence[str], k: int) -> Program[tuple[Evidence, ...]]:
    """At most `k` passages for each query, in order. Only a damaged index raises (`IndexDamaged`)."""
    return (yield from together([_search_evidence(query, k) for query in queries]))


def _search_evidence(query: str, k: int) -> Program[Evidence]:
    try:
        hits = yield from search(query, k)
    except IndexDamaged:
        raise
    except SourceError as error:
        return Evidence(query, failure=str(error))
    return Evidence(query, distinct(hit.passage for hit in hits))


def all_passages(results: Sequence[Evidence]) -> tuple[Passage, ...]:
    return distinct(passage for result in results for passage in result.passages)


def search_round(results: Sequence[Evidence], n: int = 1) -> Round:
    queries = tuple(result.query for result in results)
    failures = tuple(Dropped(result.query, result.failure) for result in results if result.failure)
    return Round("search", n, read=ids(all_passages(results)), queries=queries, dropped=failures)


def failure_notes(results: Sequence[Evidence], known: Sequence[str] = ()) -> tuple[str, ...]:
    """Notes on failed searches, one for each reason, without those in `known`."""
    reasons = dict.fromkeys(result.failure for result in results if result.failure)
    notes = []
    for why in reasons:
        listed = ", ".join(f"“{result.query}”" for result in results if result.failure == why)
        notes.append(f"Not searched for, so that passages may be missing: {listed}. {why}")
    return tuple(note for note in notes if note not in known)
