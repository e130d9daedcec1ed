"""Addresses: `postgresql://[USER@]HOST[:PORT]/DATABASE/CORPUS`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from toulmin.errors import UsageError
from toulmin.stores.address import CREDENTIALS, POSTGRES, check_installed

FORM = "postgresql://[USER@]HOST[:PORT]/DATABASE/CORPUS"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")
_NOT_OURS = re.compile(r"pg_.*|public|information_schema", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """A parsed address; a corpus is a schema, and libpq fills in None."""

    text: str
    host: str | None
    port: int | None
    user: str | None
    database: str
    schema: str

    def __str__(self) -> str:
        return self.text


def place_of(text: str) -> Place:
    """Parses an address.

    Raises `UsageError` if it is malformed or holds a password; `SourceError` if psycopg is not installed.
    """
    plain = text.rstrip("/")
    parts = urlsplit(plain)
    if parts.scheme not in POSTGRES or _holds_more(parts.netloc.rpartition("@")[0], parts.query + parts.fragment):
        raise UsageError(
            f"An address of this kind is {FORM}, without password or options; set {CREDENTIALS['postgresql']} in the"
            " environment."
        )
    database, _, schema = unquote(parts.path.removeprefix("/")).partition("/")
    if not database or not schema:
        raise UsageError(f"An address of this kind is {FORM}; it names a database and in it a corpus, not {text!r}.")
    if not _NAME.fullmatch(schema) or _NOT_OURS.fullmatch(schema):
        raise UsageError(
            f"A corpus in a database is named with up to 63 letters, digits, _ and -, starting with a letter or _, and"
            f" not with a name that PostgreSQL uses itself; {schema!r} is no such name."
        )
    try:
        port = parts.port
    except ValueError:
        raise UsageError(f"A port is a number up to 65535; write {FORM}.") from None
    check_installed(text)
    return Place(plain, parts.hostname, port, unquote(parts.username or "") or None, database, schema)


def _holds_more(user: str, options: str) -> bool:
    return ":" in user or "@" in user or bool(options)
