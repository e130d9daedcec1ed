"""Transcripts as JSON. A reply has the type of its step, or of its prompt's `result`."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, get_type_hints

from pydantic import TypeAdapter

from toulmin import errors
from toulmin.data import Hit
from toulmin.driver.transcript import Entry, Transcript
from toulmin.errors import UsageError
from toulmin.prompts.reflection import NextSegment
from toulmin.prompts.replies import EmptyReply, Reply, plain, reply_of
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


def _row_of(entry: Entry) -> dict[str, Any]:
    adapter = TypeAdapter(_reply_type(entry.kind))
    row: dict[str, Any] = {"kind": entry.kind, "digest": entry.digest}
    row |= {} if entry.calls == 1 else {"calls": entry.calls}
    if entry.error is not None:
        cost = {"reply": plain(entry.error.reply)} if isinstance(entry.error, EmptyReply) else {}
        kind = next(kind.__name__ for kind in type(entry.error).__mro__ if kind.__name__ in _ERRORS)
        return row | {"error": [kind, str(entry.error)], "begun": entry.begun} | cost
    if not isinstance(entry.reply, Reply):
        return row | {"reply": adapter.dump_python(entry.reply, mode="json")}
    value = {} if entry.reply.value is None else {"value": adapter.dump_python(entry.reply.value, mode="json")}
    return row | {"reply": plain(entry.reply)} | value


def _read(row: dict[str, Any]) -> Entry:
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


def to_json(transcript: Transcript) -> bytes:
    rows = [{"place": place, **_row_of(entry)} for place, entry in sorted(transcript.entries.items())]
    document = {"transcript": 1, "seconds": transcript.seconds, "notes": transcript.notes, "entries": rows}
    return json.dumps(document, separators=(",", ":")).encode("ascii")  # ASCII, so that lone surrogates survive


def from_json(data: bytes) -> Transcript:
    """Raises `UsageError` unless `to_json` wrote the data."""
    try:
        document = json.loads(data)
        entries = {tuple(row.pop("place")): _read(row) for row in document["entries"]}
        return Transcript(entries, float(document["seconds"]), [str(note) for note in document["notes"]])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"Expected a transcript of this version, but cannot read it: {error!r}. Record it again."
        ) from error
