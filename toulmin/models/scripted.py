"""A language model that is a function: for tests, and for trying a method without a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toulmin.grounding.steps import Generate, Reply


class Scripted:
    """Answers each request with what `write(request)` returns: the reply's text, or a whole `Reply`.

    An exception of `write` reaches the method that asked, as one of a real model would.
    """

    def __init__(
        self, write: Callable[[Generate], str | Reply], *, name: str = "scripted", concurrency: int = 8
    ) -> None:
        self._write = write
        self.name = name
        self.concurrency = concurrency

    def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        """One reply a request, in order."""
        replies = [self._write(request) for request in requests]
        return [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]
