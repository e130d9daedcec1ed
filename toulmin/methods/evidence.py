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
    return (yield from together([_of(query, k) for query in queries]))


def _of(query: str, k: int) -> Program[Evidence]:
    try:
        hits = yield from search(query, k)
    except IndexDamaged:
        raise
    except SourceError as error:
        return Evidence(query, failure=str(error))
    return Evidence(query, distinct(hit.passage for hit in hits))


def gathered(found: Sequence[Evidence]) -> tuple[Passage, ...]:
    return distinct(passage for one in found for passage in one.passages)


def failed(found: Sequence[Evidence]) -> tuple[Dropped, ...]:
    return tuple(Dropped(one.query, one.failure) for one in found if one.failure)


def missing(found: Sequence[Evidence], known: Sequence[str] = ()) -> tuple[str, ...]:
    """Notes on failed searches, one for each reason, without those in `known`."""
    reasons = dict.fromkeys(one.failure for one in found if one.failure)
    notes = (_note(why, [one.query for one in found if one.failure == why]) for why in reasons)
    return tuple(note for note in notes if note not in known)


def _note(why: str, queries: Sequence[str]) -> str:
    listed = ", ".join(f"“{query}”" for query in queries)
    return f"Not searched for, so that passages may be missing: {listed}. {why}"
