"""The tables of a corpus, in a schema of its own.

    about         one row: settings, totals, and the number of the moment, which changes with each commit
    files         each path once, as last read; file 0 if nothing of it is stored
    documents     in the order of indexing; `tail` is the text after the last passage
    passages      each occurrence of a passage; joined, their texts are the document's
    found         each distinct passage once: its packed terms, how often each word occurs in it, its vector
    frequencies   how many distinct passages contain each word

A *word* is one of our terms in 64 bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib import resources
from typing import Any, NamedTuple

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from toulmin.errors import SourceError
from toulmin.runtime.encoder import Vectors
from toulmin.stores.contents import About, read_about
from toulmin.stores.postgres_connection import Connection, Place, not_allowed

FORMAT = 3  # raise it when the tables, the packing of terms or the weight of titles change
_MOST = 2**15 - 1  # the largest count a smallint holds; more occurrences add next to nothing to a score
# The most dimensions pgvector can index; beyond them every vector is scanned.
_INDEXED = {"vector": 2000, "halfvec": 4000}

_OURS = (
    "SELECT 1 FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace"
    " WHERE n.nspname = %s AND c.relname LIKE %s LIMIT 1"
)
KIND = (
    "SELECT n.nspname, t.typname FROM pg_catalog.pg_attribute AS a"
    " JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace"
    " WHERE a.attrelid = to_regclass('found') AND a.attname = 'vector' AND NOT a.attisdropped"
)


@lru_cache(maxsize=1)
def statements() -> dict[str, bytes]:
    """The sections of `postgres.sql`, by name."""
    text = resources.files("toulmin.stores").joinpath("postgres.sql").read_bytes()
    sections = (section.partition(b"\n") for section in text.split(b"\n-- ")[1:])
    return {name.decode(): statement for name, _, statement in sections}


class Kind(NamedTuple):
    """The pgvector type of the vectors."""

    schema: str
    name: str

    @property
    def type(self) -> sql.Composable:
        return sql.Identifier(self.schema, self.name)

    @property
    def operator(self) -> sql.Composable:
        """The negative inner product."""
        return sql.SQL("OPERATOR({}.<#>)").format(sql.Identifier(self.schema))


class WordCounts(NamedTuple):
    """The distinct words of a passage, ascending."""

    words: list[int]
    counts: list[int]


@lru_cache(maxsize=200_000)
def word(term: str) -> int:
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def count_words(terms: Sequence[str]) -> WordCounts:
    counts = Counter(map(word, terms))
    words = sorted(counts)
    return WordCounts(words, [min(counts[code], _MOST) for code in words])


def about(connection: Connection, place: Place) -> About | None:
    """None without a corpus. Raises `IndexDamaged` for another version, `SourceError` for another program's schema or
    missing permissions.
    """
    written = _of_about(connection, place, "made")
    return None if written is None else read_about(written, FORMAT, place)


def moment(connection: Connection, place: Place) -> int | None:
    """None without a corpus; raises as `about` does."""
    number: int | None = _of_about(connection, place, "moment")
    return number


def _of_about(connection: Connection, place: Place, column: str) -> Any:
    # Not `to_regclass`: a writer that has just waited for the creator of the tables would not see them by it.
    if connection.execute(_OURS, (place.schema, "about")).fetchone() is None:
        return None
    try:
        row = connection.execute(f"SELECT {column} FROM about".encode()).fetchone()
    except psycopg.errors.UndefinedTable:  # names in a schema without USAGE count as missing
        raise not_allowed(place) from None
    except psycopg.errors.UndefinedColumn:
        raise foreign(place) from None
    return None if row is None else row[0]


def foreign(place: Place) -> SourceError:
    return SourceError(f"The tables in {place} belong to another program; name another corpus.")


def make(connection: Connection, place: Place, made: About, kind: Kind | None) -> None:
    """Creates an empty corpus in the open transaction. Raises `SourceError` for another program's schema."""
    schemas = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %s"
    if connection.execute(schemas, (place.schema,)).fetchone() is None:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(place.schema)))
    elif connection.execute(_OURS, (place.schema, "%")).fetchone():
        raise foreign(place)
    connection.execute(statements()["tables"])
    if made.label is not None and kind is not None:
        size = sql.Literal(made.label.dimension)
        connection.execute(sql.SQL("ALTER TABLE found ADD COLUMN vector {}({})").format(kind.type, size))
    connection.execute("INSERT INTO about VALUES (%s, 0, 0, 0)", (Jsonb(made.as_json(FORMAT)),))


def make_indexes(connection: Connection, made: About, kind: Kind | None) -> None:
    connection.execute(statements()["indexes"])
    if made.label is None or kind is None or made.label.dimension > _INDEXED[kind.name]:
        return
    operators = sql.Identifier(kind.schema, f"{kind.name}_ip_ops")
    statement = sql.SQL("CREATE INDEX found_vector ON found USING hnsw (vector {})")
    connection.execute(statement.format(operators))


def array_text(numbers: Sequence[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


def vector_text(row: Vectors) -> str:
    return "[" + ",".join(map(repr, row.tolist())) + "]"


def kind_of_vectors(connection: Connection, place: Place) -> Kind:
    """The vector type of the corpus or of a new one: half precision if available.

    Adds the extension to the database. Raises `SourceError` if the server lacks it or the user may not add it.
    """
    if existing := connection.execute(KIND).fetchone():
        return Kind(*existing)
    if connection.execute("SELECT 1 FROM pg_catalog.pg_available_extensions WHERE name = 'vector'").fetchone() is None:
        raise SourceError(
            f"The server of {place} has no extension `vector`, which keeps an encoder's vectors. Install pgvector"
            " there (such as Debian's postgresql-17-pgvector), or leave out --encoder and search by words."
        )
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
    except psycopg.errors.InsufficientPrivilege:
        raise SourceError(
            f"The extension `vector` is not in the database {place.database!r} yet, and the user of this connection may"
            f" not add it; have an administrator run there: CREATE EXTENSION vector"
        ) from None
    kinds = connection.execute(
        "SELECT n.nspname, t.typname FROM pg_catalog.pg_extension AS e"
        " JOIN pg_catalog.pg_type AS t ON t.typnamespace = e.extnamespace"
        " JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace"
        " WHERE e.extname = 'vector' AND t.typname IN ('halfvec', 'vector') ORDER BY t.typname LIMIT 1"
    ).fetchone()
    assert kinds is not None, "the extension has its type"
    return Kind(*kinds)
