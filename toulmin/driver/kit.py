"""The outside as the driver sees it: four small protocols, bundled in a `Kit`.

Each has one method that takes a batch and gives one result an item, in order. It may be plain or `async`: the driver
awaits what is awaitable. A plain one is called on the driver's own thread, so the embedded parts are deterministic; a
deadline can end an `async` part while it waits, but a plain one only when it returns.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from toulmin.data import Hit, Passage
from toulmin.errors import ToulminError
from toulmin.prompts.replies import Reply
from toulmin.steps import Generate, Pair, Span, Verdict

Replies = Sequence[Reply | ToulminError]


class Retriever(Protocol):
    """Ranks passages for queries."""

    def search(self, queries: Sequence[str], k: int) -> Sequence[Sequence[Hit]] | Awaitable[Sequence[Sequence[Hit]]]:
        """At most `k` hits a query, best first."""
        ...


class LanguageModel(Protocol):
    """Answers typed prompts. `name` goes into traces; the driver keeps at most `concurrency` calls in flight.

    A model may have more: `batch`, the most requests that it takes in one call (without it, one); `key(request)`, a
    text of everything that determines its reply (for `models.cache`); an async `aclose()` that ends what it holds;
    `provider` and `seed_of(request)`, both for traces.
    """

    @property
    def name(self) -> str:
        """What the traces call it."""
        ...

    @property
    def concurrency(self) -> int:
        """The most calls it takes at once."""
        ...

    def generate(self, requests: Sequence[Generate]) -> Replies | Awaitable[Replies]:
        """One reply a request, in order; in place of one that failed stands its error.

        Raises `ModelError` when it cannot answer at all.
        """
        ...


class Judge(Protocol):
    """Decides whether premises support claims."""

    @property
    def name(self) -> str:
        """What a verdict calls it."""
        ...

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Verdict] | Awaitable[Sequence[Verdict]]:
        """One verdict a pair, in order."""
        ...


class Reader(Protocol):
    """Finds the exact words that answer a question."""

    def read(
        self, questions: Sequence[tuple[str, Sequence[Passage]]]
    ) -> Sequence[Span | None] | Awaitable[Sequence[Span | None]]:
        """The span for each question, or None where its passages do not say."""
        ...


@dataclass(frozen=True, slots=True)
class Kit:
    """Everything a driver may turn to; `models` by role ("main", "verifier", ...)."""

    retriever: Retriever
    judge: Judge
    models: Mapping[str, LanguageModel] = field(default_factory=dict)
    reader: Reader | None = None
