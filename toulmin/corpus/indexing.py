"""Bringing an index up to date with files: only what changed is read, and all of it becomes visible in one step.

* A file is unchanged if its size and time are, or else its content hash is.
* A changed file is added anew before its old self is removed, so what both share is never touched, and a file that
  turns out to be unreadable half-way is taken out again by the same removal.
* A passage is findable once however many files hold it; it goes with the last of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from toulmin.corpus import catalogue
from toulmin.corpus.catalogue import State
from toulmin.corpus.lexicon import LexiconWriter, digests, pack, passage_terms, remove_others
from toulmin.corpus.passages import cut
from toulmin.corpus.readers import Skipped, find_files, read_documents
from toulmin.data import Document, Passage
from toulmin.errors import SourceError, UsageError

PASSAGE_WORDS = 100
_PROGRESS_EVERY = 500  # passages, within a file of many


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an update is: the file it reads, files done of all, passages added so far."""

    path: str
    done_files: int
    total_files: int
    passages: int


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an update did, in files, and what the index holds now (`passages` counts distinct ones)."""

    read: int
    unchanged: int
    removed: int
    skipped: tuple[Skipped, ...]
    documents: int
    passages: int


def update(
    index: Path,
    paths: Sequence[Path],
    *,
    passage_words: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> IndexReport:
    """Makes the index hold what the files and folders of `paths` hold now; what came from elsewhere stays.

    `passage_words` is the wanted length of a passage; without it an index keeps its own, a new one takes 100, and
    with another one everything is read again. An index of another version of this program is made anew from its
    files and `paths`. A file that cannot be read is reported in `skipped`, and what was indexed of it stays. Until
    the end readers see the index as it was; so it stays when the update is interrupted, killed or out of disk.

    Raises SourceError for a path that does not exist, a folder that is no index, a full disk and, after five
    seconds, for another update at work; IndexDamaged for a broken index; UsageError for less than one word.
    """
    if passage_words is not None and passage_words < 1:
        raise UsageError(f"A passage needs at least 1 word, not {passage_words}.")
    roots = [Path(os.path.abspath(path)) for path in paths]
    files, skipped = find_files(roots)
    connection = catalogue.open_for_writing(index)
    try:
        with catalogue.clear_errors(index):
            job = _Update(index, connection, passage_words, on_progress)
            return job.run(roots, files, skipped)
    finally:
        connection.close()


class _Unreadable(Exception):
    """A file that its reader refused."""


def _documents(path: Path) -> Iterator[Document]:
    """The file's documents; tells the reader's errors from those of whoever stores them."""
    try:
        yield from read_documents(path)
    except SourceError as error:
        raise _Unreadable(str(error)) from error


@dataclass(frozen=True, slots=True)
class _Stamp:
    """A file as it was when it was read."""

    number: int
    size: int
    mtime_ns: int
    digest: bytes


class _Update:
    """One update, inside the writer's transaction."""

    def __init__(
        self,
        index: Path,
        connection: sqlite3.Connection,
        passage_words: int | None,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._index = index
        self._sql = connection
        self._on_progress = on_progress or (lambda progress: None)
        self._progress = Progress("", 0, 0, 0)
        self._lexicon: LexiconWriter | None = None
        self._read = self._unchanged = self._removed = 0
        self._skipped: list[Skipped] = []
        self._state, self._again = self._begin(passage_words)

    def _begin(self, passage_words: int | None) -> tuple[State, list[Path]]:
        """The state to go on from, and the files to read again whatever their stamps say."""
        if catalogue.is_empty(self._sql):
            catalogue.make_tables(self._sql)
            return State(passage_words or PASSAGE_WORDS), []
        catalogue.check_ours(self._sql, self._index)
        state = catalogue.usable_state(self._sql)
        if state is None:
            known = _known_paths(self._sql)
            catalogue.make_tables(self._sql)
            return State(passage_words or PASSAGE_WORDS), known
        if passage_words in (None, state.passage_words):
            return state, []
        return replace(state, passage_words=passage_words), _known_paths(self._sql)

    def run(self, roots: Sequence[Path], files: Sequence[Path], skipped: Sequence[Skipped]) -> IndexReport:
        """Everything, up to and with the commit; undone if anything stops it."""
        try:
            own = Path(os.path.abspath(self._index))
            self._skipped += [skip for skip in skipped if own not in Path(skip.path).parents]
            self._read_files([path for path in files if own not in path.parents])
            self._remove_vanished(roots)
            return self._commit()
        except BaseException:
            self._undo()
            raise

    # ------------------------------------------------------------ files

    def _read_files(self, files: Sequence[Path]) -> None:
        todo = sorted({*files, *self._again})
        again = frozenset(self._again)
        for done, path in enumerate(todo):
            self._report(path=str(path), done_files=done, total_files=len(todo))
            self._read_file(path, again=path in again)
        self._report(done_files=len(todo))

    def _read_file(self, path: Path, *, again: bool) -> None:
        old = self._stamp(path)
        try:
            now = _stamp_of(path, old)
        except OSError as error:
            self._skipped.append(Skipped(str(path), f"it cannot be opened ({error.strerror or error})"))
            return
        if old is not None and old.digest == now.digest and not again:
            self._unchanged += 1
            if now is not old:
                self._sql.execute("UPDATE files SET mtime_ns = ? WHERE number = ?", (now.mtime_ns, old.number))
            return
        new = self._insert_file(path, now)
        try:
            for document in _documents(path):
                self._add_document(new, document)
        except _Unreadable as error:
            self._remove_file(new)
            self._skipped.append(Skipped(str(path), str(error)))
            return
        if old is not None:
            self._remove_file(old.number)
        self._read += 1

    def _stamp(self, path: Path) -> _Stamp | None:
        found = self._sql.execute(
            "SELECT number, size, mtime_ns, digest FROM files WHERE path = ?", (str(path),)
        ).fetchone()
        return _Stamp(*found) if found else None

    def _insert_file(self, path: Path, stamp: _Stamp) -> int:
        values = (str(path), stamp.size, stamp.mtime_ns, stamp.digest)
        statement = "INSERT INTO files (path, size, mtime_ns, digest) VALUES (?, ?, ?, ?)"
        return self._sql.execute(statement, values).lastrowid or 0

    def _remove_vanished(self, roots: Sequence[Path]) -> None:
        rows = self._sql.execute("SELECT number, path FROM files").fetchall()
        for number, text in rows:
            path = Path(text)
            if any(root == path or root in path.parents for root in roots) and _is_gone(path):
                self._remove_file(number)
                self._removed += 1

    def _remove_file(self, number: int) -> None:
        """Takes out a file, and from the term index those of its passages that no other file holds."""
        mine = "SELECT number FROM documents WHERE file = :file"
        lonely = self._sql.execute(
            f"SELECT DISTINCT key, length(codes) FROM passages AS p WHERE document IN ({mine}) AND NOT EXISTS"
            f" (SELECT 1 FROM passages AS q WHERE q.key = p.key AND q.document NOT IN ({mine}))",
            {"file": number},
        )
        for key, size in lonely:
            self._writer().remove(key)
            self._state.passages -= 1
            self._state.terms -= size // 4
        self._sql.execute(f"DELETE FROM passages WHERE document IN ({mine})", {"file": number})
        self._sql.execute("DELETE FROM documents WHERE file = ?", (number,))
        self._sql.execute("DELETE FROM files WHERE number = ?", (number,))

    # ------------------------------------------------------------ documents and passages

    def _add_document(self, file: int, document: Document) -> None:
        passages = cut(document, self._state.passage_words)
        end = passages[-1].source.end if passages else 0
        values = (file, document.title, document.url, document.record)
        number = self._sql.execute(
            "INSERT INTO documents (file, title, url, record, pages, tail) VALUES (?, ?, ?, ?, ?, ?)",
            (*values, json.dumps(document.pages), document.text[end:]),
        ).lastrowid
        before = 0
        for passage in passages:
            start, end = passage.source.start, passage.source.end
            place = (number, start, start - before, passage.source.page)
            self._add_passage(passage, place, document.text[before:end])
            before = end

    def _add_passage(self, passage: Passage, place: tuple[int | None, int, int, int | None], text: str) -> None:
        key = catalogue.key_of(passage.id)
        row = self._sql.execute("SELECT codes FROM passages WHERE key = ? LIMIT 1", (key,)).fetchone()
        codes = row[0] if row else self._make_findable(key, passage)
        self._sql.execute(
            "INSERT INTO passages (key, codes, document, start, lead, page, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (key, codes, *place, text),
        )
        added = self._progress.passages + 1
        self._progress = replace(self._progress, passages=added)
        if added % _PROGRESS_EVERY == 0:
            self._on_progress(self._progress)

    def _make_findable(self, key: int, passage: Passage) -> bytes:
        found_by = passage_terms(passage)
        self._writer().add(key, found_by)
        self._state.passages += 1
        self._state.terms += len(found_by)
        return pack(found_by)

    def _writer(self) -> LexiconWriter:
        """The term index in the making; an update that changes no passage never asks for one."""
        if self._lexicon is None:
            self._lexicon = LexiconWriter(self._index, self._state.generation)
        return self._lexicon

    # ------------------------------------------------------------ the end

    def _commit(self) -> IndexReport:
        if self._lexicon is not None or not self._state.generation:
            self._writer().commit()
            self._state.generation = self._writer().generation
            self._note_digests()
        catalogue.write_state(self._sql, self._state)
        (documents,) = self._sql.execute("SELECT count(*) FROM documents").fetchone()
        self._sql.execute("COMMIT")
        _tidy(self._sql, self._index)
        skipped = tuple(sorted(self._skipped, key=lambda skip: skip.path))
        return IndexReport(self._read, self._unchanged, self._removed, skipped, documents, self._state.passages)

    def _note_digests(self) -> None:
        """Keeps what `Corpus.verify` compares the term index with."""
        known = dict(self._sql.execute("SELECT name, digest FROM term_files"))
        self._sql.execute("DELETE FROM term_files")
        now = digests(self._index, self._state.generation, known)
        self._sql.executemany("INSERT INTO term_files VALUES (?, ?)", now.items())

    def _undo(self) -> None:
        if self._sql.in_transaction:
            self._sql.execute("ROLLBACK")
        self._lexicon = None
        _tidy(self._sql, self._index)

    def _report(self, **changes: str | int) -> None:
        self._progress = replace(self._progress, **changes)  # type: ignore[arg-type]
        self._on_progress(self._progress)


def _tidy(connection: sqlite3.Connection, index: Path) -> None:
    """Deletes the generations that nobody names, as the writer; where another has become that, it will do so."""
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("BEGIN IMMEDIATE")
        state = catalogue.usable_state(connection)
        remove_others(index, state.generation if state else 0)
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _known_paths(connection: sqlite3.Connection) -> list[Path]:
    """The files of an index, also of one of another format as far as its tables can be read."""
    with suppress(sqlite3.OperationalError):
        return [Path(path) for (path,) in connection.execute("SELECT path FROM files")]
    return []


def _stamp_of(path: Path, old: _Stamp | None) -> _Stamp:
    """The file's stamp now; the old one itself if size and time are the same, without reading the file."""
    status = path.stat()
    if old is not None and (old.size, old.mtime_ns) == (status.st_size, status.st_mtime_ns):
        return old
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
    return _Stamp(old.number if old else 0, status.st_size, status.st_mtime_ns, digest)


def _is_gone(path: Path) -> bool:
    """Whether the file surely does not exist; one that merely cannot be looked at is not gone."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
