"""Changes a corpus in PostgreSQL: stages rows, then merges them in one commit.

* Staging tables belong to the session, so memory does not grow, no lock is held and no transaction is open.
* Writers merge one after the other; a killed one leaves nothing.
* `new_files` has a row for each changed path, and in `known` the file's number when the update began. A new reading
  (another number, not 0) replaces any that is not newer. News of a known file (the same number: its time, why it
  cannot be read) or its end (number 0) count only while the known file is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from typing import Any

import psycopg
from psycopg import sql

from toulmin.data import Document
from toulmin.documents.metadata import to_json
from toulmin.indexing.catalogue import close_on_error
from toulmin.indexing.codes import findable, length
from toulmin.indexing.preparation import Piece, pieces
from toulmin.indexing.vector_files import EncoderChoice
from toulmin.indexing.writer import Totals
from toulmin.stores import contents, postgres_tables
from toulmin.stores.changes import Changes, run_update
from toulmin.stores.contents import COLUMNS, About, FileRow, new_number
from toulmin.stores.postgres_connection import Connection, Place, clear_errors, connect, place_of, retry
from toulmin.stores.postgres_tables import Kind, array_text, count_words, statements, vector_text

_BATCH = 1000  # passages that wait in memory
_GROWN = 0.1  # share of new passages from which the planner's statistics are renewed at once
FILES = ("path", "mark", "file", "at", "size", "mtime_ns", "digest", "reason")  # of `new_files`; then `known`

# ---------------------------------------------------------------- merging staged rows, in one transaction


def stage(connection: Connection, kind: Kind | None, dimension: int) -> None:
    connection.execute(statements()["staged"])
    if kind is not None:
        column = sql.SQL("ALTER TABLE new_found ADD COLUMN vector {}({})")
        connection.execute(column.format(kind.type, sql.Literal(dimension)))


def wait_for_others(connection: Connection, place: Place) -> None:
    """Locks out other merges until the transaction ends."""
    digest = blake2b(f"toulmin {place.schema}".encode(), digest_size=8).digest()
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (int.from_bytes(digest, "big", signed=True),))


def merge(connection: Connection, has_vectors: bool) -> int:
    """Returns the number of distinct passages afterwards."""
    vector = b", vector" if has_vectors else b""
    for name in ("looked_at", "overtaken", "superseded", "files", "documents", "found"):
        connection.execute(statements()[name].replace(b"{vector}", vector))
    row = connection.execute(statements()["totals"], (new_number(),)).fetchone()
    assert row is not None, "a corpus has one row of totals"
    return int(row[0])


# ---------------------------------------------------------------- staging them


class PostgresWriter(Changes):
    def __init__(self, address: str, passage_words: int | None, vectors: EncoderChoice | None) -> None:
        self._place = place = place_of(address)
        self._vectors = vectors
        self._asked = contents.about_for(passage_words, vectors)
        self._connection = retry(place, lambda: connect(place))
        with close_on_error(self._connection), clear_errors(place):
            existing = self._existing_about(passage_words)
            self._about = existing or self._asked
            self._kind = postgres_tables.kind_of_vectors(self._connection, place) if self._about.label else None
            files = f"SELECT {', '.join(COLUMNS)} FROM files".encode()
            super().__init__(FileRow(*row) for row in (self._connection.execute(files) if existing else ()))
            stage(self._connection, self._kind, self._about.label.dimension if self._about.label else 0)
        self._new_documents: list[tuple[Any, ...]] = []
        self._new_pieces: list[tuple[int, int, Piece]] = []

    def _existing_about(self, passage_words: int | None) -> About | None:
        """None without a corpus; raises SourceError for other settings than requested."""
        existing = postgres_tables.about(self._connection, self._place)
        if existing is not None:
            contents.check_about(existing, self._asked, passage_words, self._place)
        return existing

    def described(self) -> Iterable[tuple[str, str]]:
        if not self.known:  # perhaps there are no tables yet
            return ()
        with clear_errors(self._place):
            return self._connection.execute("SELECT path, metadata FROM documents WHERE record IS NULL").fetchall()

    def close(self) -> None:
        with suppress(psycopg.Error):
            self._connection.close()

    # ------------------------------------------------------------ documents and passages

    def add_document(self, file: int, document: Document, on_passage: Callable[[], None]) -> None:
        cut_pieces, tail = pieces(document, self._about.passage_words)
        place = self.next_document(file)
        about = to_json(document.metadata, document.remarks)
        names = (document.title, self.path(file), document.url, document.record, about)
        self._new_documents.append((file, place, *names, *contents.places(document), tail, len(cut_pieces)))
        for piece in cut_pieces:
            self._new_pieces.append((file, place, piece))
            on_passage()
            if len(self._new_pieces) >= _BATCH:
                self.flush()

    def flush(self) -> None:
        documents, self._new_documents = self._new_documents, []
        new, self._new_pieces = self._new_pieces, []
        with clear_errors(self._place):
            _copy(self._connection, "new_documents", documents)
            _copy(self._connection, "new_passages", [_passage_row(*row) for row in new])
            _copy(self._connection, "new_found", self._index_rows(new))

    def _index_rows(self, new: Sequence[tuple[int, int, Piece]]) -> list[tuple[Any, ...]]:
        """Equal passages of one file once."""
        distinct = list({(file, piece.key): (file, piece) for file, _, piece in new}.values())
        rows = [_index_row(file, piece) for file, piece in distinct]
        if self._vectors is None or not distinct:
            return rows
        encoded = self._vectors.encoder.encode_passages([piece.passage for _, piece in distinct])
        self.encoded += len(distinct)
        return [(*row, vector_text(vector)) for row, vector in zip(rows, encoded, strict=True)]

    # ------------------------------------------------------------ committing

    def commit(self) -> Totals:
        self.flush()
        return retry(self._place, self._merge)

    def _merge(self) -> Totals:
        connection = self._connection
        with connection.transaction():
            wait_for_others(connection, self._place)
            # Another writer may have made the corpus meanwhile, with other settings.
            is_new = self._existing_about(self._about.passage_words) is None
            if is_new:
                postgres_tables.make(connection, self._place, self._about, self._kind)
            ((before,),) = connection.execute("SELECT passages FROM about").fetchall()
            if self.new:
                staged = []
                for row in self.new.values():
                    known = self.known.get(row.path)
                    staged.append((*(getattr(row, name) for name in FILES), known.file if known else 0))
                _copy(connection, "new_files", staged)
                after = merge(connection, self._kind is not None)
                if after - before > _GROWN * after:
                    connection.execute("ANALYZE documents, passages, found, frequencies")
            if is_new:
                postgres_tables.make_indexes(connection, self._about, self._kind)
            totals = connection.execute("SELECT (SELECT count(*) FROM documents), passages FROM about").fetchone()
        assert totals is not None, "a corpus has one row of totals"
        return Totals(*totals)


def _copy(connection: Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if not rows:
        return
    with connection.cursor().copy(f"COPY {table} FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row(row)


def _passage_row(file: int, place: int, piece: Piece) -> tuple[Any, ...]:
    return (file, place, piece.number, piece.key, piece.passage.source.start, piece.lead, *piece.place, piece.text)


def _index_row(file: int, piece: Piece) -> tuple[Any, ...]:
    found_by = findable(piece.passage)
    arrays = map(array_text, count_words(found_by.terms.split()))
    return (file, piece.key, length(found_by.packed), found_by.packed, *arrays)


update_postgres = partial(run_update, PostgresWriter)
