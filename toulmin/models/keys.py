"""Keys of servers."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from toulmin.errors import UsageError

VARIABLE = "OPENAI_API_KEY"


class Key:
    """A secret that only `reveal` shows; it cannot be pickled. Raises `UsageError` if it is not visible ASCII."""

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

    def __copy__(self) -> Key:
        return self

    def __deepcopy__(self, memo: object) -> Key:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key cannot be pickled; read it again where it is needed")


def key_from(environ: Mapping[str, str], variable: str = VARIABLE, file: str | Path | None = None) -> Key | None:
    """The key in `file` if one is named, else in the environment variable; None if neither is set.

    Raises `UsageError` for a file that is unreadable, holds no key, or (on POSIX) is readable by others.
    """
    if file is not None:
        return Key(_read(Path(file)))
    secret = environ.get(variable, "").strip()
    return Key(secret) if secret else None


def _read(path: Path) -> str:
    try:
        with path.open(encoding="ascii") as opened:
            _check_owner_only(os.fstat(opened.fileno()), path)
            return opened.read(10_000).strip()
    except UnicodeDecodeError:
        raise UsageError(f"{path} should hold a server's key as ASCII text, but holds something else.") from None
    except OSError as error:
        raise UsageError(
            f"The key file {path} could not be read: {error.strerror}. Name another, or set {VARIABLE}."
        ) from error


def _check_owner_only(status: os.stat_result, path: Path) -> None:
    if os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o077:
        mode = f"mode {stat.S_IMODE(status.st_mode):o}"
        raise UsageError(
            f"The key file {path} should be readable by its owner alone, but has {mode}. Run: chmod 600 {path}"
        )
