"""The settings of a language model server: address, key and limits. Prices are the user's, since they change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from toulmin.errors import UsageError
from toulmin.models.keys import Key

OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Server:
    """An OpenAI-compatible server. Raises `UsageError` for a value out of range.

    Waiting, in seconds: `timeout` limits one request, all tries and pauses included; `idle_timeout` limits
    connecting and the server's silence. A request is tried again up to `retries` times, first after `pause`
    seconds, which double each time plus jitter; a `Retry-After` takes precedence.

    Load: `concurrency` is the most requests in flight; `requests_per_minute` and `tokens_per_minute` (prompt and
    reply, estimated) are kept by this process, None is no limit. `n` is how many samples of one prompt one request
    asks for.

    `window` is the model's size in tokens, prompt and reply together. If None, prompts are shortened when the
    server rejects them; Ollama silently cuts them, so set it to `num_ctx` there. `max_tokens` limits a reply (None:
    the server's limit). `temperature`, `seed` and `stop` apply unless a request has its own. `extra` are further
    body fields.

    Without `stream`, `idle_timeout` must exceed the longest reply's time.
    """

    base_url: str = OPENAI
    key: Key | None = None
    timeout: float = 300.0
    idle_timeout: float = 60.0
    retries: int = 4
    pause: float = 0.5
    concurrency: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    n: int = 1
    window: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    stream: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_url()
        for name in ("timeout", "idle_timeout", "pause", "concurrency", "n"):
            self._check(name, getattr(self, name) > 0, "more than 0")
        for name in ("requests_per_minute", "tokens_per_minute", "window", "max_tokens"):
            value = getattr(self, name)
            self._check(name, value is None or value >= 1, "at least 1, or left out")
        self._check("retries", self.retries >= 0, "0 or more")
        self._check("temperature", self.temperature is None or self.temperature >= 0, "0 or more, or left out")
        self._check("extra", _is_json(self.extra), "names and values as JSON has them")
        fits = self.window is None or self.max_tokens is None or self.max_tokens < self.window
        self._check("max_tokens", fits, f"less than the window ({self.window}), which holds the prompt too")

    @property
    def host(self) -> str:
        """Name and port, without user name or password."""
        parts = urlsplit(self.base_url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.hostname}{port}"

    @property
    def is_openai(self) -> bool:
        """Whether this is OpenAI's own server, which requires a key and has its own field names."""
        return urlsplit(self.base_url).hostname == urlsplit(OPENAI).hostname

    def _check_url(self) -> None:
        try:
            parts = urlsplit(self.base_url)
            holds = (
                parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
            )
        except ValueError:
            holds = False
        if not holds or parts.username is not None or parts.password is not None:
            # The address is not repeated: it may hold a password.
            raise UsageError(
                f"A server's base_url should be like {OPENAI} or http://localhost:8000/v1, without a user or password."
            )

    def _check(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            raise UsageError(f"A server's {name} should be {expected}, not {getattr(self, name)!r}.")


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return isinstance(value, Mapping)
