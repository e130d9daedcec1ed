"""Four small protocols that the driver calls, bundled in a `Kit`.

Each has one method, plain or `async`, that takes a batch and returns one result an item, in order. A plain method runs
on the driver's thread, so embedded parts are deterministic and no deadline interrupts them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toulmin.data import Hit, Passage
from toulmin.errors import ModelError, ToulminError
from toulmin.prompts.replies import Reply
from toulmin.steps import Generate, Pair, Span, Verdict, resolve

Replies = Sequence[Reply | ToulminError]


class Retriever(Protocol):
    def search(self, queries: Sequence[str], k: int) -> Sequence[Sequence[Hit]] | Awaitable[Sequence[Sequence[Hit]]]:
        """At most `k` hits a query, best first."""


class LanguageModel(Protocol):
    """Answers typed prompts.

    Optional: `batch`, the most requests a call (default 1); `key(request)`, a text that determines the reply (for
    `models.cache`); an async `aclose()`; `provider` and `seed_of(request)` for traces.
    """

    @property
    def name(self) -> str:
        """The name in traces."""

    @property
    def concurrency(self) -> int:
        """The most calls in flight."""

    def generate(self, requests: Sequence[Generate]) -> Replies | Awaitable[Replies]:
        """One reply or error a request. Raises `ModelError` if it cannot answer at all."""


class Judge(Protocol):
    """Decides whether premises support claims."""

    @property
    def name(self) -> str:
        """The name in verdicts."""

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Verdict] | Awaitable[Sequence[Verdict]]:
        """One verdict a pair."""


class Reader(Protocol):
    """Finds the exact words that answer a question."""

    def read(
        self, questions: Sequence[tuple[str, Sequence[Passage]]]
    ) -> Sequence[Span | None] | Awaitable[Sequence[Span | None]]:
        """One span a question; None if its passages do not answer it."""


@dataclass(frozen=True, slots=True)
class Kit:
    """`models` are by role ("main", "verifier", "rewriter", ...)."""

    retriever: Retriever
    judge: Judge
    models: Mapping[str, LanguageModel] = field(default_factory=dict)
    reader: Reader | None = None


async def results_of(part: str, method: Callable[[Any], Any], items: Sequence[Any], kind: Any) -> list[Any]:
    """Calls a part, plain or async. A foreign exception or a wrong result becomes a `ModelError`."""
    try:
        results = list(await resolve(method(items)))
    except ToulminError:
        raise
    except Exception as error:
        raise ModelError(f"The {part} failed: {type(error).__name__}: {error}") from error
    if len(results) != len(items):
        raise ModelError(f"The {part} returned {len(results)} results for {len(items)} requests; expected one each.")
    return check_kind(part, results, kind)


def check_kind(part: str, results: Sequence[Any], kind: Any) -> list[Any]:
    for result in results:
        if not isinstance(result, kind):
            wanted = getattr(kind, "__name__", str(kind))
            raise ModelError(f"The {part} returned a {type(result).__name__}; expected a {wanted}.")
    return list(results)
