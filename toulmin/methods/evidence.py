"""Searches for evidence, and the memory of what they found. A failing search costs its passages, not the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toulmin.data import Dropped, Passage
from toulmin.errors import IndexDamaged, SourceError
from toulmin.methods.memory import distinct
from toulmin.steps import Program, search, together


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a search found; `failure` says why it found nothing if it failed."""

    query: str
    passages: tuple[Passage, ...] = ()
    failure: str = ""


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


def search_failures(results: Sequence[Evidence]) -> tuple[Dropped, ...]:
    return tuple(Dropped(result.query, result.failure) for result in results if result.failure)


def failure_notes(results: Sequence[Evidence], known: Sequence[str] = ()) -> tuple[str, ...]:
    """Notes on failed searches, one for each reason, without those in `known`."""
    reasons = dict.fromkeys(result.failure for result in results if result.failure)
    notes = (_note(why, [result.query for result in results if result.failure == why]) for why in reasons)
    return tuple(note for note in notes if note not in known)


def _note(why: str, queries: Sequence[str]) -> str:
    listed = ", ".join(f"“{query}”" for query in queries)
    return f"Not searched for, so that passages may be missing: {listed}. {why}"
