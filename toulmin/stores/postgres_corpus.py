"""A PostgreSQL corpus open for reading: one moment, whatever others write meanwhile.

PostgreSQL finds candidates; scores are ours, exact from what is stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
import psycopg
from psycopg import sql

from toulmin.data import Document, Passage
from toulmin.errors import StoreAway
from toulmin.indexing.catalogue import close_on_error, id_of, keys_of
from toulmin.indexing.codes import findable
from toulmin.indexing.corpus import IndexedDocument, Neighbours, Stats
from toulmin.indexing.lexicon import idf
from toulmin.indexing.packed_vectors import CANDIDATES, best
from toulmin.indexing.vector_files import Label
from toulmin.retrieval.bm25 import K1, B
from toulmin.runtime.encoder import Vectors
from toulmin.stores import postgres_tables
from toulmin.stores.contents import COLUMNS, FileRow, StoredCorpus, no_corpus, read_about, whole_document
from toulmin.stores.postgres_connection import Connection, Place, connect, place_of, read_once, retry
from toulmin.stores.postgres_tables import Kind, array_text, count_words, moment, word

_PAGE = 200  # documents that are read at once
# pgvector's hnsw.ef_search: the least we use, and the most it allows. At 400 it found 0.998 of the nearest ten among
# 5,000 passages in 7 ms, at 100 0.96 in 4 ms.
_WIDTH = (400, 1000)
_PASSAGE = (
    "SELECT p.key, d.title, p.text, p.lead, p.start, d.path, d.url, d.record, p.page, p.section,"
    " d.metadata FROM passages AS p JOIN documents AS d ON d.number = p.document"
)
_DOCUMENT = "SELECT number, title, path, url, record, pages, headings, passages, metadata FROM documents"
_TEXT = (
    "coalesce((SELECT string_agg(p.text, '' ORDER BY p.number) FROM passages AS p WHERE p.document = d.number), '')"
    " || d.tail"
)
# Twice the documents of a limited search; the empty list is no limit, which the planner knows before it begins.
_AMONG = "(%s::bigint[] = '{{}}' OR key IN (SELECT key FROM passages WHERE document = ANY(%s::bigint[])))"
Statement = str | sql.Composed
Row = tuple[Any, ...]


# ---------------------------------------------------------------- a transaction that sees one moment


class Moment:
    """A read-only transaction, held open; thread-safe. A lost connection is replaced if the corpus is unchanged."""

    def __init__(self, place: Place) -> None:
        """Raises `SourceError` if there is no corpus or no server."""
        self._place, self._lock = place, RLock()
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
            return retry(self._place, lambda: self._ask_once(statement, values, first))

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
        with close_on_error(connect(self._place)) as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            number = moment(connection, self._place)
            if number is None:
                raise no_corpus(self._place)
            if self.number not in (None, number):
                raise StoreAway(
                    f"The connection to {self._place} was lost, and the corpus was changed meanwhile; ask again to see"
                    " it as it is now."
                )
        self._connection, self.number = connection, number
        return connection

    def now(self) -> int | None:
        """The newest moment; None without a corpus."""
        return read_once(self._place, moment)

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._let_go()


# ---------------------------------------------------------------- which passages could be best by words


_ENOUGH = 1000  # passages looked at in the first search

# A word that occurs c times adds idf * c / (c + damping), which is less than its idf. `width_bucket` is PostgreSQL's
# only binary search in a sorted array.
_WEIGHT = sql.SQL(
    "%s::float8 * (1 - damping / (damping + CASE WHEN words[width_bucket(%s::bigint, words)] = %s::bigint"
    " THEN counts[width_bucket(%s::bigint, words)] ELSE 0 END))"
)
_STATEMENT = sql.SQL(
    "SELECT key, codes, {weight} AS score FROM found,"
    " LATERAL (SELECT %s::float8 + %s::float8 * length / %s::float8 AS damping) AS weighing"
    f" WHERE words && %s::bigint[] AND {_AMONG} ORDER BY score DESC, key LIMIT %s"
)


class QueryWord(NamedTuple):
    """`idf` is the most the word adds to a score."""

    word: int
    idf: float


def rarest_first(terms: Sequence[str], frequencies: Sequence[int], passages: int) -> list[QueryWord]:
    """The words that occur in the corpus, the rarest first."""
    known = ((term, frequency) for term, frequency in zip(terms, frequencies, strict=True) if frequency)
    weighed = (QueryWord(word(term), idf(frequency, passages)) for term, frequency in known)
    return sorted(weighed, key=lambda query_word: (-query_word.idf, query_word.word))


# ---------------------------------------------------------------- the corpus


def open_postgres(place: str) -> PostgresCorpus:
    """Raises SourceError if there is none or it cannot be reached, IndexDamaged for another version."""
    return PostgresCorpus(place)


def label_of(place: str) -> Label | None:
    """None without vectors or corpus."""
    about = read_once(place_of(place), postgres_tables.about)
    return about.label if about else None


class PostgresCorpus(StoredCorpus):
    """One moment of a corpus in PostgreSQL; thread-safe, one request at a time."""

    _searched: Sequence[int] = []  # documents of a limited search

    def __init__(self, place: str) -> None:
        where = place_of(place)
        self.folder = str(where)
        self._moment = Moment(where)
        self.opened_at = self._moment.number
        with close_on_error(self):
            made, self.distinct, self.terms = self._ask("SELECT made, passages, terms FROM about")[0]
            self._about = read_about(made, postgres_tables.FORMAT, where)
            self._take(FileRow(*row) for row in self._ask(f"SELECT {', '.join(COLUMNS)} FROM files"))
            self.vectors = None if self._about.label is None else PostgresVectors(self._moment, self._about.label)

    def _ask(self, statement: str, *values: Any) -> list[Row]:
        return self._moment.ask(statement, values)

    def _restrict(self, documents: Sequence[IndexedDocument]) -> None:
        self._searched = [document.number for document in documents]
        if self._about.label is not None:
            self.vectors = PostgresVectors(self._moment, self._about.label, self._searched)

    # ------------------------------------------------------------ search

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        words = [word(term) for term in terms]
        counts: dict[int, int] = dict(
            self._ask("SELECT word, passages FROM frequencies WHERE word = ANY(%s::bigint[])", words)
        )
        return [counts.get(code, 0) for code in words]

    def candidates(self, query_terms: Sequence[str], limit: int, *, every: bool = False) -> list[tuple[int, bytes]]:
        """The rarest words find passages, and BM25 weighs them.

        If the common words could add more than the score that enough passages already have, more words are looked up.
        So the first half of the candidates is exact.
        """
        frequencies = self.frequencies(query_terms)
        words = rarest_first(query_terms, frequencies, len(self))
        if not words:
            return []
        totals = accumulate(sorted(filter(None, frequencies)))
        by_these = next((n for n, total in enumerate(totals, 1) if total >= _ENOUGH), len(words))
        rows = self._rows_holding(words, by_these, limit)
        half = max(1, limit // 2)
        least = rows[half - 1][2] if len(rows) >= half else 0.0
        needed = next(n for n in range(len(words) + 1) if sum(query_word.idf for query_word in words[n:]) <= least)
        if needed > by_these:
            rows = self._rows_holding(words, needed, limit)
        return [(key, codes) for key, codes, _ in rows]

    def _rows_holding(self, words: Sequence[QueryWord], first: int, limit: int) -> list[Row]:
        """Keys, packed terms and scores, best first: looks up by the first words, scores by all."""
        weight = sql.SQL(" + ").join([_WEIGHT] * len(words))
        weighing = [value for code, idf_ in words for value in (idf_, code, code, code)]
        damping = (K1 * (1 - B), K1 * B, self.average_terms)
        among = [query_word.word for query_word in words[:first]]
        values = (*weighing, *damping, among, self._searched, self._searched, limit)
        return self._moment.ask(_STATEMENT.format(weight=weight), values)

    # ------------------------------------------------------------ passages

    def passages_by_id(self, passage_ids: Sequence[str]) -> Mapping[str, Passage]:
        # The first one stays, if possible of the documents that are searched.
        order = "ORDER BY p.document = ANY(%s::bigint[]), p.document DESC, p.number DESC"
        where = f"WHERE p.key = ANY(%s::bigint[]) {order}"
        rows = self._ask(f"{_PASSAGE} {where}", keys_of(passage_ids), self._searched)
        return {id_of(row[0]): self._passage(row) for row in rows}

    def _passage(self, row: Row) -> Passage:
        return self.passage_from(*row[:-1], self.digest_of(row[5]), row[-1])

    def _place(self, passage_id: str) -> Row:
        self.passage(passage_id)
        where = "WHERE key = ANY(%s::bigint[]) ORDER BY document <> ALL(%s::bigint[]), document, number LIMIT 1"
        return self._ask(f"SELECT document, number FROM passages {where}", keys_of([passage_id]), self._searched)[0]

    def neighbours(self, passage_id: str) -> Neighbours:
        document, number = self._place(passage_id)
        return Neighbours(self._at(document, number - 1), self._at(document, number + 1))

    def _at(self, document: int, number: int) -> Passage | None:
        rows = self._ask(f"{_PASSAGE} WHERE p.document = %s AND p.number = %s", document, number)
        return self._passage(rows[0]) if rows else None

    def every_passage(self) -> Iterator[Passage]:
        """In the order of indexing, each with its first source."""
        is_first = (
            "NOT EXISTS (SELECT FROM passages AS q WHERE q.key = p.key"
            " AND (q.document, q.number) < (p.document, p.number))"
        )
        for numbers in self._pages():
            where = f"WHERE p.document = ANY(%s::bigint[]) AND {is_first} ORDER BY p.document, p.number"
            yield from map(self._passage, self._ask(f"{_PASSAGE} {where}", numbers))

    def _pages(self) -> Iterator[list[int]]:
        """All document numbers, some at a time."""
        numbers = [0]
        after = f"SELECT number FROM documents WHERE number > %s ORDER BY number LIMIT {_PAGE}"
        while numbers := [number for (number,) in self._ask(after, numbers[-1])]:
            yield numbers

    # ------------------------------------------------------------ documents

    def documents(self) -> Iterator[IndexedDocument]:
        for numbers in self._pages():
            rows = self._ask(f"{_DOCUMENT} WHERE number = ANY(%s::bigint[]) ORDER BY number", numbers)
            yield from map(self._document, rows)

    def document_of(self, passage_id: str) -> IndexedDocument:
        document, _ = self._place(passage_id)
        return self._document(self._ask(f"{_DOCUMENT} WHERE number = %s", document)[0])

    def _document(self, row: Row) -> IndexedDocument:
        return IndexedDocument.of(row, self.digest_of(row[2]))

    def passages_of(self, document: IndexedDocument) -> list[Passage]:
        rows = self._ask(f"{_PASSAGE} WHERE p.document = %s ORDER BY p.number", document.number)
        return list(map(self._passage, rows))

    def text(self, document: IndexedDocument) -> str:
        rows = self._ask(f"SELECT {_TEXT} FROM documents AS d WHERE d.number = %s", document.number)
        if not rows:
            raise self.unknown_document(document.number)
        return str(rows[0][0])

    def whole_documents(self) -> Iterator[tuple[FileRow, list[Document]]]:
        columns = f"{_TEXT}, d.title, d.path, d.url, d.record, d.metadata, d.pages, d.headings"
        for _, file in sorted(self.files.items()):
            if file.file:
                rows = self._ask(f"SELECT {columns} FROM documents AS d WHERE d.file = %s ORDER BY d.place", file.file)
                yield file, [whole_document(*row) for row in rows]

    @property
    def stats(self) -> Stats:
        ((documents,),) = self._ask("SELECT count(*) FROM documents")
        files = sum(1 for row in self.files.values() if row.file)
        return Stats(files, documents, self.distinct, self.terms, self.passage_words)

    # ------------------------------------------------------------ verifying and closing

    def verify(self) -> None:
        for numbers in self._pages():
            statement = _PASSAGE.replace("SELECT", "SELECT f.codes, f.words::text, f.counts::text,", 1)
            where = "LEFT JOIN found AS f ON f.key = p.key WHERE p.document = ANY(%s::bigint[])"
            for codes, words, counts, *row in self._ask(f"{statement} {where}", numbers):
                found_by = findable(self._passage(tuple(row)))
                expected = map(array_text, count_words(found_by.terms.split()))
                if (codes, words, counts) != (found_by.packed, *expected):
                    raise self.damage_error(f"the terms of passage {id_of(row[0])} are not those of its text")
        ((indexed, terms),) = self._ask("SELECT count(*), coalesce(sum(length), 0) FROM found")
        ((placed,),) = self._ask("SELECT count(DISTINCT key) FROM passages")
        if not indexed == placed == self.distinct or terms != self.terms:
            counts = f"{self.distinct} passages are counted, {indexed} can be found, {placed} be read"
            raise self.damage_error(counts)
        ((wrong,),) = self._ask(
            "SELECT count(*) FROM frequencies AS kept FULL JOIN"
            " (SELECT word, count(*) AS passages FROM found, unnest(words) AS word GROUP BY word) AS now USING (word)"
            " WHERE kept.passages IS DISTINCT FROM now.passages"
        )
        if wrong:
            raise self.damage_error(f"the frequencies of {wrong} words are not those of its passages")

    def stamp(self) -> object:
        """The newest moment, perhaps newer than this corpus."""
        return self._moment.now()

    def close(self) -> None:
        self._moment.close()


class PostgresVectors:
    """pgvector finds candidates; inner products are computed here."""

    is_scanned = False

    def __init__(self, moment: Moment, label: Label, searched: Sequence[int] = ()) -> None:
        self.label = label
        self._moment, self._searched = moment, list(searched)
        self._kind = Kind(*moment.ask(postgres_tables.KIND)[0])

    def rank(self, rows: Vectors, k: int) -> list[list[tuple[str, float]]]:
        return [self._best(row, k) for row in rows]

    def _best(self, row: Vectors, k: int) -> list[tuple[str, float]]:
        limit = CANDIDATES * k
        width = max(_WIDTH[0], min(_WIDTH[1], limit))
        # The index of vectors knows no limit; an order that is not quite its own compares all that may be found.
        order = sql.SQL("+ 0" if self._searched else "")
        listed = f"SELECT key, vector::text FROM found WHERE {_AMONG} ORDER BY"
        nearest = sql.SQL(listed + " (vector {} %s::{}) {} LIMIT %s")
        rows = self._moment.ask(
            nearest.format(self._kind.operator, self._kind.type, order),
            (self._searched, self._searched, postgres_tables.vector_text(row), limit),
            first=f"SET LOCAL hnsw.ef_search = {width}",
        )
        if not rows:
            return []
        keys = np.array([key for key, _ in rows], np.int64)
        vectors = np.array([json.loads(text) for _, text in rows], np.float32)
        return best(keys, vectors @ row.astype(np.float32), k)
