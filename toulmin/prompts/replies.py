"""Replies of models and their JSON, and requests in JSON types for keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from itertools import accumulate
from typing import Any, Literal, get_args

from toulmin.data import Tokens
from toulmin.errors import ModelError, ToulminError

Finish = Literal["stop", "length", "refused", "filtered"]
Form = Literal["text", "schema"]


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token, its natural log-probability, and the likeliest tokens at its place (best first)."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply to one prompt.

    `value` is set by models that answer in types (the embedded writer); otherwise the prompt parses `text`. `omitted`
    counts passages left out from the end of the prompt. `finish` is "length" if the reply is cut off. `model` is the
    server's name; `form` names how the server was held to a schema.
    """

    text: str
    value: Any = None
    tokens: Tokens = field(default_factory=Tokens)
    usd: float | None = None
    omitted: int = 0
    finish: Finish = "stop"
    logprobs: tuple[TokenLogprob, ...] | None = None
    model: str = ""
    form: Form = "text"


class EmptyReply(ModelError):
    """A reply without an answer; `reply` has its cost."""

    def __init__(self, message: str, reply: Reply = Reply("")) -> None:
        super().__init__(message)
        self.reply = reply


Result = Reply | ToulminError


def usable(reply: Reply, thought: bool, describe: Callable[[str], str]) -> Reply | EmptyReply:
    """The reply, or an error if it has no word."""
    if reply.text.strip() or not (reply.finish == "length" or (reply.finish == "stop" and thought)):
        return reply
    what = "was cut off before its first word. Set a larger max_tokens."
    if reply.finish == "stop":
        what = "thought, but wrote no answer. Set a larger max_tokens, or turn thinking off."
    return EmptyReply(describe(what), reply)


def before_stop(stops: Iterable[str], text: str) -> str:
    """The text up to the first stop, which some servers ignore."""
    ends = [at for stop in stops if stop and (at := text.find(stop)) >= 0]
    return text[: min(ends, default=len(text))]


def tokens_between(tokens: Sequence[TokenLogprob], start: int, end: int) -> tuple[TokenLogprob, ...]:
    """The tokens with characters of `text[start:end]`; the text is all tokens joined."""
    starts = accumulate((len(token.token) for token in tokens), initial=0)
    return tuple(t for t, at in zip(tokens, starts, strict=False) if at < end and at + len(t.token) > start)


# The fields of a row and their types.
_KINDS: Mapping[str, Any] = {
    "text": str,
    "tokens": dict,
    "usd": int | float,
    "omitted": int,
    "finish": str,
    "logprobs": list,
    "model": str,
    "form": str,
}
FIELDS = tuple(_KINDS)
_SILENT = Reply("")


def plain(reply: Reply) -> dict[str, Any]:
    """In JSON types, without `value` and fields that have their defaults."""
    row = {name: getattr(reply, name) for name in FIELDS if getattr(reply, name) != getattr(_SILENT, name)}
    row["text"] = reply.text
    if "tokens" in row:
        row["tokens"] = asdict(reply.tokens)
    if reply.logprobs is not None:
        row["logprobs"] = [[t.token, t.logprob, [list(other) for other in t.top]] for t in reply.logprobs]
    return row


def reply_of(row: Mapping[str, Any], value: Any = None) -> Reply:
    """The reverse of `plain`; raises `ValueError` for an invalid field."""
    for name, content in row.items():
        if name not in _KINDS:
            raise ValueError(f"a reply has the fields {', '.join(FIELDS)}, not {name!r}")
        if not isinstance(content, _KINDS[name]) or isinstance(content, bool):
            raise ValueError(f"a reply's {name} cannot be {content!r}")
    if "text" not in row:
        raise ValueError("a reply has a text")
    for name, choices in (("finish", get_args(Finish)), ("form", get_args(Form))):
        if name in row and row[name] not in choices:
            raise ValueError(f"a reply's {name} is one of {', '.join(choices)}, not {row[name]!r}")
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
        form = "[its text, its log-probability, [[text, log-probability], ...]]"
        raise ValueError(f"a token is {form}, not {entry!r}") from None


# ---------------------------------------------------------------- requests


def exact_form(value: Any) -> Any:
    """JSON types, equal in every process; raises `ModelError` for other types."""
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        compared = [getattr(value, field.name) for field in fields(value) if field.compare]
        return [f"{kind.__module__}.{kind.__qualname__}", [exact_form(item) for item in compared]]
    if isinstance(value, Mapping):  # in its own order, which may show in a prompt
        return ["mapping", [[exact_form(name), exact_form(item)] for name, item in value.items()]]
    if isinstance(value, tuple | list):
        return [exact_form(item) for item in value]
    if value is None or type(value) in (str, int, float, bool):
        return value
    raise ModelError(
        f"A cache cannot tell requests apart by a {type(value).__qualname__}; give the prompt fields of plain"
        " values, or the model a method key(request) -> str."
    )
