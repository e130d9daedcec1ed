"""Merging staged rows, in one transaction."""

from __future__ import annotations

from hashlib import blake2b

from psycopg import sql

from toulmin.stores.files import number
from toulmin.stores.postgres_address import Place
from toulmin.stores.postgres_connection import Connection
from toulmin.stores.postgres_tables import Kind

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
    row = connection.execute(_TOTALS, (number(),)).fetchone()
    assert row is not None, "a corpus has one row of totals"
    return int(row[0])
