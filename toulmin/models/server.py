"""Settings of a language model server: address, key, limits and prices."""

from __future__ import annotations

import ipaddress
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from urllib.parse import urlsplit

from toulmin.data import Tokens
from toulmin.errors import UsageError

# ---------------------------------------------------------------- keys of servers


VARIABLE = "OPENAI_API_KEY"


class Key:
    """A secret that only `reveal` shows. Raises `UsageError` if it is not visible ASCII."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        if not secret or not secret.isascii() or not all("!" <= character <= "~" for character in secret):
            raise UsageError(
                "A server's key should be one line of visible ASCII characters, but this one is empty or contains other"
                " characters. Copy it again."
            )
        self._secret = secret

    def reveal(self) -> str:
        return self._secret

    def __repr__(self) -> str:
        return "Key(***)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and other._secret == self._secret

    def __hash__(self) -> int:
        return hash(Key)

    def __deepcopy__(self, memo: object) -> Key:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key cannot be pickled; read it again where it is needed")


def key_from(environ: Mapping[str, str], variable: str = VARIABLE, file: str | Path | None = None) -> Key | None:
    """The key in `file`, else in the environment variable; None if neither is set.

    Raises `UsageError` for a file that is unreadable, holds no key, or (on POSIX) is readable by others.
    """
    if file is not None:
        # systemd keeps others out of the whole directory; the mode of a file in it may show a group that is none.
        is_credential = str(Path(file).parent) == environ.get("CREDENTIALS_DIRECTORY")
        return Key(_read(Path(file), variable, is_credential))
    secret = environ.get(variable, "").strip()
    return Key(secret) if secret else None


def _read(path: Path, variable: str, is_credential: bool) -> str:
    try:
        with path.open(encoding="ascii") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            if os.name == "posix" and mode & 0o077 and not is_credential:
                raise UsageError(
                    f"The key file {path} should be readable by its owner alone, but has mode {mode:o}. Run: chmod 600"
                    f" {path}"
                )
            return opened.read(10_000).strip()
    except UnicodeDecodeError:
        raise UsageError(f"{path} should hold a server's key as ASCII text, but holds something else.") from None
    except OSError as error:
        raise UsageError(
            f"The key file {path} could not be read: {error.strerror}. Name another, or set {variable}."
        ) from error


# ---------------------------------------------------------------- what models cost


_MILLION = 1_000_000


class Price(NamedTuple):
    """US dollars per million tokens."""

    input: float
    output: float

    def of(self, tokens: Tokens) -> float:
        return (self.input * tokens.input + self.output * tokens.output) / _MILLION


def read_prices(table: Mapping[str, Any]) -> Mapping[str, Price]:
    """By model name, from `{"a-model": {"input": 0.25, "output": 2.0}}`; raises `UsageError`."""
    return {name: _price(name, entry) for name, entry in table.items()}


def _price(name: str, entry: Any) -> Price:
    if isinstance(entry, Mapping) and set(entry) == {"input", "output"} and all(map(_is_amount, entry.values())):
        return Price(float(entry["input"]), float(entry["output"]))
    raise UsageError(
        f"The price of {name!r} should be a table like {{input = 0.25, output = 2.0}}"
        f" (US dollars per million tokens), not {entry!r}."
    )


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0


# ---------------------------------------------------------------- server


OPENAI = "https://api.openai.com/v1"
RESAMPLING = 0.7  # temperature of samples other than 0, unless one is set


def is_loopback(host: str) -> bool:
    """Whether the name or address is of this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Server:
    """An OpenAI-compatible server. Raises `UsageError` for a value out of range.

    In seconds: `timeout` limits a request with all tries and pauses; `idle_timeout` limits connecting and silence, so
    without `stream` it must exceed the longest reply's time. Up to `retries` more tries follow, first after `pause`,
    then after twice as long each time plus jitter; a `Retry-After` takes precedence.

    `concurrency` is the most requests in flight.

    `window` limits prompt and reply together, in tokens. If None, prompts are shortened when the server rejects them;
    Ollama cuts them silently, so set it to `num_ctx` there. `temperature`, `top_p`, `seed` and `stop` apply unless a
    request has its own. `extra` are further body fields. `structured` requests JSON if a prompt has a schema.
    """

    base_url: str = OPENAI
    key: Key | None = None
    timeout: float = 300.0
    idle_timeout: float = 60.0
    retries: int = 4
    pause: float = 0.5
    concurrency: int = 16
    window: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    structured: bool = False
    stream: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.base_url)
            holds = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            holds = False
        if not holds or parts.username is not None or parts.password is not None:
            # The address is not repeated: it may hold a password.
            raise UsageError(
                f"A server's base_url should be like {OPENAI} or http://localhost:8000/v1, without a user or password."
            )
        for name in ("timeout", "idle_timeout", "pause", "concurrency"):
            self._check(name, getattr(self, name) > 0, "more than 0")
        for name in ("window", "max_tokens"):
            value = getattr(self, name)
            self._check(name, value is None or value >= 1, "at least 1, or left out")
        self._check("retries", self.retries >= 0, "0 or more")
        self._check("temperature", self.temperature is None or self.temperature >= 0, "0 or more, or left out")
        self._check("top_p", self.top_p is None or 0 < self.top_p <= 1, "above 0 and at most 1, or left out")
        self._check("extra", _is_json(self.extra), "names and values as JSON has them")
        fits = self.window is None or self.max_tokens is None or self.max_tokens < self.window
        self._check("max_tokens", fits, f"less than the window ({self.window}), which holds the prompt too")

    @property
    def host(self) -> str:
        """Name and port, without user name or password."""
        parts = urlsplit(self.base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    @property
    def host_name(self) -> str:
        return urlsplit(self.base_url).hostname or ""

    @property
    def is_openai(self) -> bool:
        """OpenAI's server requires a key and has its own field names."""
        return self.host_name == urlsplit(OPENAI).hostname

    def _check(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            raise UsageError(f"A server's {name} should be {expected}, not {getattr(self, name)!r}.")


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return isinstance(value, Mapping)
