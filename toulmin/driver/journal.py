"""Transcripts as JSON, of exactly what each request was sent: hits, verdicts, spans, ratings, replies or an error."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import to_jsonable_python

from toulmin import errors
from toulmin.driver.transcript import Entry, Transcript
from toulmin.prompts.replies import EmptyReply, Reply, plain


def _row_of(entry: Entry) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": entry.kind, "digest": entry.digest}
    row |= {} if entry.calls == 1 else {"calls": entry.calls}
    if entry.error is not None:
        cost = {"reply": plain(entry.error.reply)} if isinstance(entry.error, EmptyReply) else {}
        kind = next(kind for kind in type(entry.error).__mro__ if kind in vars(errors).values())
        return row | {"error": [kind.__name__, str(entry.error)], "begun": entry.begun} | cost
    if not isinstance(entry.reply, Reply):
        return row | {"reply": to_jsonable_python(entry.reply)}
    value = {} if entry.reply.value is None else {"value": to_jsonable_python(entry.reply.value)}
    return row | {"reply": plain(entry.reply)} | value


def to_json(transcript: Transcript) -> bytes:
    rows = [{"place": place, **_row_of(entry)} for place, entry in sorted(transcript.entries.items())]
    document = {"transcript": 1, "seconds": transcript.seconds, "notes": transcript.notes, "entries": rows}
    return json.dumps(document, separators=(",", ":")).encode("ascii")  # ASCII, so that lone surrogates survive
