"""Changes to the files of a shared corpus: one new row for each path."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from toulmin.data import Document
from toulmin.documents.confined import Children
from toulmin.documents.loaders import SkippedFile, is_under
from toulmin.indexing.catalogue import Rejection
from toulmin.indexing.update import IndexReport, Progress, Writer, bring_up_to_date
from toulmin.indexing.vector_files import EncoderChoice, OnEncoded
from toulmin.indexing.writer import Stamp
from toulmin.stores import contents
from toulmin.stores.contents import FileRow


def run_update(
    write: Callable[[str, int | None, EncoderChoice | None], Changes],
    place: str,
    paths: Sequence[Path],
    *,
    passage_words: int | None = None,
    vectors: EncoderChoice | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> IndexReport:
    """Updates the corpus at an address as `indexing.update` does, keeping its passage length and encoder.

    Concurrent updates lose nothing; if both read a path, one reading stays. Raises SourceError for unusable paths or
    addresses and for another encoder or length; IndexDamaged for another version; UsageError for less than one word.
    """
    with write(place, passage_words, vectors) as writer:
        return bring_up_to_date(writer, paths, vectors=vectors, on_progress=on_progress)


class Changes(Writer):
    """A writer among several; leaving the `with` without `commit` changes nothing.

    This is the part about files: `new` rows by path, and the numbers of `dropped` ones.
    """

    outdated: frozenset[Path] = frozenset()

    def __init__(self, rows: Iterable[FileRow]) -> None:
        self.known = contents.newest(rows)
        self.new: dict[str, FileRow] = {}
        self.dropped: set[int] = set()
        self.encoded = 0
        self._by_number = {row.file: row for row in self.known.values() if row.file}
        self._documents: Counter[int] = Counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Drops what is not committed."""

    @abstractmethod
    def flush(self) -> None:
        """Encodes and stages what waits in memory."""

    def renew_vectors(self, wanted: EncoderChoice | None, on_encoded: OnEncoded) -> int:
        """Counts passages that `add_document` encoded."""
        self.flush()
        return self.encoded

    @abstractmethod
    def add_document(self, file: int, document: Document, on_passage: Callable[[], None]) -> None:
        """Cuts a document into passages; calls `on_passage` after each."""

    def add_documents(
        self, file: int, documents: Iterable[Document], on_passage: Callable[[], None], helpers: Children | None
    ) -> None:
        for document in documents:
            self.add_document(file, document, on_passage)

    def next_document(self, file: int) -> int:
        """The place of a new document in its file, from 0."""
        self._documents[file] += 1
        return self._documents[file] - 1

    def files(self) -> list[tuple[int, str]]:
        return [(row.file, row.path) for row in self.known.values() if row.file]

    def path(self, number: int) -> str:
        return self._by_number[number].path

    def stamp(self, path: Path) -> Stamp | None:
        row = self.known.get(str(path))
        if row is None or not row.file or row.size is None or row.mtime_ns is None or row.digest is None:
            return None
        return Stamp(row.file, row.size, row.mtime_ns, row.digest)

    def rejected(self, path: Path) -> Rejection | None:
        # Only of a path that the corpus holds nothing of: else its digest is that of what is held.
        row = self.known.get(str(path))
        if row is None or row.file or row.reason is None or row.digest is None:
            return None
        return Rejection(row.reason, row.digest)

    def note_time(self, stamp: Stamp) -> None:
        row = self._by_number[stamp.number]
        self.new[row.path] = contents.newer_row(row, row.path, size=stamp.size, mtime_ns=stamp.mtime_ns)

    def add_file(self, path: Path, stamp: Stamp) -> int:
        fields = {"size": stamp.size, "mtime_ns": stamp.mtime_ns, "digest": stamp.digest, "reason": None}
        row = contents.newer_row(self.known.get(str(path)), str(path), file=contents.new_number(), **fields)
        self.new[row.path] = row
        self._by_number[row.file] = row
        return row.file

    def remove_file(self, number: int) -> None:
        row = self._by_number[number]
        added = self.new.get(row.path)
        if added is not None and added.file == number:
            del self.new[row.path]
            self.dropped.add(number)
        elif added is None:
            gone = {"file": 0, "size": None, "mtime_ns": None, "digest": None, "reason": None}
            self.new[row.path] = contents.newer_row(row, row.path, **gone)

    def note_skipped(self, roots: Sequence[Path], skipped: Sequence[SkippedFile], tried: Mapping[str, bytes]) -> None:
        reasons = {skip.path: skip.reason for skip in skipped}
        for path, row in self.known.items():
            if row.reason is not None and path not in reasons and path not in self.new and is_under(Path(path), roots):
                self.new[path] = contents.newer_row(row, path, reason=None)
        for path, reason in reasons.items():
            known = self.new.get(path) or self.known.get(path)
            digest = known.digest if known is not None and known.file else tried.get(path)
            if known is None or (known.reason, known.digest) != (reason, digest):
                self.new[path] = contents.newer_row(known, path, reason=reason, digest=digest)
