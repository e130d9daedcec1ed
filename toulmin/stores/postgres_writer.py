"""Changing a corpus in PostgreSQL: rows are staged, then merged in one commit.

* Rows go to the session's staging tables, so memory does not grow; meanwhile no lock is held and no transaction is
  open.
* Writers merge one after the other; a killed one leaves nothing.
* `new_files` has a row for each changed path, and in `known` the file's number when the update began. A new reading
  (another number, not 0) replaces any that is not newer; news of a known file (the same number: its time, why it
  cannot be read) or its end (number 0) count only while the known file is there. So of two updates that read one
  path, one reading stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from typing import Any

import psycopg
from psycopg import sql

from toulmin.data import Document
from toulmin.indexing.catalogue import close_on_error
from toulmin.indexing.lexicon import findable, length
from toulmin.indexing.vector_files import Wanted
from toulmin.indexing.writer import Piece, Totals, pieces
from toulmin.stores import contents, postgres_tables
from toulmin.stores.changes import Changes, run_update
from toulmin.stores.contents import COLUMNS, About, FileRow, new_number
from toulmin.stores.postgres_connection import Connection, Place, Repeats, clear_errors, connect, place_of, retry
from toulmin.stores.postgres_tables import Kind, array_text, count_words, vector_text

_BATCH = 1000  # passages that wait in memory
_GROWN = 0.1  # share of new passages from which the planner's statistics are renewed at once
FILES = ("path", "mark", "file", "at", "size", "mtime_ns", "digest", "reason")  # of `new_files`; then `known`
_STAGED = """
CREATE TEMPORARY TABLE new_files (path text COLLATE "C" PRIMARY KEY, mark bigint, file bigint, at bigint, size bigint,
    mtime_ns bigint, digest bytea, reason text, known bigint);
CREATE TEMPORARY TABLE new_documents (file bigint, place integer, title text, path text COLLATE "C", url text,
    record text, pages text, tail text, passages integer);
CREATE TEMPORARY TABLE new_passages (file bigint, place integer, number integer, key bigint, start bigint, lead integer,
    page integer, text text);
CREATE TEMPORARY TABLE new_found (file bigint, key bigint, length integer, codes bytea, words bigint[],
    counts smallint[]);
"""

# Without statistics of the rows just copied, the planner would scan them over and over.
_LOOKED_AT = "ANALYZE new_files; ANALYZE new_documents; ANALYZE new_passages; ANALYZE new_found"

_OVERTAKEN = """
DELETE FROM new_files AS new USING new_files AS mine LEFT JOIN files AS held ON held.path = mine.path
WHERE new.path = mine.path AND CASE WHEN mine.file IN (0, mine.known) THEN coalesce(held.file, 0) <> mine.known
    ELSE (held.at, held.mark) > (mine.at, mine.mark) END
"""

_SUPERSEDED = """
CREATE TEMPORARY TABLE lost ON COMMIT DROP AS
WITH old AS (DELETE FROM documents USING new_files AS new JOIN files AS held ON held.path = new.path
        WHERE documents.file = held.file AND held.file <> new.file RETURNING documents.number),
    taken AS (DELETE FROM passages USING old WHERE passages.document = old.number RETURNING passages.key)
SELECT DISTINCT key FROM taken
"""

_FILES = """
INSERT INTO files (path, mark, file, at, size, mtime_ns, digest, reason)
SELECT path, mark, file, at, size, mtime_ns, digest, reason FROM new_files
ON CONFLICT (path) DO UPDATE SET mark = excluded.mark, file = excluded.file, at = excluded.at, size = excluded.size,
    mtime_ns = excluded.mtime_ns, digest = excluded.digest, reason = excluded.reason;
DELETE FROM files USING new_files AS new WHERE files.path = new.path AND files.file = 0 AND files.reason IS NULL
"""

_DOCUMENTS = """
CREATE TEMPORARY TABLE numbered ON COMMIT DROP AS
SELECT new.file, new.place, row_number() OVER (ORDER BY new.path, new.place)
    + (SELECT coalesce(max(number), 0) FROM documents) AS document
FROM new_documents AS new JOIN new_files USING (file);
ANALYZE numbered;
INSERT INTO documents SELECT document, file, place, title, path, url, record, pages, tail, passages
FROM new_documents JOIN numbered USING (file, place);
INSERT INTO passages SELECT document, number, key, start, lead, page, text
FROM new_passages JOIN numbered USING (file, place)
"""

_FOUND = """
CREATE TEMPORARY TABLE gained ON COMMIT DROP AS
WITH made AS (INSERT INTO found (key, length, codes, words, counts {vector})
        SELECT DISTINCT ON (key) key, length, codes, words, counts {vector} FROM new_found JOIN new_files USING (file)
        ON CONFLICT (key) DO NOTHING RETURNING length, words)
SELECT length, words, 1 AS sign FROM made;
WITH ended AS (DELETE FROM found USING lost
        WHERE found.key = lost.key AND NOT EXISTS (SELECT FROM passages WHERE passages.key = lost.key)
        RETURNING length, words)
INSERT INTO gained SELECT length, words, -1 FROM ended;
INSERT INTO frequencies AS held
SELECT word, sum(sign) AS more FROM gained, unnest(words) AS word GROUP BY word HAVING sum(sign) <> 0
ON CONFLICT (word) DO UPDATE SET passages = held.passages + excluded.passages;
DELETE FROM frequencies WHERE passages = 0 AND EXISTS (SELECT FROM gained WHERE sign < 0)
"""

_TOTALS = """
UPDATE about SET moment = %s, passages = about.passages + more.passages, terms = about.terms + more.terms
FROM (SELECT coalesce(sum(sign), 0) AS passages, coalesce(sum(sign * length), 0) AS terms FROM gained) AS more
RETURNING about.passages
"""


# ---------------------------------------------------------------- merging staged rows, in one transaction


def stage(connection: Connection, kind: Kind | None, dimension: int) -> None:
    connection.execute(_STAGED)
    if kind is not None:
        column = sql.SQL("ALTER TABLE new_found ADD COLUMN vector {}({})")
        connection.execute(column.format(kind.type, sql.Literal(dimension)))


def wait_for_others(connection: Connection, place: Place) -> None:
    """Locks out other merges until the transaction ends."""
    digest = blake2b(f"toulmin {place.schema}".encode(), digest_size=8).digest()
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (int.from_bytes(digest, "big", signed=True),))


def merge(connection: Connection, has_vectors: bool) -> int:
    """Returns the number of distinct passages afterwards."""
    vector = ", vector" if has_vectors else ""
    for statement in (_LOOKED_AT, _OVERTAKEN, _SUPERSEDED, _FILES, _DOCUMENTS, _FOUND.format(vector=vector)):
        connection.execute(statement.encode())
    row = connection.execute(_TOTALS, (new_number(),)).fetchone()
    assert row is not None, "a corpus has one row of totals"
    return int(row[0])


# ---------------------------------------------------------------- staging them


class PostgresWriter(Changes):
    """A writer of a corpus in PostgreSQL."""

    def __init__(self, address: str, passage_words: int | None, vectors: Wanted | None) -> None:
        self._place = place = place_of(address)
        self._vectors = vectors
        self._asked = contents.about_for(passage_words, vectors)
        self._repeats = Repeats()
        self._connection = retry(place, self._repeats, lambda: connect(place))
        with close_on_error(self._connection), clear_errors(place):
            existing = self._existing_about(passage_words)
            self._about = existing or self._asked
            self._kind = self._kind_of_vectors()
            super().__init__(self._file_rows() if existing else ())
            stage(self._connection, self._kind, self._about.label.dimension if self._about.label else 0)
        self._new_documents: list[tuple[Any, ...]] = []
        self._new_pieces: list[tuple[int, int, Piece]] = []

    def _existing_about(self, passage_words: int | None) -> About | None:
        """None without a corpus; raises SourceError for other settings than requested."""
        existing = postgres_tables.about(self._connection, self._place)
        if existing is not None:
            contents.check_about(existing, self._asked, passage_words, self._place)
        return existing

    def _kind_of_vectors(self) -> Kind | None:
        if self._about.label is None:
            return None
        existing = postgres_tables.kind_of(self._connection)
        return existing or postgres_tables.available_kind(self._connection, self._place)

    def _file_rows(self) -> list[FileRow]:
        rows = self._connection.execute(f"SELECT {', '.join(COLUMNS)} FROM files".encode()).fetchall()
        return [FileRow(*row) for row in rows]

    def close(self) -> None:
        with suppress(psycopg.Error):
            self._connection.close()

    def notes(self) -> tuple[str, ...]:
        return self._repeats.notes()

    # ------------------------------------------------------------ documents and passages

    def add_document(self, file: int, document: Document, on_passage: Callable[[], None]) -> None:
        cut_pieces, tail = pieces(document, self._about.passage_words)
        place = self.next_document(file)
        names = (document.title, self.path(file), document.url, document.record, json.dumps(document.pages))
        self._new_documents.append((file, place, *names, tail, len(cut_pieces)))
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
        return retry(self._place, self._repeats, self._merge)

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
                self._stage_files()
                after = merge(connection, self._kind is not None)
                if after - before > _GROWN * after:
                    connection.execute("ANALYZE documents, passages, found, frequencies")
            if is_new:
                postgres_tables.make_indexes(connection, self._about, self._kind)
            totals = connection.execute("SELECT (SELECT count(*) FROM documents), passages FROM about").fetchone()
        assert totals is not None, "a corpus has one row of totals"
        return Totals(*totals)

    def _stage_files(self) -> None:
        staged = []
        for row in self.new.values():
            known = self.known.get(row.path)
            staged.append((*(getattr(row, name) for name in FILES), known.file if known else 0))
        _copy(self._connection, "new_files", staged)


def _copy(connection: Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if not rows:
        return
    with connection.cursor().copy(f"COPY {table} FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row(row)


def _passage_row(file: int, place: int, piece: Piece) -> tuple[Any, ...]:
    source = piece.passage.source
    return (file, place, piece.number, piece.key, source.start, piece.lead, source.page, piece.text)


def _index_row(file: int, piece: Piece) -> tuple[Any, ...]:
    found_by = findable(piece.passage)
    arrays = map(array_text, count_words(found_by.terms.split()))
    return (file, piece.key, length(found_by.packed), found_by.packed, *arrays)


update_postgres = partial(run_update, PostgresWriter)
