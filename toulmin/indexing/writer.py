"""Changing an index inside one transaction.

Nothing is visible until `commit`; without it, the database rolls back and no row names the new generation of the
term index.
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

from toulmin.data import Document, Passage
from toulmin.documents.loaders import SkippedFile, is_under
from toulmin.documents.passages import cut
from toulmin.errors import UsageError
from toulmin.indexing import catalogue, vector_files
from toulmin.indexing.catalogue import BeingWritten, Part, Rejection, State, close_on_error, key_of, value
from toulmin.indexing.lexicon import LexiconWriter, digests, findable, folder_of, length
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


@dataclass(frozen=True, slots=True)
class Totals:
    documents: int
    passages: int


class Piece(NamedTuple):
    """The text since the previous passage; without its first `lead` characters it is the passage."""

    passage: Passage
    number: int
    lead: int
    text: str

    @property
    def key(self) -> int:
        return key_of(self.passage.id)

    @property
    def place(self) -> tuple[int | None, str]:
        """Its page and section."""
        return self.passage.source.page, self.passage.source.section


class Cut(NamedTuple):
    """A document's pieces, and the text after the last."""

    pieces: list[Piece]
    tail: str


def pieces(document: Document, passage_words: int) -> Cut:
    """Cuts a document into passages of about so many words."""
    cut_pieces, before = [], 0
    for number, passage in enumerate(cut(document, passage_words)):
        start, end = passage.source.start, passage.source.end
        cut_pieces.append(Piece(passage, number, start - before, document.text[before:end]))
        before = end
    return Cut(cut_pieces, document.text[before:])


def check_passage_words(passage_words: int | None) -> None:
    if passage_words is not None and passage_words < 1:
        raise UsageError(f"A passage needs at least 1 word, not {passage_words}.")


class CorpusWriter(AbstractContextManager["CorpusWriter"]):
    """The only writer of an index; leaving the `with` without `commit` changes nothing."""

    def __init__(self, index: Path, passage_words: int | None) -> None:
        """Waits for another writer. Raises what `indexing.update` says of folders, locks and full disks."""
        self._index = index
        self._lexicon: LexiconWriter | None = None
        self._is_first = False
        self._is_prepared = False
        self._uncommitted = 0  # passages
        self._sql = catalogue.open_for_writing(index)
        with close_on_error(self._sql), catalogue.clear_errors(index):
            self._state, self.outdated = self._begin(passage_words)
            self.part = catalogue.part_of(self._sql)

    def _begin(self, passage_words: int | None) -> tuple[State, frozenset[Path]]:
        """The state to start from, and the files that must be read again."""
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

    @property
    def updates(self) -> int:
        return self._state.updates

    @property
    def last_document(self) -> int:
        """The greatest number, 0 for none."""
        return value(self._sql, "SELECT max(number) FROM documents") or 0

    def begin_anew(self) -> frozenset[Path]:
        """Empties the index; the paths of its files are `outdated` then."""
        self.outdated |= _paths_in(self._sql)
        catalogue.make_tables(self._sql)
        self._state = State(self._state.passage_words, updates=self._state.updates)
        return self.outdated

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
        """Whether this is a first update, or goes on with one: else readers keep the old contents until the end."""
        return self._is_first or (self.part is not None and not self.outdated)

    # ------------------------------------------------------------ files

    def files(self) -> list[tuple[int, str]]:
        return self._sql.execute("SELECT number, path FROM files").fetchall()

    def stamps(self) -> dict[str, Stamp]:
        """Every file as last read, by path."""
        rows = self._sql.execute("SELECT path, number, size, mtime_ns, digest FROM files")
        return {path: Stamp(*stamp) for path, *stamp in rows}

    def stamp(self, path: Path) -> Stamp | None:
        query = "SELECT number, size, mtime_ns, digest FROM files WHERE path = ?"
        row = self._sql.execute(query, (str(path),)).fetchone()
        return Stamp(*row) if row else None

    @cached_property
    def rejections(self) -> dict[str, Rejection]:
        return catalogue.rejections_of(self._sql)

    def rejected(self, path: Path) -> Rejection | None:
        return self.rejections.get(str(path))

    def note_time(self, stamp: Stamp) -> None:
        self._sql.execute("UPDATE files SET mtime_ns = ? WHERE number = ?", (stamp.mtime_ns, stamp.number))

    def add_file(self, path: Path, stamp: Stamp, number: int | None = None) -> int:
        """`number` defaults to the next free one."""
        values = (number, str(path), stamp.size, stamp.mtime_ns, stamp.digest)
        statement = "INSERT INTO files (number, path, size, mtime_ns, digest) VALUES (?, ?, ?, ?, ?)"
        return self._sql.execute(statement, values).lastrowid or 0

    def remove_file(self, number: int) -> None:
        """Keeps passages that another file holds in the term index."""
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

    def add_document(
        self, file: int, document: Document, on_passage: Callable[[], None], number: int | None = None
    ) -> None:
        """Cuts a document into passages; `on_passage` is called after each. `number` defaults to the next free one."""
        cut_pieces, tail = pieces(document, self._state.passage_words)
        values = (number, file, document.title, document.url, document.record)
        number = self._sql.execute(
            "INSERT INTO documents (number, file, title, url, record, pages, tail) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*values, json.dumps(document.pages) if document.pages else "[]", tail),
        ).lastrowid
        for piece in cut_pieces:
            self._add_piece(piece, number)
            on_passage()
        self._uncommitted += len(cut_pieces)
        if self._is_first and self._uncommitted >= _COMMIT_EVERY:
            self._sql.execute("COMMIT")
            self._sql.execute("BEGIN IMMEDIATE")
            self._uncommitted = 0

    def _add_piece(self, piece: Piece, document: int | None) -> None:
        key, source = piece.key, piece.passage.source
        row = self._sql.execute("SELECT codes FROM passages WHERE key = ? LIMIT 1", (key,)).fetchone()
        codes = row[0] if row else self._make_findable(key, piece.passage)
        self._sql.execute(
            "INSERT INTO passages (key, codes, document, start, lead, page, section, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (key, codes, document, source.start, piece.lead, *piece.place, catalogue.compress(piece.text)),
        )

    def _make_findable(self, key: int, passage: Passage) -> bytes:
        found_by = findable(passage)
        self._writer().add(key, found_by.terms)
        self._state.passages += 1
        self._state.terms += length(found_by.packed)
        return found_by.packed

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

    def prepare(self, updates: int, part: Part | None = None) -> None:
        """Writes everything to disk, with `updates` as the new count; nothing is visible yet."""
        if self._lexicon is not None or not self._state.generation:
            self._writer().commit()
            self._state.generation = self._writer().generation
            self._note_digests()
        self._state.updates = updates
        catalogue.write_state(self._sql, self._state)
        catalogue.write_part(self._sql, part)
        self._is_prepared = True

    def publish(self, part: Part) -> Totals:
        """Makes the files so far visible as a part of a first update, which goes on. Needs `can_publish`."""
        self.prepare(self.updates, part)
        totals = Totals(value(self._sql, "SELECT count(*) FROM documents"), self._state.passages)
        self._sql.execute("COMMIT")
        catalogue.let_others_in(self._sql)
        self._sql.execute("BEGIN IMMEDIATE")
        if catalogue.usable_state(self._sql) != self._state:
            raise BeingWritten(f"Another process wrote to {self._index} meanwhile; index again to go on from there.")
        catalogue.remove_folders(self._index, "terms", folder_of(self._index, self._state.generation).name)
        self.part, self._is_first, self._is_prepared, self._lexicon = part, False, False, None
        return totals

    def commit(self) -> Totals:
        if not self._is_prepared:
            self.prepare(self.updates + 1)
        documents = value(self._sql, "SELECT count(*) FROM documents")
        self._sql.execute("COMMIT")
        vector_files.remove_parts(self._index)
        return Totals(documents, self._state.passages)

    def _note_digests(self) -> None:
        known = dict(self._sql.execute("SELECT name, digest FROM term_files"))
        self._sql.execute("DELETE FROM term_files")
        now = digests(self._index, self._state.generation, known)
        self._sql.executemany("INSERT INTO term_files VALUES (?, ?)", now.items())


def _tidy(connection: sqlite3.Connection, index: Path) -> None:
    """Deletes what no row names; left to another writer if one is at work."""
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
