"""Addresses of corpora in PostgreSQL, connections, and the errors of a server.

* libpq alone reads credentials, and whatever the address omits, from its environment (`PGHOST` may be the folder of a
  socket).
* Temporary errors are retried: a server that starts, refuses or breaks a connection, conflicting
  writers.
* No foreign error is shown whole: a server repeats in it what it was sent.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from toulmin.errors import SourceError, UsageError
from toulmin.indexing.catalogue import close_on_error
from toulmin.stores.address import CREDENTIALS, POSTGRES, check_installed, harmless
from toulmin.stores.contents import Passing, repeat

FORM = "postgresql://[USER@]HOST[:PORT]/DATABASE/CORPUS"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")
_NOT_OURS = re.compile(r"pg_.*|public|information_schema", re.IGNORECASE)
_ATTEMPTS = 4  # at a connection, a query or a commit
_PATIENCE = "10"  # seconds for a connection, where PGCONNECT_TIMEOUT says nothing
_REFUSED = re.compile(r"authentication|password|no pg_hba|role .* does not exist|certificate", re.IGNORECASE)
_NO_DATABASE = re.compile(r"database .* does not exist")
# A reader holds a transaction open, and its queries are too short to be worth compiling.
_SETTINGS = {"idle_in_transaction_session_timeout": "0", "idle_session_timeout": "0", "jit": "off"}


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
    """Raises `UsageError` if it is malformed or holds a password; `SourceError` if psycopg is not installed."""
    plain = text.rstrip("/")
    parts = urlsplit(plain)
    holds_more = set(":@") & set(parts.netloc.rpartition("@")[0]) or parts.query or parts.fragment
    if parts.scheme not in POSTGRES or holds_more:
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


# ---------------------------------------------------------------- connections


Connection = psycopg.Connection[tuple[Any, ...]]
T = TypeVar("T")


def connect(place: Place) -> Connection:
    """A new connection in autocommit mode, with the corpus's schema as search path."""
    patience = os.environ.get("PGCONNECT_TIMEOUT", _PATIENCE)
    connection = psycopg.connect(  # without what is None
        host=place.host,
        port=place.port,
        user=place.user,
        dbname=place.database,
        autocommit=True,
        application_name="toulmin",
        client_encoding="utf8",
        connect_timeout=patience,
    )
    known = "SELECT set_config(name, %s::jsonb ->> name, false) FROM pg_catalog.pg_settings WHERE name = ANY(%s)"
    with close_on_error(connection):
        connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(place.schema)))
        connection.execute(known, (Jsonb(_SETTINGS), list(_SETTINGS)))  # what this server knows of them
    return connection


def read_once(place: Place, read: Callable[[Connection, Place], T]) -> T:
    """Runs `read` on a connection of its own."""

    def work() -> T:
        with connect(place) as connection:
            return read(connection, place)

    return retry(place, work)


def retry(place: Place, work: Callable[[], T]) -> T:
    """Runs `work`, which must be safe to repeat, up to four times for temporary errors. Raises `SourceError`."""
    return repeat("database", clear_errors(place)(work), _ATTEMPTS)


@contextmanager
def clear_errors(place: Place) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise _error_for(place, error) from None


def _error_for(place: Place, error: psycopg.Error) -> SourceError:
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return not_allowed(place)
    if isinstance(error, psycopg.errors.DiskFull | psycopg.errors.OutOfMemory):
        return SourceError(f"The server of {place} has no room left; free some and try again.")
    if isinstance(error, psycopg.errors.QueryCanceled):
        return SourceError(
            f"The server of {place} cancelled a statement that took too long; raise the statement_timeout of this"
            " connection's user."
        )
    if isinstance(error, psycopg.OperationalError):
        return _of_the_server(place, error)
    return SourceError(f"{place} cannot be used ({harmless(str(error))}).")


def not_allowed(place: Place) -> SourceError:
    return SourceError(
        f"The user of this connection may not do that in {place}. To read, it needs USAGE on the schema of the"
        " corpus and SELECT on its tables; to write, also INSERT, UPDATE and DELETE; to make a corpus, CREATE on the"
        " database. Ask the owner to GRANT it, or set PGUSER to one who may."
    )


def _of_the_server(place: Place, error: psycopg.OperationalError) -> SourceError:
    """A failed connection is recognised by its message only."""
    what = str(error)
    if error.sqlstate is None and _NO_DATABASE.search(what):
        return SourceError(
            f"There is no database {place.database!r} for {place}; make it with: createdb {place.database}"
        )
    if error.sqlstate is None and _REFUSED.search(what):
        return SourceError(
            f"{place} refused the credentials of this environment; set {CREDENTIALS['postgresql']} to ones that may"
            " use the database."
        )
    if (error.sqlstate or "08").startswith(("08", "57P")):
        return Passing(
            f"The server of {place} cannot be reached, or broke the connection; check host and port (PGHOST, PGPORT),"
            " the network, and whether it runs."
        )
    return Passing(f"The server of {place} failed again and again, or others write to it; try again in a moment.")
