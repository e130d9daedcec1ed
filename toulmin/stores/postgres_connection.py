"""A connection to the database of a corpus, and the trouble that a server makes.

* libpq alone reads who one is, from its own environment; no value of that is looked at here.
* What may pass is tried again: a server that starts, refuses a connection or breaks one, two that got into each other's
  way. How often that was, is told.
* No text of a foreign error reaches a person whole: a server repeats in it what it was sent.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
import stamina
from psycopg import sql
from psycopg.types.json import Jsonb

from toulmin.errors import SourceError, StoreAway
from toulmin.stores.address import CREDENTIALS, harmless
from toulmin.stores.postgres_address import Place

_ATTEMPTS = 4  # at a connection, a question or a commit
_PATIENCE = "10"  # seconds for a connection, where PGCONNECT_TIMEOUT says nothing
_REFUSED = re.compile(r"authentication|password|no pg_hba|role .* does not exist|certificate", re.IGNORECASE)
_NO_DATABASE = re.compile(r"database .* does not exist")
# A transaction that is held open is what a reader is; and what is asked is too short to be worth compiling.
_SETTINGS = {"idle_in_transaction_session_timeout": "0", "idle_session_timeout": "0", "jit": "off"}

# stamina tells of each repetition as a warning, which Python prints where nobody asked for logs.
logging.getLogger("stamina").addHandler(logging.NullHandler())

Connection = psycopg.Connection[tuple[Any, ...]]
T = TypeVar("T")


class Passing(StoreAway):
    """Trouble of the server that may be over at the next attempt."""


class Repeats:
    """How many requests had to be repeated."""

    def __init__(self) -> None:
        self._new = 0

    def count(self) -> None:
        """One more."""
        self._new += 1

    def notes(self) -> tuple[str, ...]:
        """What people are to know of those since the last time that this was asked."""
        new, self._new = self._new, 0
        told = "1 request; repeated, it" if new == 1 else f"{new:,} requests; repeated, they"
        return (f"The database failed {told} succeeded.",) if new else ()


def connected(place: Place) -> Connection:
    """A new connection, each statement of which is a transaction; names without a schema are those of the corpus."""
    asked = {"host": place.host, "port": place.port, "user": place.user, "dbname": place.database}
    named = {name: value for name, value in asked.items() if value is not None}
    patience = os.environ.get("PGCONNECT_TIMEOUT", _PATIENCE)
    connection = psycopg.connect(
        **named,  # type: ignore[arg-type]
        autocommit=True,
        application_name="toulmin",
        client_encoding="utf8",
        connect_timeout=patience,
    )
    try:
        _set_up(connection, place)
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: Connection, place: Place) -> None:
    """The settings of a session, those that this server knows."""
    connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(place.schema)))
    connection.execute(
        "SELECT set_config(name, %s::jsonb ->> name, false) FROM pg_catalog.pg_settings WHERE name = ANY(%s)",
        (Jsonb(_SETTINGS), list(_SETTINGS)),
    )


def repeated(place: Place, repeats: Repeats, work: Callable[[], T]) -> T:
    """What the work gives; begun again, a few times, where the server fails in a way that may pass.

    The work must be such that it may be done twice. Raises `SourceError` in place of what psycopg raises.
    """
    for attempt in stamina.retry_context(on=Passing, attempts=_ATTEMPTS, wait_initial=0.1, wait_max=2.0):
        if attempt.num > 1:
            repeats.count()
        with attempt, clear_errors(place):
            return work()
    raise AssertionError("stamina ends with a result or an error")


@contextmanager
def clear_errors(place: Place) -> Iterator[None]:
    """Turns what psycopg raises into our errors, without what the server repeats of a request."""
    try:
        yield
    except psycopg.Error as error:
        raise _translated(place, error) from None


def _translated(place: Place, error: psycopg.Error) -> SourceError:
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return not_allowed(place)
    if isinstance(error, psycopg.errors.DiskFull | psycopg.errors.OutOfMemory):
        return SourceError(f"The server of {place} has no room left for that; make some, and try again.")
    if isinstance(error, psycopg.errors.QueryCanceled):
        return SourceError(
            f"The server of {place} ended a statement that took too long for it; raise the statement_timeout of this"
            " connection's user."
        )
    if isinstance(error, psycopg.OperationalError):
        return _of_the_server(place, error)
    return SourceError(f"{place} cannot be used ({harmless(str(error))}).")


def not_allowed(place: Place) -> SourceError:
    """The error for one whom the database knows, and does not let do this."""
    return SourceError(
        f"The user of this connection may not do that in {place}. To read, it needs USAGE on the schema of the"
        " corpus and SELECT on its tables; to write, also INSERT, UPDATE and DELETE; to make a corpus, CREATE on the"
        " database. Ask the owner to GRANT it, or set PGUSER to one who may."
    )


def _of_the_server(place: Place, error: psycopg.OperationalError) -> SourceError:
    """What a server does to whoever asks, a connection that could not be made being told in words only."""
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
