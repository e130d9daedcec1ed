"""Reads the transcripts that the driver writes; a reply has the type of its step, or of its prompt's `result`."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter

from toulmin import errors
from toulmin.data import Hit
from toulmin.driver.transcript import Entry, Transcript
from toulmin.errors import UsageError
from toulmin.prompts.reflection import NextSegment
from toulmin.prompts.replies import EmptyReply, reply_of
from toulmin.prompts.types import Prompt
from toulmin.steps import Rating, Span, Verdict

# A transcript is untrusted input: it may name only these types.
_KINDS: tuple[type[Prompt[Any]], ...] = (*Prompt.__subclasses__(), NextSegment)
_PROMPTS = {kind.__name__: kind for kind in _KINDS}
_ERRORS = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type)}


def _reply_type(kind: str) -> Any:
    plain = {"Search": tuple[Hit, ...], "Entail": tuple[Verdict, ...], "Read": Span | None, "Rate": Rating | None}
    if kind in plain:
        return plain[kind]
    return get_type_hints(_PROMPTS[kind.removeprefix("Generate ")].result)["return"]


def _entry(row: dict[str, Any]) -> Entry:
    adapter = TypeAdapter(_reply_type(row["kind"]))
    entry = partial(Entry, row["kind"], row["digest"], calls=row.get("calls", 1))
    if "error" in row:
        name, message = row["error"]
        error = EmptyReply(message, reply_of(row["reply"])) if "reply" in row else _ERRORS[name](message)
        return entry(error=error, begun=row["begun"])
    if not row["kind"].startswith("Generate "):
        return entry(adapter.validate_python(row["reply"]))
    value = adapter.validate_python(row["value"]) if "value" in row else None
    return entry(reply_of(row["reply"], value))


def from_json(data: bytes) -> Transcript:
    """Raises `UsageError` unless `toulmin.driver.journal.to_json` wrote the data."""
    try:
        document = json.loads(data)
        entries = {tuple(row.pop("place")): _entry(row) for row in document["entries"]}
        return Transcript(entries, float(document["seconds"]), [str(note) for note in document["notes"]])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"Expected a transcript of this version, but cannot read it: {error!r}.") from error


def transcript(path: Path, id: str) -> Transcript:
    """A question's exchanges, from the journal of a run."""
    with closing(sqlite3.connect(path)) as file:
        (data,) = file.execute("SELECT transcript FROM answers WHERE id = ?", (id,)).fetchone()
    return from_json(zlib.decompress(data))
