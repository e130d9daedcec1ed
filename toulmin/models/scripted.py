"""Language models for tests and for trying things out: a function, or a file of replies.

A file is JSON Lines, one entry a line, or TOML, one `[[reply]]` table an entry:

    {"prompt": "AnswerPrompt", "contains": "Who built", "text": "Hannah Pell built the tower [1]."}
    {"prompt": "AnswerPrompt", "sample": 1, "text": "The tower was built in 1824 [2]."}
    {"prompt": "Correct", "text": "Hannah Pell built it in 1824 [1][2].", "tokens": {"input": 310, "output": 12}}
    {"role": "verifier", "error": "the verifier is down"}
    {"text": "I do not know."}

`prompt` (a type of `toulmin.prompts.types`), `role`, `sample` and `contains` (words of the question, the passages
or whatever else the prompt holds) say which requests an entry answers; what it leaves out may be anything. The rest is
the reply: `text`, and if wanted `tokens`, `usd`, `omitted`, `finish`, `logprobs` and `model`; or `error`, the message
of the `ModelError` to raise.

The rule: a request gets the first entry that fits it and was not used yet; when all that fit were used, the last of
them once more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from toulmin.models.script import Script
from toulmin.prompts.exact import exactly
from toulmin.prompts.replies import Reply
from toulmin.steps import Generate


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

    @staticmethod
    def from_file(path: str | os.PathLike[str], *, name: str = "scripted", concurrency: int = 8) -> Scripted:
        """The model whose replies stand in a `.jsonl` or `.toml` file, as the head of this module says.

        A request that no entry fits is a `ModelError`. Raises `SourceError` for a file that cannot be read and
        `UsageError`, with the entry's place, for one that says something else.
        """
        return _FromFile(Script(Path(path)), name=name, concurrency=concurrency)

    def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        """One reply a request, in order."""
        replies = [self._write(request) for request in requests]
        return [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]


class _FromFile(Scripted):
    """Replies from a file, which a cache does not mix up with those of another one."""

    def __init__(self, script: Script, *, name: str, concurrency: int) -> None:
        super().__init__(script, name=name, concurrency=concurrency)
        self._digest = script.digest

    def key(self, request: Generate) -> str:
        """What determines a reply: what the file says, and the request."""
        return json.dumps([self._digest, exactly(request)])
