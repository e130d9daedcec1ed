"""Reads an index on disk; `indexing.update` writes it.

A `Corpus` sees one moment; open the index again to see a later update. Every passage is compared with its content
id, so a damaged file cannot change a source's words.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from toulmin.data import Passage
from toulmin.errors import IndexDamaged
from toulmin.indexing import catalogue
from toulmin.indexing.catalogue import FILE, Part, State, among, clear_errors, close_on_error, id_of, key_of, keys_of
from toulmin.indexing.codes import findable
from toulmin.indexing.corpus import AnyCorpus, IndexedDocument, Neighbours, Stats
from toulmin.indexing.lexicon import Lexicon, digests
from toulmin.indexing.vector_files import Label, VectorStore, current_vectors, keys_in
from toulmin.text.language import chunks

if TYPE_CHECKING:
    from toulmin.documents.loaders import SkippedFile

_CHUNK = 500  # ids per statement; SQLite allows some thousands
_PASSAGE = (
    "SELECT p.key, d.title, p.text, p.lead, p.start, f.path, d.url, d.record, p.page, p.section, f.digest,"
    " d.metadata FROM passages AS p"
    " JOIN documents AS d ON d.number = p.document JOIN files AS f ON f.number = d.file"
)
_LISTED = "(SELECT value FROM json_each(?))"
_DOCUMENT = (
    "SELECT d.number, d.title, f.path, d.url, d.record, d.pages, d.headings,"
    " (SELECT count(*) FROM passages AS p WHERE p.document = d.number), d.metadata, f.digest"
    " FROM documents AS d JOIN files AS f ON f.number = d.file"
)


def _document(row: Sequence[Any]) -> IndexedDocument:
    *fields, digest = row
    return IndexedDocument.of(fields, digest.hex())


# ---------------------------------------------------------------- an index, open for reading


def is_index(folder: Path) -> bool:
    return (folder / FILE).is_file()


def label_of(index: Path) -> Label | None:
    """None without vectors or index. Raises SourceError for an unreadable index."""
    if not is_index(index):
        return None
    with closing(catalogue.open_for_reading(index)) as connection, clear_errors(index):
        named = current_vectors(connection)
    return named.label if named else None


def open_index(index: Path) -> Corpus:
    """Opens an index, also during an update.

    Raises SourceError if there is none, IndexDamaged for a broken one or another version.
    """
    with close_on_error(catalogue.open_for_reading(index)) as connection, clear_errors(index):
        # Both halves are opened at one moment; this starts over if an update replaces the second meanwhile. An update
        # deletes a generation only after naming another, so a bad one that is still named is damaged.
        bad: tuple[int, str | None] | None = None
        while True:
            opened_at = _stamp(index)  # from before: what is written meanwhile may not be seen
            connection.execute("BEGIN")
            state = catalogue.read_state(connection, index)
            named = current_vectors(connection)
            try:
                vectors = VectorStore(index, named) if named else None
                part = catalogue.part_of(connection)
                return Corpus(index, connection, state, Lexicon(index, state.generation), vectors, part, opened_at)
            except IndexDamaged:
                if bad == (now := (state.generation, named.folder if named else None)):
                    raise
                bad = now
                connection.execute("ROLLBACK")


def _stamp(index: Path) -> list[tuple[int, int]]:
    statuses = (file.stat() for name in (FILE, f"{FILE}-wal") if (file := index / name).exists())
    return [(status.st_mtime_ns, status.st_size) for status in statuses if status.st_size]  # to read makes an empty log


class Corpus(AnyCorpus):
    """An index open for reading; thread-safe."""

    folder: Path
    vectors: VectorStore | None
    _among: Any = None  # the passages of a limited search

    def __init__(
        self,
        index: Path,
        connection: sqlite3.Connection,
        state: State,
        lexicon: Lexicon,
        vectors: VectorStore | None,
        part: Part | None,
        opened_at: list[tuple[int, int]],
    ) -> None:
        self.folder = index
        self.part, self.opened_at = part, opened_at
        seconds = max(time for time, _ in opened_at) / 1e9
        self.written_at = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
        self._sql = connection
        self._state = state
        self.distinct, self.terms = state.passages, state.terms
        self.lexicon = lexicon
        self.vectors = vectors
        self._searched = "[]"  # documents of a limited search, as JSON
        if lexicon.passages != state.passages:
            raise self.damage_error(f"{len(self)} passages are stored, {lexicon.passages} can be found")
        if vectors is not None and len(vectors.packed.keys) != state.passages:
            raise self.damage_error(f"{len(self)} passages are stored, {len(vectors.packed.keys)} have vectors")

    # ------------------------------------------------------------ passages, documents and files

    def passages_by_id(self, passage_ids: Sequence[str]) -> dict[str, Passage]:
        by_id: dict[str, Passage] = {}
        with clear_errors(self.folder):
            for chunk in chunks(keys_of(passage_ids), _CHUNK):
                order = f"ORDER BY p.document NOT IN {_LISTED}, p.number"
                for row in self._sql.execute(f"{_PASSAGE} WHERE {among(chunk)} {order}", (*chunk, self._searched)):
                    if id_of(row[0]) not in by_id:
                        by_id[id_of(row[0])] = self._passage(row)
        return by_id

    def _first(self, where: str, *values: int) -> Passage | None:
        with clear_errors(self.folder):
            row = self._sql.execute(f"{_PASSAGE} {where}", values).fetchone()
        return self._passage(row) if row else None

    def _passage(self, row: Sequence[Any]) -> Passage:
        key, title, piece, *rest, digest, metadata = row
        return self.passage_from(key, title, catalogue.text_of(piece), *rest, digest.hex(), metadata)

    def _place(self, passage_id: str) -> tuple[int, int]:
        """Its first number, and that of its document."""
        order = f"ORDER BY document NOT IN {_LISTED}, number"
        query = f"SELECT number, document FROM passages WHERE key = ? {order} LIMIT 1"
        key = key_of(self.passage(passage_id).id)
        with clear_errors(self.folder):
            number, document = self._sql.execute(query, (key, self._searched)).fetchone()
        return number, document

    def neighbours(self, passage_id: str) -> Neighbours:
        number, document = self._place(passage_id)
        before = "WHERE p.document = ? AND p.number < ? ORDER BY p.number DESC LIMIT 1"
        after = "WHERE p.document = ? AND p.number > ? ORDER BY p.number LIMIT 1"
        return Neighbours(self._first(before, document, number), self._first(after, document, number))

    def documents(self) -> Iterator[IndexedDocument]:
        with clear_errors(self.folder):
            for row in self._sql.execute(f"{_DOCUMENT} ORDER BY d.number"):
                yield _document(row)

    def document(self, number: int) -> IndexedDocument:
        with clear_errors(self.folder):
            row = self._sql.execute(f"{_DOCUMENT} WHERE d.number = ?", (number,)).fetchone()
        if row is None:
            raise self.unknown_document(number)
        return _document(row)

    def skipped(self) -> list[SkippedFile]:
        from toulmin.documents.loaders import SkippedFile

        with clear_errors(self.folder):
            return [SkippedFile(*row) for row in self._sql.execute("SELECT path, reason FROM skipped ORDER BY path")]

    def every_passage(self) -> Iterator[Passage]:
        """In the order of indexing, each with its first source."""
        seen: set[int] = set()
        with clear_errors(self.folder):
            for row in self._sql.execute(f"{_PASSAGE} ORDER BY p.number"):
                if row[0] not in seen:
                    seen.add(row[0])
                    yield self._passage(row)

    def passages_of(self, document: IndexedDocument) -> list[Passage]:
        with clear_errors(self.folder):
            rows = self._sql.execute(f"{_PASSAGE} WHERE p.document = ? ORDER BY p.number", (document.number,))
            return list(map(self._passage, rows))

    def document_of(self, passage_id: str) -> IndexedDocument:
        return self.document(self._place(passage_id)[1])

    def text(self, document: IndexedDocument) -> str:
        with clear_errors(self.folder):
            query = "SELECT text FROM passages WHERE document = ? ORDER BY number"
            pieces = [catalogue.text_of(kept) for (kept,) in self._sql.execute(query, (document.number,))]
            row = self._sql.execute("SELECT tail FROM documents WHERE number = ?", (document.number,)).fetchone()
        if row is None:
            raise self.unknown_document(document.number)
        return "".join([*pieces, row[0]])

    def digest_of(self, path: str) -> str:
        with clear_errors(self.folder):
            row = self._sql.execute("SELECT digest FROM files WHERE path = ?", (path,)).fetchone()
        return row[0].hex() if row else ""

    def change_of(self, path: str) -> str | None:
        # Hashed where the time differs; an index may be on another machine than its files.
        with clear_errors(self.folder):
            row = self._sql.execute("SELECT size, mtime_ns, digest FROM files WHERE path = ?", (path,)).fetchone()
        try:
            now = os.stat(path)
            is_same = (
                row is None or row[:2] == (now.st_size, now.st_mtime_ns) or catalogue.sha256_of(Path(path)) == row[2]
            )
        except OSError:
            return "is gone" if Path(path).parent.is_dir() else None
        return None if is_same else "was changed"

    def verify(self) -> None:
        """Takes seconds for 100,000 passages. Opening and searching notice most damage in passing; this notices all."""
        with clear_errors(self.folder):
            for (finding,) in self._sql.execute("PRAGMA integrity_check"):
                if finding != "ok":
                    raise self.damage_error(finding)
            for codes, *row in self._sql.execute(_PASSAGE.replace("SELECT", "SELECT p.codes,", 1)):
                if findable(self._passage(row)).packed != codes:
                    raise self.damage_error(f"the terms of passage {id_of(row[0])} are not those of its text")
            written = dict(self._sql.execute("SELECT name, digest FROM term_files"))
            if digests(self.folder, self._state.generation, {}) != written:
                raise self.damage_error("the files of the term index are not as they were written")
            if self.vectors is not None:
                self.vectors.verify(keys_in(self._sql))

    def notes(self) -> tuple[str, ...]:
        """How much of the files a first update has read so far."""
        return (str(self.part),) if self.part else ()

    @property
    def stats(self) -> Stats:
        with clear_errors(self.folder):
            counts = "SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM documents)"
            files, documents = self._sql.execute(counts).fetchone()
        return Stats(files, documents, self.distinct, self.terms, self._state.passage_words)

    @property
    def contents(self) -> str:
        with clear_errors(self.folder):
            rows = self._sql.execute("SELECT digest FROM files ORDER BY digest").fetchall()
        return hashlib.sha256(b"".join(digest for (digest,) in rows)).hexdigest()

    # ------------------------------------------------------------ search

    def _restrict(self, documents: Sequence[IndexedDocument]) -> None:
        self._searched = json.dumps([document.number for document in documents])
        query = f"SELECT DISTINCT key FROM passages WHERE document IN {_LISTED} ORDER BY key"
        with clear_errors(self.folder):
            keys = np.array([key for (key,) in self._sql.execute(query, (self._searched,))], np.int64)
        are_few = 2 * len(keys) <= len(self)
        listed = keys if are_few else np.setdiff1d(keys_in(self._sql), keys)
        self._among = self.lexicon.among(listed.tolist(), are_few)
        self.vectors = self.vectors.limit(keys) if self.vectors else None

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        return list(map(self.lexicon.frequency, terms))

    def candidates(self, query_terms: Sequence[str], limit: int, *, every: bool = False) -> list[tuple[int, bytes]]:
        keys = self.lexicon.candidates(query_terms, limit, every, self._among)
        return list(zip(keys, self.codes(keys), strict=True))

    def stamp(self) -> object:
        return _stamp(self.folder)

    def codes(self, keys: Sequence[int]) -> list[bytes]:
        """In the order of the keys. Raises IndexDamaged."""
        codes_by_key: dict[int, bytes] = {}
        with clear_errors(self.folder):
            for some in chunks(keys, _CHUNK):
                query = f"SELECT key, codes FROM passages WHERE {among(some)}"
                codes_by_key.update(self._sql.execute(query, some).fetchall())
        if len(codes_by_key) < len(set(keys)):
            raise self.damage_error("the term index names passages that are not stored")
        return [codes_by_key[key] for key in keys]

    def close(self) -> None:
        self._sql.close()
        self.lexicon.close()
