"""Changes an index inside one transaction.

Before `commit` nothing is visible; without it the database rolls back, and no row names the new generation of the term
index.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from toulmin.data import Document
from toulmin.documents.confined import Children
from toulmin.documents.loaders import SkippedFile, is_under
from toulmin.documents.metadata import to_json
from toulmin.errors import UsageError
from toulmin.indexing import catalogue, vector_files
from toulmin.indexing.catalogue import BeingWritten, Part, Rejection, State, close_on_error, value
from toulmin.indexing.codes import length
from toulmin.indexing.lexicon import LexiconWriter, digests, folder_of
from toulmin.indexing.preparation import DocumentRows, prepare_all
from toulmin.indexing.vector_files import EncoderChoice, OnEncoded

PASSAGE_WORDS = 100
_COMMIT_EVERY = 250_000  # passages of a first update before anything is visible


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file as last read; `number` identifies it in the index."""

    number: int
    size: int
    mtime_ns: int
    digest: bytes


class Totals(NamedTuple):
    documents: int
    passages: int


def check_passage_words(passage_words: int | None) -> None:
    if passage_words is not None and passage_words < 1:
        raise UsageError(f"A passage needs at least 1 word, not {passage_words}.")


class CorpusWriter(AbstractContextManager["CorpusWriter"]):
    """The only writer of an index; leaving the `with` without `commit` changes nothing."""

    def __init__(self, index: Path, passage_words: int | None) -> None:
        """Waits for another writer. Raises what `indexing.update` raises for folders, locks and full disks."""
        self._index = index
        self._lexicon: LexiconWriter | None = None
        self._is_first = False
        self._uncommitted = 0  # passages
        self._sql = catalogue.open_for_writing(index)
        with close_on_error(self._sql), catalogue.clear_errors(index):
            self._state, self.outdated = self._begin(passage_words)
            self.part = catalogue.part_of(self._sql)

    def _begin(self, passage_words: int | None) -> tuple[State, frozenset[Path]]:
        """The state to start from, and the files to read again."""
        if catalogue.is_new(self._sql, self._index):
            catalogue.shut_others_out(self._sql)
            if catalogue.is_new(self._sql, self._index):
                catalogue.make_tables(self._sql)
                self._is_first = True
                return State(passage_words or PASSAGE_WORDS), frozenset()
        catalogue.check_ours(self._sql, self._index)
        state = catalogue.usable_state(self._sql)
        if state is None:
            known = _paths_in(self._sql)
            catalogue.make_tables(self._sql)
            return State(passage_words or PASSAGE_WORDS), known
        if passage_words in (None, state.passage_words):
            return state, frozenset()
        return replace(state, passage_words=passage_words), _paths_in(self._sql)

    @property
    def has_passages(self) -> bool:
        return self._state.passages > 0

    def __exit__(self, *_: object) -> None:
        with suppress(sqlite3.Error):
            if self._sql.in_transaction:
                self._sql.execute("ROLLBACK")
            catalogue.let_others_in(self._sql)
        self._lexicon = None
        _tidy(self._sql, self._index)
        self._sql.close()

    @property
    def can_publish(self) -> bool:
        """Whether this begins or continues a first update; else readers keep the old contents until the end."""
        return self._is_first or (self.part is not None and not self.outdated)

    # ------------------------------------------------------------ files

    def files(self) -> list[tuple[int, str]]:
        return self._sql.execute("SELECT number, path FROM files").fetchall()

    def stamp(self, path: Path) -> Stamp | None:
        query = "SELECT number, size, mtime_ns, digest FROM files WHERE path = ?"
        row = self._sql.execute(query, (str(path),)).fetchone()
        return Stamp(*row) if row else None

    def described(self) -> Iterable[tuple[str, str]]:
        return self._sql.execute(
            "SELECT f.path, d.metadata FROM documents AS d JOIN files AS f ON f.number = d.file WHERE d.record IS NULL"
        )

    @cached_property
    def rejections(self) -> dict[str, Rejection]:
        rows = self._sql.execute("SELECT path, reason, tried FROM skipped JOIN rejected USING (path)")
        return {path: Rejection(*row) for path, *row in rows}

    def rejected(self, path: Path) -> Rejection | None:
        return self.rejections.get(str(path))

    def note_time(self, stamp: Stamp) -> None:
        self._sql.execute("UPDATE files SET mtime_ns = ? WHERE number = ?", (stamp.mtime_ns, stamp.number))

    def add_file(self, path: Path, stamp: Stamp) -> int:
        values = (str(path), stamp.size, stamp.mtime_ns, stamp.digest)
        statement = "INSERT INTO files (path, size, mtime_ns, digest) VALUES (?, ?, ?, ?)"
        return self._sql.execute(statement, values).lastrowid or 0

    def remove_file(self, number: int) -> None:
        """Passages that another file holds stay in the term index."""
        mine = "SELECT number FROM documents WHERE file = :file"
        lonely = self._sql.execute(
            f"SELECT * FROM (SELECT DISTINCT key, codes FROM passages WHERE document IN ({mine})) AS p WHERE NOT EXISTS"
            f" (SELECT 1 FROM passages AS q WHERE q.key = p.key AND q.document NOT IN ({mine}))",
            {"file": number},
        )
        for key, codes in lonely:
            self._writer().remove(key)
            self._state.passages -= 1
            self._state.terms -= length(codes)
        self._sql.execute(f"DELETE FROM passages WHERE document IN ({mine})", {"file": number})
        self._sql.execute("DELETE FROM documents WHERE file = ?", (number,))
        self._sql.execute("DELETE FROM files WHERE number = ?", (number,))

    def note_skipped(self, roots: Sequence[Path], skipped: Iterable[SkippedFile], tried: Mapping[str, bytes]) -> None:
        """Entries from elsewhere stay while their files exist."""
        known = self._sql.execute("SELECT path, reason FROM skipped").fetchall()
        stays = {path: why for path, why in known if not is_under(Path(path), roots) and os.path.lexists(path)}
        digests = {path: rejected.tried for path, rejected in self.rejections.items() if path in stays}
        reasons = {skip.path: skip.reason for skip in skipped}
        catalogue.write_skipped(self._sql, stays | reasons, {**digests, **tried})

    # ------------------------------------------------------------ documents and passages

    def add_documents(
        self, file: int, documents: Iterable[Document], on_passage: Callable[[], None], helpers: Children | None = None
    ) -> None:
        """Cuts documents into passages; calls `on_passage` after each."""
        for document, prepared in prepare_all(documents, self._state.passage_words, helpers):
            self._add_document(file, document, prepared)
            for _ in prepared.passages:
                on_passage()

    def _add_document(self, file: int, document: Document, prepared: DocumentRows) -> None:
        places = json.dumps(document.pages), json.dumps(document.headings)
        about = to_json(document.metadata, document.remarks)
        number = self._sql.execute(
            "INSERT INTO documents (file, title, url, record, pages, headings, tail, metadata)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (file, document.title, document.url, document.record, *places, prepared.tail, about),
        ).lastrowid
        for passage in prepared.passages:
            if not self._sql.execute("SELECT 1 FROM passages WHERE key = ? LIMIT 1", (passage.key,)).fetchone():
                self._writer().add(passage.key, passage.terms)
                self._state.passages += 1
                self._state.terms += length(passage.codes)
            self._sql.execute(
                "INSERT INTO passages (key, codes, start, lead, page, section, text, document)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*passage[:-1], number),
            )
        self._uncommitted += len(prepared.passages)
        if self._is_first and self._uncommitted >= _COMMIT_EVERY:
            self._sql.execute("COMMIT")
            self._sql.execute("BEGIN IMMEDIATE")
            self._uncommitted = 0

    def _writer(self) -> LexiconWriter:
        """An update that changes no passage makes no generation."""
        if self._lexicon is None:
            self._lexicon = LexiconWriter(self._index, self._state.generation)
        return self._lexicon

    # ------------------------------------------------------------ committing

    def renew_vectors(self, wanted: EncoderChoice | None, on_encoded: OnEncoded) -> int:
        """Without `wanted` removes all vectors."""
        if wanted is not None:
            return vector_files.renew(self._index, self._sql, wanted, on_encoded)
        vector_files.forget(self._sql)
        return 0

    def _prepare(self, part: Part | None = None) -> Totals:
        """Writes everything to disk; nothing is visible yet."""
        if self._lexicon is not None or not self._state.generation:
            self._writer().commit()
            self._state.generation = self._writer().generation
            known = dict(self._sql.execute("SELECT name, digest FROM term_files"))
            self._sql.execute("DELETE FROM term_files")
            now = digests(self._index, self._state.generation, known)
            self._sql.executemany("INSERT INTO term_files VALUES (?, ?)", now.items())
        catalogue.write_state(self._sql, self._state)
        catalogue.write_part(self._sql, part)
        return Totals(value(self._sql, "SELECT count(*) FROM documents"), self._state.passages)

    def publish(self, part: Part) -> Totals:
        """Makes the files so far visible as a part of a first update, which goes on. Needs `can_publish`."""
        totals = self._prepare(part)
        self._sql.execute("COMMIT")
        catalogue.let_others_in(self._sql)
        self._sql.execute("BEGIN IMMEDIATE")
        if catalogue.usable_state(self._sql) != self._state:
            raise BeingWritten(f"Another process wrote to {self._index} meanwhile; index again to go on from there.")
        catalogue.remove_folders(self._index, "terms", folder_of(self._index, self._state.generation).name)
        self.part, self._is_first, self._lexicon = part, False, None
        return totals

    def commit(self) -> Totals:
        self._state.updates += 1
        totals = self._prepare()
        self._sql.execute("COMMIT")
        vector_files.remove_parts(self._index)
        return totals


def _tidy(connection: sqlite3.Connection, index: Path) -> None:
    """Deletes what no row names, unless another writer is at work."""
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("BEGIN IMMEDIATE")
        state = catalogue.usable_state(connection)
        # Which generation an index of another version names is unknown.
        if state is None and catalogue.is_unfinished(connection):
            catalogue.drop_tables(connection)
        if state is not None or catalogue.is_empty(connection):
            vectors = vector_files.current_vectors(connection)
            catalogue.remove_folders(index, "terms", folder_of(index, state.generation if state else 0).name)
            catalogue.remove_folders(index, "vectors", vectors.folder if vectors else None)
        connection.execute("COMMIT")
        catalogue.give_back_space(connection)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _paths_in(connection: sqlite3.Connection) -> frozenset[Path]:
    """Works for other formats as far as their tables can be read."""
    with suppress(sqlite3.OperationalError):
        return frozenset(Path(path) for (path,) in connection.execute("SELECT path FROM files"))
    return frozenset()
