"""What a dataset says of where one question is to be answered from: passages beside it, and passages kept from it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Collection, Sequence
from typing import Protocol

from toulmin.retrieval.bm25 import K1, B, InMemory
from toulmin.data import Hit, Passage

Rows = Sequence[Sequence[Hit]]


class Searchable(Protocol):
    """Whatever ranks passages for queries."""

    def search(self, queries: Sequence[str], k: int) -> Rows | Awaitable[Rows]:
        """At most `k` hits a query, best first."""
        ...


class Beside:
    """The passages that stand beside a question in a dataset, best first as some retriever left them.

    For the question itself they keep that order (a score is 1 / rank); any other query is searched among them by BM25.
    """

    def __init__(self, question: str, passages: Sequence[Passage], k1: float = K1, b: float = B) -> None:
        self._question = question
        self._ranked = [Hit(passage, 1 / rank) for rank, passage in enumerate(passages, start=1)]
        self._passages, self._k1, self._b = passages, k1, b
        self._searched: InMemory | None = None

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """At most `k` hits a query, best first."""
        return [self._ranked[: max(0, k)] if query == self._question else self._found(query, k) for query in queries]

    def _found(self, query: str, k: int) -> list[Hit]:
        if self._searched is None:
            self._searched = InMemory(self._passages, self._k1, self._b)
        return self._searched.search([query], k)[0]


class Without:
    """A retriever that never finds certain passages, named by their ids or by the records that they came from."""

    def __init__(self, retriever: Searchable, withheld: Collection[str]) -> None:
        self._retriever, self._withheld = retriever, frozenset(withheld)

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """At most `k` hits a query, best first; of a record with many passages all are left out.

        More is asked for until `k` are left, or the retriever has no more.
        """
        wanted = k + len(self._withheld)
        while True:
            rows = self._retriever.search(queries, wanted)
            found = await rows if inspect.isawaitable(rows) else rows
            kept = [[hit for hit in row if not self._is_withheld(hit.passage)] for row in found]
            if all(len(row) >= k or len(full) < wanted for row, full in zip(kept, found, strict=True)):
                return [row[:k] for row in kept]
            wanted *= 2

    def _is_withheld(self, passage: Passage) -> bool:
        return passage.id in self._withheld or passage.source.record in self._withheld
