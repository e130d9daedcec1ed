"""A transaction that sees one moment."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from threading import RLock
from typing import Any

import psycopg
from psycopg import sql

from toulmin.errors import StoreAway
from toulmin.stores.postgres_address import Place
from toulmin.stores.postgres_connection import Connection, Repeats, connect, retry
from toulmin.stores.postgres_tables import moment, no_corpus

Statement = str | sql.Composed
Row = tuple[Any, ...]


class Moment:
    """A read-only transaction, held open; thread-safe.

    A lost connection is replaced if the corpus is unchanged.
    """

    def __init__(self, place: Place, repeats: Repeats) -> None:
        """Raises `SourceError` if there is no corpus or no server."""
        self._place, self._repeats, self._lock = place, repeats, RLock()
        self._connection: Connection | None = None
        self._is_closed = False
        self.number: int | None = None
        self.ask("SELECT")

    def ask(self, statement: Statement, values: Sequence[Any] = (), *, first: str | None = None) -> list[Row]:
        """The rows of a statement; `first` is run before it.

        Raises `StoreAway` if the connection was lost and the corpus has changed since.
        """
        with self._lock:
            assert not self._is_closed, "a closed corpus cannot be asked"
            return retry(self._place, self._repeats, lambda: self._ask_once(statement, values, first))

    def _ask_once(self, statement: Statement, values: Sequence[Any], first: str | None) -> list[Row]:
        connection = self._connection or self._begin()
        try:
            if first is not None:
                connection.execute(first.encode())
            cursor = connection.execute(statement.encode() if isinstance(statement, str) else statement, values)
            return cursor.fetchall()
        except psycopg.Error:  # the transaction is unusable now
            self._let_go()
            raise

    def _begin(self) -> Connection:
        connection = connect(self._place)
        try:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            number = moment(connection, self._place)
            if number is None:
                raise no_corpus(self._place)
            if self.number not in (None, number):
                raise self._change_error()
        except BaseException:
            connection.close()
            raise
        self._connection, self.number = connection, number
        return connection

    def _change_error(self) -> StoreAway:
        return StoreAway(
            f"The connection to {self._place} was lost, and the corpus was changed meanwhile; ask again to see it as it"
            " is now."
        )

    def now(self) -> int | None:
        """The number of the newest moment; None without a corpus."""

        def work() -> int | None:
            with connect(self._place) as connection:
                return moment(connection, self._place)

        return retry(self._place, self._repeats, work)

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._let_go()
