"""One moment of a corpus: a transaction that is held open and sees nothing of what others write meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from threading import RLock
from typing import Any

import psycopg
from psycopg import sql

from toulmin.errors import StoreAway
from toulmin.stores.postgres_address import Place
from toulmin.stores.postgres_connection import Connection, Repeats, connected, repeated
from toulmin.stores.postgres_tables import moment, no_corpus

Statement = str | sql.Composed
Row = tuple[Any, ...]


class Moment:
    """Answers one question after the other, from whatever thread; a lost connection is made again.

    Where the corpus is still as it was, what the new connection sees is the same moment.
    """

    def __init__(self, place: Place, repeats: Repeats) -> None:
        """Raises `SourceError` where no corpus is, or the server cannot be used."""
        self._place, self._repeats, self._lock = place, repeats, RLock()
        self._connection: Connection | None = None
        self._is_closed = False
        self.number: int | None = None
        self.ask("SELECT")

    def ask(self, statement: Statement, values: Sequence[Any] = (), *, first: str | None = None) -> list[Row]:
        """The rows of a statement; `first` is one that is run before it.

        Raises `StoreAway` where the connection was lost and the corpus has changed since.
        """
        with self._lock:
            assert not self._is_closed, "a closed corpus cannot be asked"
            return repeated(self._place, self._repeats, lambda: self._asked(statement, values, first))

    def _asked(self, statement: Statement, values: Sequence[Any], first: str | None) -> list[Row]:
        connection = self._connection or self._begun()
        try:
            if first is not None:
                connection.execute(first.encode())
            cursor = connection.execute(statement.encode() if isinstance(statement, str) else statement, values)
            return cursor.fetchall()
        except psycopg.Error:  # the transaction can answer nothing more
            self._let_go()
            raise

    def _begun(self) -> Connection:
        connection = connected(self._place)
        try:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            number = moment(connection, self._place)
            if number is None:
                raise no_corpus(self._place)
            if self.number not in (None, number):
                raise self._changed()
        except BaseException:
            connection.close()
            raise
        self._connection, self.number = connection, number
        return connection

    def _changed(self) -> StoreAway:
        return StoreAway(
            f"The connection to {self._place} was lost, and the corpus was changed meanwhile; ask again to see it as it"
            " is now."
        )

    def now(self) -> int | None:
        """The number of the newest moment, which this need not be; None where there is no corpus any more."""

        def work() -> int | None:
            with connected(self._place) as connection:
                return moment(connection, self._place)

        return repeated(self._place, self._repeats, work)

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()

    def close(self) -> None:
        """Ends the transaction."""
        with self._lock:
            self._is_closed = True
            self._let_go()
