"""Language models for tests and experiments: a function, or a file of replies.

A file is JSON Lines:

    {"prompt": "AnswerPrompt", "contains": "Who built", "text": "Hannah Pell built the tower [1]."}
    {"prompt": "Correct", "text": "Hannah Pell built it in 1824 [1][2].", "tokens": {"input": 310, "output": 12}}
    {"role": "verifier", "error": "the verifier is down"}
    {"text": "I do not know."}

`prompt` (a type of `toulmin.prompts.types`), `role`, `sample` and `contains` (text of any field) select requests. The
rest is the reply: `text` and optionally `tokens`, `usd`, `omitted`, `finish`, `logprobs`, `model`; or `error`, the
message of a `ModelError`. A request gets the first unused entry that fits, else the last that fits.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

from toulmin.errors import ModelError, SourceError, UsageError, cause_of, unknown_name
from toulmin.prompts.reflection import NextSegment
from toulmin.prompts.replies import FIELDS, Reply, exact_form, reply_of
from toulmin.prompts.types import Prompt
from toulmin.steps import Generate

# ---------------------------------------------------------------- a file of replies, matched with requests


_CONDITIONS: Mapping[str, type] = {"prompt": str, "role": str, "sample": int, "contains": str}
_SHOWN = 8  # entries that an error lists


class _Line(NamedTuple):
    reply: Reply | None
    error: str | None
    prompt: str | None = None
    role: str | None = None
    sample: int | None = None
    contains: str | None = None

    def fits(self, request: Generate) -> bool:
        return (
            self.prompt in (None, type(request.prompt).__name__)
            and self.role in (None, request.role)
            and self.sample in (None, request.sample)
            and (self.contains is None or any(self.contains in text for text in _texts(request.prompt)))
        )

    def __str__(self) -> str:
        asked = {name: getattr(self, name) for name in _CONDITIONS if getattr(self, name) is not None}
        return json.dumps(asked, ensure_ascii=False) if asked else "anything"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _texts(getattr(value, field.name))
    elif isinstance(value, Mapping):
        yield from _texts(list(value.items()))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _texts(item)


# ---------------------------------------------------------------- the file


def _lines(path: Path, text: str) -> Iterator[_Line]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{path}, line {number}: expected one JSON object a line, but {error}.") from error
            try:
                yield _line(entry)
            except (ValueError, RecursionError, UsageError) as error:
                raise UsageError(f"{path}, line {number}: {error}") from None


def _line(entry: Any) -> _Line:
    if not isinstance(entry, dict):
        raise ValueError(f"an entry is an object with a text or an error, not {entry!r}")
    known = (*_CONDITIONS, "error", *FIELDS)
    for name in entry:
        if name not in known:
            raise unknown_name("field of an entry", str(name), known)
    conditions = {name: _condition(name, entry[name]) for name in _CONDITIONS if name in entry}
    row = {name: value for name, value in entry.items() if name in FIELDS}
    if ("error" in entry) == bool(row):
        raise ValueError("an entry has either a text (with what belongs to it) or an error")
    if "error" in entry and not isinstance(entry["error"], str):
        raise ValueError(f"an error is its message, not {entry['error']!r}")
    return _Line(reply_of(row) if row else None, entry.get("error"), **conditions)


def _condition(name: str, value: Any) -> Any:
    if not isinstance(value, _CONDITIONS[name]) or isinstance(value, bool):
        raise ValueError(f"{name} should be of type {_CONDITIONS[name].__name__}, not {value!r}")
    known = {kind.__name__ for kind in (*Prompt.__subclasses__(), NextSegment)}
    if name == "prompt" and value not in known:
        raise unknown_name("prompt", str(value), known)
    return value


# ---------------------------------------------------------------- scripted


class ScriptedModel:
    """Replies with what `write(request)` returns, a text or a `Reply`; its exceptions reach the caller."""

    def __init__(
        self, write: Callable[[Generate], str | Reply], *, name: str = "scripted", concurrency: int = 8
    ) -> None:
        self._write = write
        self.name = name
        self.concurrency = concurrency

    @staticmethod
    def from_file(path: str | os.PathLike[str], *, name: str = "scripted", concurrency: int = 8) -> ScriptedModel:
        """Reads a file in the format above; a request without an entry is a `ModelError`.

        Raises `SourceError` for an unreadable file, `UsageError` for an invalid one.
        """
        return _FromFile(Path(path), name=name, concurrency=concurrency)

    def generate(self, requests: Sequence[Generate]) -> list[Reply]:
        replies = [self._write(request) for request in requests]
        return [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]


class _FromFile(ScriptedModel):
    def __init__(self, path: Path, *, name: str, concurrency: int) -> None:
        super().__init__(self._reply, name=name, concurrency=concurrency)
        self._path = path
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SourceError(f"The script {path} cannot be read: {cause_of(error)}. Name a .jsonl file.") from error
        self._digest = hashlib.sha256(text.encode()).hexdigest()
        self._lines = list(_lines(path, text))
        self._used: set[int] = set()
        if not self._lines:
            raise UsageError(f'{path} holds no reply; write one a line, such as {{"text": "I do not know."}}.')

    def key(self, request: Generate) -> str:
        return json.dumps([self._digest, exact_form(request)])

    def _reply(self, request: Generate) -> Reply:
        """Raises the entry's `ModelError`, or one if no entry fits."""
        fitting = [n for n, line in enumerate(self._lines) if line.fits(request)]
        if not fitting:
            raise ModelError(self._nothing_for(request))
        chosen = next((n for n in fitting if n not in self._used), fitting[-1])
        self._used.add(chosen)
        line = self._lines[chosen]
        if line.reply is None:
            raise ModelError(line.error or "")
        return line.reply

    def _nothing_for(self, request: Generate) -> str:
        question = next(_texts(request.prompt), "")
        listed = "; ".join(str(line) for line in self._lines[:_SHOWN])
        more = f"; and {len(self._lines) - _SHOWN} more" if len(self._lines) > _SHOWN else ""
        return (
            f"No reply in {self._path} fits {type(request.prompt).__name__} (role {request.role!r}, sample"
            f" {request.sample}) {question[:80]!r}; it has replies for {listed}{more}. Add one that fits."
        )
