"""A model's reply as plain JSON values and back, for whatever keeps replies: a transcript, a cache, a script.

What has its default is left out. `value` is no part of it: only the prompt knows what its values are made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from toulmin.data import Tokens

Finish = Literal["stop", "length", "refused"]


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token of a reply with its natural log-probability, and the likeliest tokens at its place (best first)."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model gave for one prompt.

    `value` is set by models that answer in types (the embedded writer); otherwise `text` is parsed by the prompt.
    `tokens` is what it cost; `usd` its price where known. `omitted` counts the passages that were left out from the
    prompt's end because the model's window could not hold them. `finish` is "length" for a reply that was cut off.
    `logprobs` are there where they were asked for and the server gave them; `model` is what the server calls itself.
    """

    text: str
    value: Any = None
    tokens: Tokens = field(default_factory=Tokens)
    usd: float | None = None
    omitted: int = 0
    finish: Finish = "stop"
    logprobs: tuple[TokenLogprob, ...] | None = None
    model: str = ""


# The fields of a row, and what each holds.
_KINDS: Mapping[str, Any] = {
    "text": str,
    "tokens": dict,
    "usd": int | float,
    "omitted": int,
    "finish": str,
    "logprobs": list,
    "model": str,
}
FIELDS = tuple(_KINDS)
_SILENT = Reply("")


def plain(reply: Reply) -> dict[str, Any]:
    """The reply in types that JSON has: its text, and each other field that does not have its default."""
    row: dict[str, Any] = {"text": reply.text}
    for name in ("usd", "omitted", "finish", "model"):
        if getattr(reply, name) != getattr(_SILENT, name):
            row[name] = getattr(reply, name)
    if reply.tokens != _SILENT.tokens:
        row["tokens"] = asdict(reply.tokens)
    if reply.logprobs is not None:
        row["logprobs"] = [[t.token, t.logprob, [list(other) for other in t.top]] for t in reply.logprobs]
    return row


def reply_of(row: Mapping[str, Any], value: Any = None) -> Reply:
    """The reply of `plain`, with that value; anything else is a `ValueError` that names the field."""
    for name, content in row.items():
        if name not in _KINDS:
            raise ValueError(f"a reply has the fields {', '.join(FIELDS)}, not {name!r}")
        if not isinstance(content, _KINDS[name]) or isinstance(content, bool):
            raise ValueError(f"a reply's {name} cannot be {content!r}")
    if "text" not in row:
        raise ValueError("a reply has a text")
    if row.get("finish", "stop") not in get_args(Finish):
        raise ValueError(f"a reply's finish is one of {', '.join(get_args(Finish))}, not {row['finish']!r}")
    parts = dict(row) | {"tokens": _tokens(row.get("tokens", {}))}
    if "logprobs" in row:
        parts["logprobs"] = tuple(_token(entry) for entry in row["logprobs"])
    return Reply(**parts, value=value)


def _tokens(counts: Mapping[str, Any]) -> Tokens:
    if not set(counts) <= {"input", "output"} or not all(type(n) is int and n >= 0 for n in counts.values()):
        raise ValueError(f"a reply's tokens are counts of input and output, not {counts!r}")
    return Tokens(**counts)


def _token(entry: Any) -> TokenLogprob:
    try:
        token, logprob, top = entry
        return TokenLogprob(str(token), float(logprob), tuple((str(other), float(value)) for other, value in top))
    except (TypeError, ValueError):
        raise ValueError(
            f"a token is [its text, its log-probability, [[text, log-probability], ...]], not {entry!r}"
        ) from None
