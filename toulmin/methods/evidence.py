"""Searches beside the first: one that fails costs its query the passages, and not the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toulmin.data import Dropped, Passage
from toulmin.errors import IndexDamaged, SourceError
from toulmin.methods.memory import distinct
from toulmin.steps import Program, search, together


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a search for the query found; `failure` says why it found nothing where the search itself failed."""

    query: str
    passages: tuple[Passage, ...] = ()
    failure: str = ""


def evidence(queries: Sequence[str], k: int) -> Program[tuple[Evidence, ...]]:
    """At most `k` passages for each query, in the queries' order; a damaged index fails the answer all the same."""
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
    """The passages of all searches, each once."""
    return distinct(passage for one in found for passage in one.passages)


def failed(found: Sequence[Evidence]) -> tuple[Dropped, ...]:
    """What a round tells of the searches that failed."""
    return tuple(Dropped(one.query, one.failure) for one in found if one.failure)


def missing(found: Sequence[Evidence], known: Sequence[str] = ()) -> tuple[str, ...]:
    """What a reader should know of the searches that failed, one note a reason, without the notes `known` already."""
    reasons = dict.fromkeys(one.failure for one in found if one.failure)
    notes = (_note(why, [one.query for one in found if one.failure == why]) for why in reasons)
    return tuple(note for note in notes if note not in known)


def _note(why: str, queries: Sequence[str]) -> str:
    listed = ", ".join(f"“{query}”" for query in queries)
    return f"Not searched for, so that passages may be missing: {listed}. {why}"
