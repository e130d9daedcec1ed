"""The index on disk, as the rest of the program reads it; `indexing.update` writes it.

A `Corpus` sees one moment: what a later update changes, it does not see; whoever wants that opens the index again.
Whatever is read is compared with its content id, so that a damaged file cannot put words into a source's mouth.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from toulmin.data import Passage, Source, content_id
from toulmin.documents.loaders import Skipped
from toulmin.errors import IndexDamaged, SourceError
from toulmin.indexing import catalogue
from toulmin.indexing.catalogue import FILE, State, clear_errors, damaged, id_of, key_of, text_of
from toulmin.indexing.lexicon import Lexicon, digests, findable
from toulmin.indexing.lookups import Lookups, among, chunks
from toulmin.indexing.vector_files import Label, Stored, keys_in, named_in

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
    """The passages before and after one in its document; None at an end."""

    before: Passage | None
    after: Passage | None


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document as the index lists it, without its text; `number` is its name within this index only."""

    number: int
    title: str
    path: str | None
    url: str | None
    record: str | None
    pages: tuple[int, ...]
    passages: int


@dataclass(frozen=True, slots=True)
class Stats:
    """What an index holds: `passages` and `terms` count each distinct passage once, titles as they are weighted."""

    files: int
    documents: int
    passages: int
    terms: int
    passage_words: int


def is_index(folder: Path) -> bool:
    """Whether that folder holds an index."""
    return (folder / FILE).is_file()


def label_of(index: Path) -> Label | None:
    """Whose vectors the index in that folder holds; None for none, and where there is no index that can be read."""
    if not is_index(index):
        return None
    connection = catalogue.open_for_reading(index)
    try:
        with clear_errors(index):
            found = named_in(connection)
        return found.label if found else None
    finally:
        connection.close()


def open_index(index: Path) -> Corpus:
    """The corpus in an index folder, as it is now; opens in milliseconds, also while it is being updated.

    Raises SourceError where no index is, IndexDamaged for a broken one or one of another version.
    """
    connection = catalogue.open_for_reading(index)
    try:
        with clear_errors(index):
            return _snapshot(index, connection)
    except BaseException:
        connection.close()
        raise


def _snapshot(index: Path, connection: sqlite3.Connection) -> Corpus:
    """One moment of both halves; begun again when an update replaces the second while the first is looked at.

    An update deletes a generation only after it named another, so one that is bad and still named is damaged.
    """
    bad: tuple[int, str | None] | None = None
    while True:
        connection.execute("BEGIN")
        state = catalogue.read_state(connection, index)
        named = named_in(connection)
        try:
            vectors = Stored(index, named) if named else None
            return Corpus(index, connection, state, Lexicon(index, state.generation), vectors)
        except IndexDamaged:
            if bad == (now := (state.generation, named.folder if named else None)):
                raise
            bad = now
            connection.execute("ROLLBACK")


class Corpus:
    """An index open for reading; several threads may use one. Close it, or use it in a `with`."""

    def __init__(
        self, index: Path, connection: sqlite3.Connection, state: State, lexicon: Lexicon, vectors: Stored | None
    ) -> None:
        """For `open_index`."""
        self.folder = index
        self._sql = connection
        self._lookups = Lookups(index, connection, state)
        self._state = state
        self.lexicon = lexicon
        self.vectors = vectors
        if lexicon.passages != state.passages:
            raise damaged(index, f"{state.passages} passages are stored, {lexicon.passages} can be found")
        if vectors is not None and len(vectors.packed.keys) != state.passages:
            raise damaged(index, f"{state.passages} passages are stored, {len(vectors.packed.keys)} have vectors")

    @property
    def updates(self) -> int:
        """How many updates made the index what it is."""
        return self._state.updates

    def passage(self, passage_id: str) -> Passage:
        """The passage of that id, with one of its sources. Raises SourceError for an unknown id."""
        return self.passages([passage_id])[0]

    def passages(self, passage_ids: Sequence[str]) -> list[Passage]:
        """The passages of those ids, in their order. Raises SourceError if one is unknown."""
        return in_order(self.found(passage_ids), passage_ids, self.folder)

    def neighbours(self, passage_id: str) -> Neighbours:
        """The passages before and after one in its document. Raises SourceError for an unknown id."""
        key = key_of(self.passage(passage_id).id)
        with clear_errors(self.folder):
            place = "SELECT number, document FROM passages WHERE key = ? ORDER BY number LIMIT 1"
            number, document = self._sql.execute(place, (key,)).fetchone()
        before = "WHERE p.document = ? AND p.number < ? ORDER BY p.number DESC LIMIT 1"
        after = "WHERE p.document = ? AND p.number > ? ORDER BY p.number LIMIT 1"
        return Neighbours(self._first(before, document, number), self._first(after, document, number))

    def documents(self) -> Iterator[IndexedDocument]:
        """Every document, in the order in which they were indexed."""
        with clear_errors(self.folder):
            for row in self._sql.execute(f"{_DOCUMENT} ORDER BY d.number"):
                yield _document(row)

    def skipped(self) -> list[Skipped]:
        """What lay under the indexed paths and was not read when it was last looked at, by path."""
        with clear_errors(self.folder):
            return [Skipped(*row) for row in self._sql.execute("SELECT path, reason FROM skipped ORDER BY path")]

    def every_passage(self) -> Iterator[Passage]:
        """Every distinct passage, in the order in which they were indexed; of equal ones the first place."""
        seen: set[int] = set()
        with clear_errors(self.folder):
            for row in self._sql.execute(f"{_PASSAGE} ORDER BY p.number"):
                if row[0] not in seen:
                    seen.add(row[0])
                    yield self._passage(row)

    def document_of(self, passage_id: str) -> IndexedDocument:
        """The document that the passage's source points into. Raises SourceError for an unknown id."""
        key = key_of(self.passage(passage_id).id)
        where = "WHERE d.number = (SELECT document FROM passages WHERE key = ? ORDER BY number LIMIT 1)"
        with clear_errors(self.folder):
            return _document(self._sql.execute(f"{_DOCUMENT} {where}", (key,)).fetchone())

    def text(self, document: IndexedDocument) -> str:
        """The whole extracted text, into which the offsets of its passages point."""
        with clear_errors(self.folder):
            query = "SELECT text FROM passages WHERE document = ? ORDER BY number"
            pieces = [text_of(kept) for (kept,) in self._sql.execute(query, (document.number,))]
            row = self._sql.execute("SELECT tail FROM documents WHERE number = ?", (document.number,)).fetchone()
        if row is None:
            raise SourceError(f"There is no document {document.number} in {self.folder}; take one from `documents`.")
        return "".join([*pieces, row[0]])

    def verify(self) -> None:
        """Reads everything and compares it with what was written; some seconds for 100,000 passages.

        Opening and searching notice most damage in passing; this notices all. Raises IndexDamaged.
        """
        with clear_errors(self.folder):
            for (finding,) in self._sql.execute("PRAGMA integrity_check"):
                if finding != "ok":
                    raise damaged(self.folder, finding)
            for codes, *row in self._sql.execute(_PASSAGE.replace("SELECT", "SELECT p.codes,", 1)):
                if findable(self._passage(row)).packed != codes:
                    raise damaged(self.folder, f"the terms of passage {id_of(row[0])} are not those of its text")
            written = dict(self._sql.execute("SELECT name, digest FROM term_files"))
            if digests(self.folder, self._state.generation, {}) != written:
                raise damaged(self.folder, "the files of the term index are not as they were written")
            if self.vectors is not None:
                self.vectors.verify(keys_in(self._sql))

    @property
    def stats(self) -> Stats:
        """How much there is."""
        with clear_errors(self.folder):
            (files,) = self._sql.execute("SELECT count(*) FROM files").fetchone()
            (documents,) = self._sql.execute("SELECT count(*) FROM documents").fetchone()
        return Stats(files, documents, self._state.passages, self._state.terms, self._state.passage_words)

    @property
    def contents(self) -> str:
        """SHA-256, in hex, of what the indexed files held, wherever they lay and in whatever order they were read."""
        with clear_errors(self.folder):
            found = self._sql.execute("SELECT digest FROM files ORDER BY digest").fetchall()
        return hashlib.sha256(b"".join(digest for (digest,) in found)).hexdigest()

    def __len__(self) -> int:
        """How many distinct passages there are."""
        return self._state.passages

    @property
    def terms(self) -> int:
        """How many terms the distinct passages have together."""
        return self._state.terms

    @property
    def average_terms(self) -> float:
        """The mean length of a passage in terms."""
        return self._state.terms / max(1, self._state.passages)

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """How many distinct passages hold each of the terms."""
        return list(map(self.lexicon.frequency, terms))

    def candidates(self, query_terms: Sequence[str], limit: int) -> list[tuple[int, bytes]]:
        """The keys and packed terms of at most `limit` passages that hold any of the terms, the likely best first."""
        keys = [key for _, key in self.lexicon.candidates(dict.fromkeys(query_terms, 1.0), limit)]
        return list(zip(keys, self.codes(keys), strict=True))

    def stamp(self) -> object:
        """What changes when the index on the disk does."""
        files = (self.folder / name for name in (FILE, f"{FILE}-wal"))
        return [(found.st_mtime_ns, found.st_size) for file in files if file.exists() and (found := file.stat())]

    def notes(self) -> tuple[str, ...]:
        """What went wrong and was put right since this was last asked: of a folder, nothing."""
        return ()

    def codes(self, keys: Sequence[int]) -> list[bytes]:
        """The packed terms of passages, by the keys that the lexicon gives, in their order."""
        with clear_errors(self.folder):
            found = self._lookups.codes(keys)
        if len(found) < len(set(keys)):
            raise damaged(self.folder, "the term index names passages that are not stored")
        return [found[key] for key in keys]

    def close(self) -> None:
        """Lets go of the files; nothing may be asked afterwards."""
        self._lookups.close()
        self._sql.close()
        self.lexicon.close()

    def __enter__(self) -> Corpus:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def found(self, passage_ids: Iterable[str]) -> dict[str, Passage]:
        """Those passages that there are; of one that stands in several places, the place indexed first."""
        keys = [key for key in map(_key_or_none, dict.fromkeys(passage_ids)) if key is not None]
        found: dict[str, Passage] = {}
        with clear_errors(self.folder):
            for chunk in chunks(keys):
                for row in self._sql.execute(f"{_PASSAGE} WHERE {among(chunk)} ORDER BY p.number", chunk):
                    if id_of(row[0]) not in found:
                        found[id_of(row[0])] = self._passage(row)
        return found

    def _first(self, where: str, *values: int) -> Passage | None:
        with clear_errors(self.folder):
            row = self._sql.execute(f"{_PASSAGE} {where}", values).fetchone()
        return self._passage(row) if row else None

    def _passage(self, row: Sequence[Any]) -> Passage:
        key, title, piece, lead, start, *place = row
        text = text_of(piece)[lead:]
        passage_id = id_of(key)
        if content_id(title, text) != passage_id:
            raise damaged(self.folder, f"the text of passage {passage_id} is not what was indexed")
        return Passage(passage_id, title, text, Source(start, start + len(text), *place))


def in_order(found: Mapping[str, Passage], passage_ids: Sequence[str], place: Path | str) -> list[Passage]:
    """The passages of those ids, in their order. Raises SourceError if one was not found."""
    for passage_id in passage_ids:
        if passage_id not in found:
            raise SourceError(f"There is no passage {passage_id!r} in {place}; ids come from a search there.")
    return [found[passage_id] for passage_id in passage_ids]


def _document(row: Sequence[Any]) -> IndexedDocument:
    number, title, path, url, record, pages, passages = row
    return IndexedDocument(number, title, path, url, record, tuple(json.loads(pages)), passages)


def _key_or_none(passage_id: str) -> int | None:
    try:
        return key_of(passage_id)
    except ValueError:
        return None
