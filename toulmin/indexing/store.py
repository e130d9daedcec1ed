"""Reading an index on disk; `indexing.update` writes it.

A `Corpus` sees one moment; open the index again to see a later update. Every passage is compared with its content
id, so a damaged file cannot put words into a source's mouth.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from threading import Lock, local
from typing import Any, NamedTuple

from toulmin.data import Passage, Source, content_id
from toulmin.documents.loaders import Skipped
from toulmin.errors import IndexDamaged, SourceError, ToulminError
from toulmin.indexing import catalogue
from toulmin.indexing.catalogue import FILE, State, clear_errors, damage_error, id_of, key_of, text_of
from toulmin.indexing.lexicon import Lexicon, digests, findable
from toulmin.indexing.vector_files import Label, Stored, current_vectors, keys_in

# ---------------------------------------------------------------- looking up packed terms by many keys


try:
    from resource import RUSAGE_THREAD, getrusage
except ImportError:  # only Linux counts per thread

    def _blocks_read() -> int:
        """Disk blocks this thread has waited for."""
        return 0
else:

    def _blocks_read() -> int:
        """Disk blocks this thread has waited for."""
        return getrusage(RUSAGE_THREAD).ru_inblock


_ABREAST = 4  # more gained nothing for the hundred candidates of a shard
_TRIED = 10  # keys looked up first, to see whether the disk is read
_CHUNK = 500  # ids per statement; SQLite allows some thousands


class Lookups:
    """Looks up packed terms; thread-safe. The caller closes `first`.

    A file that is not in memory is read over several connections, as a disk serves several reads in the time of
    one.
    """

    def __init__(self, index: Path, first: sqlite3.Connection, state: State) -> None:
        self._index = index
        self._first = first
        self._state = state
        self._threads = ThreadPoolExecutor(_ABREAST, "lookup")  # threads start on demand
        self._own = local()
        self._opened: list[sqlite3.Connection] = []
        self._lock = Lock()

    def codes(self, keys: Sequence[int]) -> dict[int, bytes]:
        """The packed terms of existing passages by key; raises SQLite's errors."""
        tried, others = keys[:_TRIED], keys[_TRIED:]
        before = _blocks_read()
        codes_by_key = dict(_rows(self._first, tried))
        if _blocks_read() == before:
            codes_by_key.update(_rows(self._first, others))
        else:
            parts = self._threads.map(self._codes, (others[part::_ABREAST] for part in range(_ABREAST)))
            codes_by_key.update(chain.from_iterable(parts))
        return codes_by_key

    def _codes(self, keys: Sequence[int]) -> list[tuple[int, bytes]]:
        if not hasattr(self._own, "connection"):
            self._own.connection = self._another() or self._first
        return list(_rows(self._own.connection, keys))

    def _another(self) -> sqlite3.Connection | None:
        """A connection that sees the same moment, or None."""
        try:
            connection = catalogue.open_for_reading(self._index)
        except ToulminError:
            return None
        if not self._is_of_this_moment(connection):
            connection.close()
            return None
        with self._lock:
            self._opened.append(connection)
        return connection

    def _is_of_this_moment(self, connection: sqlite3.Connection) -> bool:
        try:
            connection.execute("BEGIN")
            return catalogue.usable_state(connection) == self._state
        except sqlite3.Error:
            return False

    def close(self) -> None:
        self._threads.shutdown()
        for connection in self._opened:
            connection.close()


def _rows(connection: sqlite3.Connection, keys: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    for some in chunks(keys):
        yield from connection.execute(f"SELECT key, codes FROM passages WHERE {among(some)}", some)


def chunks(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    """The keys in groups that fit into one statement."""
    for start in range(0, len(keys), _CHUNK):
        yield keys[start : start + _CHUNK]


def among(keys: Sequence[int]) -> str:
    return f"key IN ({', '.join('?' * len(keys))})"


# ---------------------------------------------------------------- store


_PASSAGE = (
    "SELECT p.key, d.title, p.text, p.lead, p.start, f.path, d.url, d.record, p.page FROM passages AS p"
    " JOIN documents AS d ON d.number = p.document JOIN files AS f ON f.number = d.file"
)
_DOCUMENT = (
    "SELECT d.number, d.title, f.path, d.url, d.record, d.pages,"
    " (SELECT count(*) FROM passages AS p WHERE p.document = d.number)"
    " FROM documents AS d JOIN files AS f ON f.number = d.file"
)


class Neighbours(NamedTuple):
    before: Passage | None
    after: Passage | None


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document without its text; `number` is valid within this index only."""

    number: int
    title: str
    path: str | None
    url: str | None
    record: str | None
    pages: tuple[int, ...]
    passages: int


@dataclass(frozen=True, slots=True)
class Stats:
    """What an index holds: `passages` and `terms` count each distinct passage once, with weighted titles."""

    files: int
    documents: int
    passages: int
    terms: int
    passage_words: int


def is_index(folder: Path) -> bool:
    return (folder / FILE).is_file()


def label_of(index: Path) -> Label | None:
    """The encoder of the vectors; None without vectors or index. Raises SourceError for an unreadable index."""
    if not is_index(index):
        return None
    connection = catalogue.open_for_reading(index)
    try:
        with clear_errors(index):
            named = current_vectors(connection)
        return named.label if named else None
    finally:
        connection.close()


def open_index(index: Path) -> Corpus:
    """Opens an index in milliseconds, also during an update.

    Raises SourceError if there is none, IndexDamaged for a broken one or another version.
    """
    connection = catalogue.open_for_reading(index)
    try:
        with clear_errors(index):
            return _snapshot(index, connection)
    except BaseException:
        connection.close()
        raise


def _snapshot(index: Path, connection: sqlite3.Connection) -> Corpus:
    """Opens both halves at one moment; starts over if an update replaces the second meanwhile.

    An update deletes a generation only after naming another, so a bad one that is still named is damaged.
    """
    bad: tuple[int, str | None] | None = None
    while True:
        connection.execute("BEGIN")
        state = catalogue.read_state(connection, index)
        named = current_vectors(connection)
        try:
            vectors = Stored(index, named) if named else None
            return Corpus(index, connection, state, Lexicon(index, state.generation), vectors)
        except IndexDamaged:
            if bad == (now := (state.generation, named.folder if named else None)):
                raise
            bad = now
            connection.execute("ROLLBACK")


class Corpus:
    """An index open for reading; thread-safe. Close it, or use it in a `with`."""

    def __init__(
        self, index: Path, connection: sqlite3.Connection, state: State, lexicon: Lexicon, vectors: Stored | None
    ) -> None:
        self.folder = index
        self._sql = connection
        self._lookups = Lookups(index, connection, state)
        self._state = state
        self.lexicon = lexicon
        self.vectors = vectors
        if lexicon.passages != state.passages:
            raise damage_error(index, f"{state.passages} passages are stored, {lexicon.passages} can be found")
        if vectors is not None and len(vectors.packed.keys) != state.passages:
            raise damage_error(index, f"{state.passages} passages are stored, {len(vectors.packed.keys)} have vectors")

    @property
    def updates(self) -> int:
        return self._state.updates

    def passage(self, passage_id: str) -> Passage:
        return self.passages([passage_id])[0]

    def passages(self, passage_ids: Sequence[str]) -> list[Passage]:
        return in_order(self.passages_by_id(passage_ids), passage_ids, self.folder)

    def neighbours(self, passage_id: str) -> Neighbours:
        key = key_of(self.passage(passage_id).id)
        with clear_errors(self.folder):
            place = "SELECT number, document FROM passages WHERE key = ? ORDER BY number LIMIT 1"
            number, document = self._sql.execute(place, (key,)).fetchone()
        before = "WHERE p.document = ? AND p.number < ? ORDER BY p.number DESC LIMIT 1"
        after = "WHERE p.document = ? AND p.number > ? ORDER BY p.number LIMIT 1"
        return Neighbours(self._first(before, document, number), self._first(after, document, number))

    def documents(self) -> Iterator[IndexedDocument]:
        """Every document, in the order of indexing."""
        with clear_errors(self.folder):
            for row in self._sql.execute(f"{_DOCUMENT} ORDER BY d.number"):
                yield _document(row)

    def skipped(self) -> list[Skipped]:
        with clear_errors(self.folder):
            return [Skipped(*row) for row in self._sql.execute("SELECT path, reason FROM skipped ORDER BY path")]

    def every_passage(self) -> Iterator[Passage]:
        """Every distinct passage, in the order of indexing, with its first source."""
        seen: set[int] = set()
        with clear_errors(self.folder):
            for row in self._sql.execute(f"{_PASSAGE} ORDER BY p.number"):
                if row[0] not in seen:
                    seen.add(row[0])
                    yield self._passage(row)

    def document_of(self, passage_id: str) -> IndexedDocument:
        key = key_of(self.passage(passage_id).id)
        where = "WHERE d.number = (SELECT document FROM passages WHERE key = ? ORDER BY number LIMIT 1)"
        with clear_errors(self.folder):
            return _document(self._sql.execute(f"{_DOCUMENT} {where}", (key,)).fetchone())

    def text(self, document: IndexedDocument) -> str:
        with clear_errors(self.folder):
            query = "SELECT text FROM passages WHERE document = ? ORDER BY number"
            pieces = [text_of(kept) for (kept,) in self._sql.execute(query, (document.number,))]
            row = self._sql.execute("SELECT tail FROM documents WHERE number = ?", (document.number,)).fetchone()
        if row is None:
            raise SourceError(f"There is no document {document.number} in {self.folder}; take one from `documents`.")
        return "".join([*pieces, row[0]])

    def verify(self) -> None:
        """Compares everything with what was written; takes seconds for 100,000 passages.

        Opening and searching notice most damage in passing; this notices all.
        """
        with clear_errors(self.folder):
            for (finding,) in self._sql.execute("PRAGMA integrity_check"):
                if finding != "ok":
                    raise damage_error(self.folder, finding)
            for codes, *row in self._sql.execute(_PASSAGE.replace("SELECT", "SELECT p.codes,", 1)):
                if findable(self._passage(row)).packed != codes:
                    raise damage_error(self.folder, f"the terms of passage {id_of(row[0])} are not those of its text")
            written = dict(self._sql.execute("SELECT name, digest FROM term_files"))
            if digests(self.folder, self._state.generation, {}) != written:
                raise damage_error(self.folder, "the files of the term index are not as they were written")
            if self.vectors is not None:
                self.vectors.verify(keys_in(self._sql))

    @property
    def stats(self) -> Stats:
        with clear_errors(self.folder):
            (files,) = self._sql.execute("SELECT count(*) FROM files").fetchone()
            (documents,) = self._sql.execute("SELECT count(*) FROM documents").fetchone()
        return Stats(files, documents, self._state.passages, self._state.terms, self._state.passage_words)

    @property
    def contents(self) -> str:
        with clear_errors(self.folder):
            rows = self._sql.execute("SELECT digest FROM files ORDER BY digest").fetchall()
        return hashlib.sha256(b"".join(digest for (digest,) in rows)).hexdigest()

    def __len__(self) -> int:
        return self._state.passages

    @property
    def terms(self) -> int:
        return self._state.terms

    @property
    def average_terms(self) -> float:
        return self._state.terms / max(1, self._state.passages)

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        return list(map(self.lexicon.frequency, terms))

    def candidates(self, query_terms: Sequence[str], limit: int) -> list[tuple[int, bytes]]:
        keys = [key for _, key in self.lexicon.candidates(dict.fromkeys(query_terms, 1.0), limit)]
        return list(zip(keys, self.codes(keys), strict=True))

    def stamp(self) -> object:
        files = (self.folder / name for name in (FILE, f"{FILE}-wal"))
        return [(status.st_mtime_ns, status.st_size) for file in files if file.exists() and (status := file.stat())]

    def notes(self) -> tuple[str, ...]:
        return ()

    def codes(self, keys: Sequence[int]) -> list[bytes]:
        """The packed terms of passages, in the order of the keys. Raises IndexDamaged."""
        with clear_errors(self.folder):
            codes_by_key = self._lookups.codes(keys)
        if len(codes_by_key) < len(set(keys)):
            raise damage_error(self.folder, "the term index names passages that are not stored")
        return [codes_by_key[key] for key in keys]

    def close(self) -> None:
        self._lookups.close()
        self._sql.close()
        self.lexicon.close()

    def __enter__(self) -> Corpus:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def passages_by_id(self, passage_ids: Iterable[str]) -> dict[str, Passage]:
        """The passages that exist, by id; each with its first indexed source."""
        keys = [key for key in map(_key_or_none, dict.fromkeys(passage_ids)) if key is not None]
        by_id: dict[str, Passage] = {}
        with clear_errors(self.folder):
            for chunk in chunks(keys):
                for row in self._sql.execute(f"{_PASSAGE} WHERE {among(chunk)} ORDER BY p.number", chunk):
                    if id_of(row[0]) not in by_id:
                        by_id[id_of(row[0])] = self._passage(row)
        return by_id

    def _first(self, where: str, *values: int) -> Passage | None:
        with clear_errors(self.folder):
            row = self._sql.execute(f"{_PASSAGE} {where}", values).fetchone()
        return self._passage(row) if row else None

    def _passage(self, row: Sequence[Any]) -> Passage:
        key, title, piece, lead, start, *place = row
        text = text_of(piece)[lead:]
        passage_id = id_of(key)
        if content_id(title, text) != passage_id:
            raise damage_error(self.folder, f"the text of passage {passage_id} is not what was indexed")
        return Passage(passage_id, title, text, Source(start, start + len(text), *place))


def in_order(by_id: Mapping[str, Passage], passage_ids: Sequence[str], place: Path | str) -> list[Passage]:
    """The passages in the order of the ids. Raises SourceError for one that is missing."""
    for passage_id in passage_ids:
        if passage_id not in by_id:
            raise SourceError(f"There is no passage {passage_id!r} in {place}; ids come from a search there.")
    return [by_id[passage_id] for passage_id in passage_ids]


def _document(row: Sequence[Any]) -> IndexedDocument:
    number, title, path, url, record, pages, passages = row
    return IndexedDocument(number, title, path, url, record, tuple(json.loads(pages)), passages)


def _key_or_none(passage_id: str) -> int | None:
    try:
        return key_of(passage_id)
    except ValueError:
        return None
