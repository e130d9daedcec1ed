"""Language models for tests and experiments: a function, or a file of replies.

A file is JSON Lines, or TOML with one `[[reply]]` table per entry:

    {"prompt": "AnswerPrompt", "contains": "Who built", "text": "Hannah Pell built the tower [1]."}
    {"prompt": "AnswerPrompt", "sample": 1, "text": "The tower was built in 1824 [2]."}
    {"prompt": "Correct", "text": "Hannah Pell built it in 1824 [1][2].", "tokens": {"input": 310, "output": 12}}
    {"role": "verifier", "error": "the verifier is down"}
    {"text": "I do not know."}

`prompt` (a type of `toulmin.prompts.types`), `role`, `sample` and `contains` (text of any field) select requests;
what is left out matches anything. The rest is the reply: `text` and optionally `tokens`, `usd`, `omitted`,
`finish`, `logprobs` and `model`; or `error`, the message of a `ModelError`.

A request gets the first unused entry that fits; once all are used, the last of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from toulmin.models.script import Script
from toulmin.prompts.exact import exact_form
from toulmin.prompts.replies import Reply
from toulmin.steps import Generate


class Scripted:
    """Answers with what `write(request)` returns, a text or a whole `Reply`; its exceptions reach the method that
    asked.
    """

    def __init__(
        self, write: Callable[[Generate], str | Reply], *, name: str = "scripted", concurrency: int = 8
    ) -> None:
        self._write = write
        self.name = name
        self.concurrency = concurrency

    @staticmethod
    def from_file(path: str | os.PathLike[str], *, name: str = "scripted", concurrency: int = 8) -> Scripted:
        """The model whose replies are in a `.jsonl` or `.toml` file, in the module's format.

        A request that no entry fits is a `ModelError`. Raises `SourceError` if the file cannot be read,
        `UsageError` if it is invalid.
        """
        return _FromFile(Script(Path(path)), name=name, concurrency=concurrency)

    def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        replies = [self._write(request) for request in requests]
        return [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]


class _FromFile(Scripted):
    def __init__(self, script: Script, *, name: str, concurrency: int) -> None:
        super().__init__(script, name=name, concurrency=concurrency)
        self._digest = script.digest

    def key(self, request: Generate) -> str:
        return json.dumps([self._digest, exact_form(request)])
