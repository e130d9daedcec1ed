"""Failures of a server, with advice.

Messages quote at most `MOST_SAID` characters of the server, without the key and echoes of the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

import httpx2

from toulmin.errors import ModelError
from toulmin.models.received import MOST_CHARACTERS, SCHEMA, SYSTEM, Broken, ReplyBuilder, TooLarge
from toulmin.models.server import VARIABLE, Server
from toulmin.steps import UNCOUNTED, Tries

MOST_SAID = 200
_MOST_READ = 4_000
_ECHO = 16  # characters; a longer run shared with the prompt is an echo, a shorter one may be chance
_AGAIN = frozenset({408, 409, 429})
_NEVER_AGAIN = frozenset({501, 505})


class Failure(ModelError):
    """A failed try. `again`: another may succeed; `after`: seconds that the server asks to wait.

    `cut` are the replies so far, of this and earlier tries, that broke off.
    """

    cut: Sequence[ReplyBuilder] = ()

    def __init__(self, message: str, *, again: bool = False, after: float | None = None) -> None:
        super().__init__(message)
        self.again = again
        self.after = after


class NoSuchModel(Failure):
    """The server does not know the model, or the route."""


class TooLong(Failure):
    """Prompt and reply exceed the model's window, of `limit` tokens if the server names it."""

    def __init__(self, message: str, limit: int | None) -> None:
        super().__init__(message)
        self.limit = limit


class FieldRejection(Failure):
    """The server does not accept the fields `names`."""

    def __init__(self, message: str, names: frozenset[str]) -> None:
        super().__init__(message)
        self.names = names


@dataclass(frozen=True, slots=True)
class FailureContext:
    """What a failure names, and what it must not repeat (key and prompt)."""

    server: Server
    model: str
    prompt: str
    fields: frozenset[str] = frozenset()
    tries: Tries = UNCOUNTED

    def describe(self, what: str) -> str:
        return f"The model {self.model} at {self.server.host} {what}"

    def failure_from(self, error: Exception) -> Failure:
        if isinstance(error, TooLarge):
            return Failure(self.describe(f"wrote more than {MOST_CHARACTERS:,} characters. Set a smaller max_tokens."))
        return Failure(self.describe(self._cause(error)), again=True)

    def _cause(self, error: Exception) -> str:
        match error:
            case httpx2.ConnectTimeout():
                return "could not be reached in time. Is the base_url right?"
            case httpx2.TimeoutException():
                hint = "" if self.server.stream else " or set stream"
                limit = f"{self.server.idle_timeout:g} s"
                return f"sent nothing for {limit}. Set a longer idle_timeout{hint} if it is slow."
            case httpx2.ConnectError():
                return f"could not be reached. Is the server running at {self.server.host}?"
            case Broken():
                return f"ended its reply with an error: {self._quote(error.args[0])}"
            case httpx2.HTTPError() | httpx2.StreamError() if not isinstance(error, httpx2.SSEError):
                return "lost the connection in mid-reply."
        return "sent no valid reply (expected the API's JSON, not compressed). Is this the right base_url?"

    def cut(self) -> Failure:
        return Failure(self.describe("broke off in mid-reply, or sent nothing."), again=True)

    def check_key(self) -> None:
        """Raises `Failure` if the server needs a key and has none."""
        if self.server.key is None and self.server.is_openai:
            raise Failure(self.describe(f"was not asked. {self._hint(401)}"))

    # -------------------------------------------------------------- refusals

    def refusal(self, response: httpx2.Response) -> Failure:
        """For a status other than success, after the body is read."""
        status, error = response.status_code, _error_in(response)
        message = self.describe(f"answered {status}: {self._quote(error)}")
        if status in (400, 413, 422):
            return self._rejection(error, message)
        if status == 404:
            return NoSuchModel(message)
        if status == 429 and "insufficient_quota" in (_field(error, "code"), _field(error, "type")):
            return Failure(f"{message} The account has no credit left; check its billing.")
        if status in _AGAIN or (status >= 500 and status not in _NEVER_AGAIN):
            after = _retry_after(response.headers)
            wait = f" It asks to wait {after:.0f} s." if after else ""
            return Failure(f"{message}{wait} {_HINTS.get(status, '')}".strip(), again=True, after=after)
        return Failure(f"{message} {self._hint(status)}".strip())

    def _rejection(self, error: Any, message: str) -> Failure:
        text, code, param = self._clean(error), _field(error, "code"), _field(error, "param")
        if code == "context_length_exceeded" or _TOO_LONG.search(f"{_field(error, 'type')} {text}"):
            limit = min(map(int, _LIMIT.findall(text)), default=None)
            return TooLong(f"{message} Set the model's window, ask for fewer passages, or a smaller max_tokens.", limit)
        refuses = _UNSUPPORTED.search(f"{code} {text}") is not None
        said = (name for name in self.fields if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) or param == name)
        named = frozenset(said if refuses else ())
        if _NO_SYSTEM.search(text):
            named |= self.fields & {SYSTEM}
        if refuses and _NO_SCHEMA.search(text):
            named |= self.fields & {SCHEMA}
        return FieldRejection(message, named) if named else Failure(message)

    def _hint(self, status: int) -> str:
        if status == 401 and self.server.key is None:
            return f"It wants a key: set {VARIABLE}, or the variable or file that the settings name."
        if status in (401, 403):
            return f"Check the key ({VARIABLE}, or the variable or file that the settings name)."
        return _HINTS.get(status, "Is the base_url right?" if status < 400 else "")

    # -------------------------------------------------------------- the server's words

    def _quote(self, body: Any) -> str:
        text = self._clean(body)[:MOST_SAID].strip()
        return f"{text.rstrip('.')}." if text else "no reason given."

    def _clean(self, body: Any) -> str:
        text = _words(body)
        if self.server.key is not None:
            text = text.replace(self.server.key.reveal(), "***")
        text = " ".join("".join(c if c.isprintable() else " " for c in text[:_MOST_READ]).split())
        # What the server repeats of the prompt is left out.
        prompt = " ".join(self.prompt.split())
        echoed = [False] * len(text)
        for start in range(len(text) - _ECHO + 1):
            if text[start : start + _ECHO] in prompt:
                echoed[start : start + _ECHO] = [True] * _ECHO
        kept = "".join("\0" if is_echo else character for character, is_echo in zip(text, echoed, strict=True))
        return re.sub("\0+", "[...]", kept)


_HINTS = {
    413: "Ask for fewer passages.",
    429: "Lower the server's concurrency.",
    503: "It may still be loading; try again later.",
}

_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum (?:model|input|sequence) length|max_model_len|n_ctx"
    r"|prompt is too long|too many (?:input )?tokens|(?:prompt|input|request) (?:is )?(?:too long|exceeds)",
    re.IGNORECASE,
)
_LIMIT = re.compile(r"(?:maximum|max_model_len|n_ctx|context|limit)\D{0,40}?(\d{3,8})\b", re.IGNORECASE)
_UNSUPPORTED = re.compile(
    r"not? support|unsupported|unknown|unrecogni[sz]ed|unexpected|extra|unavailable"
    r"|not (?:permitted|allowed|implemented)",
    re.IGNORECASE,
)

# Messages of chat templates that know only the roles user and assistant.
_NO_SCHEMA = re.compile(r"json[ _-]?schema|structured[ _-]?(?:output|repl)|guided|grammar", re.IGNORECASE)
_NO_SYSTEM = re.compile(r"system (?:role|message)s? (?:is |are )?not supported|roles must alternate", re.IGNORECASE)


def _words(body: Any) -> str:
    if isinstance(body, str):
        return body
    if isinstance(body, list):
        return "; ".join(filter(None, map(_words, body)))
    if not isinstance(body, Mapping):
        return ""
    places = ".".join(str(part) for part in body.get("loc") or () if part != "body")
    inner = next((_words(body[name]) for name in ("message", "detail", "error", "msg") if body.get(name)), "")
    return f"{places}: {inner}" if places else inner


def _error_in(response: httpx2.Response) -> Any:
    """An object with fields, or text."""
    try:
        body = response.json()
    except ValueError:
        return response.text
    return body.get("error", body) if isinstance(body, Mapping) else body


def _field(error: Any, name: str) -> Any:
    return error.get(name) if isinstance(error, Mapping) else None


def _retry_after(headers: httpx2.Headers) -> float | None:
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    return _seconds_until(value) if value and _number(value) is None else _number(value)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if isfinite(number) and number >= 0 else None


def _seconds_until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
