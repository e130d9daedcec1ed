"""Brings an index up to date with files: reads only changes, and makes all visible in one step.

* A file is unchanged if its size and time are the same, or else its content hash.
* A changed file is added before its old version is removed: passages in both are never touched, and the same removal
  takes out a file that turns out unreadable.
* An unreadable file is tried again once it or this program changes; one that took too long, in a quarter of an hour.
* A passage is indexed once, however many files hold it.
* A first update makes whole files visible now and then, marked as a part; the next update continues there.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from toulmin import __version__
from toulmin.data import Document
from toulmin.documents import loaders
from toulmin.documents.bibliographies import Bibliographies
from toulmin.documents.confined import Children
from toulmin.documents.loaders import SkippedFile, find_files, is_under, largest
from toulmin.documents.metadata import from_json
from toulmin.documents.ocr import Ocr
from toulmin.documents.plain import Overdue, Unavailable, check_size
from toulmin.documents.records import BIBLIOGRAPHIES, is_bibliography
from toulmin.errors import SourceError
from toulmin.indexing.catalogue import Part, Rejection, clear_errors, sha256_of
from toulmin.indexing.vector_files import EncoderChoice, OnEncoded
from toulmin.indexing.writer import CorpusWriter, Stamp, Totals, check_passage_words

LOG = logging.getLogger("toulmin.indexing")
_COUNTS = ("read", "unchanged", "removed", "documents", "passages", "encoded")
_UPDATE = (
    "update: %(read)d files read, %(unchanged)d unchanged, %(removed)d removed, %(skipped)d skipped; %(documents)d"
    " documents, %(passages)d passages, %(encoded)d encoded in %(seconds).2f s"
)
_PUBLISH_SECONDS = 5.0  # at least, between the moments at which a first update becomes visible
_PUBLISH_SHARE = 0.2  # of the time so far, at least: a long update is not published hundreds of times
_MANY = 1000  # files, for which there are as many children as processors
_PROGRESS_EVERY = 500  # passages, within a file of many
_AHEAD = 8  # files looked at while an earlier one is indexed
_CLOCK_GRAIN_NS = 2_000_000_000  # the coarsest time resolution of file systems


@dataclass(frozen=True, slots=True)
class Progress:
    """The current file, files done, and passages added; then passages encoded of all."""

    path: str
    done_files: int
    total_files: int
    passages: int
    encoded: int = 0
    to_encode: int = 0


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an update did, in files, and what the index holds now (`passages` counts distinct ones).

    `encoder` made the vectors, `encoded` of them are new; `notes` lists incidents; `unread`
    files are left for the next update.
    """

    read: int
    unchanged: int
    removed: int
    skipped: tuple[SkippedFile, ...]
    documents: int
    passages: int
    encoder: str | None = None
    encoded: int = 0
    notes: tuple[str, ...] = ()
    unread: int = 0

    def log(self, seconds: float) -> None:
        """Logs a line, and a warning for each unreadable file."""
        for file in self.skipped:
            reason = file.reason.removeprefix(f"{file.path} ")
            LOG.warning("could not read %(path)s: %(reason)s", {"path": file.path, "reason": reason})
        counts = {name: getattr(self, name) for name in _COUNTS}
        LOG.info(_UPDATE, counts | {"skipped": len(self.skipped), "seconds": round(seconds, 4)})


def update(
    index: Path,
    paths: Sequence[Path],
    *,
    passage_words: int | None = None,
    vectors: EncoderChoice | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    within: float | None = None,
    ocr: Ocr | None = None,
) -> IndexReport:
    """Makes the index hold what the files and folders of `paths` hold now; contents from elsewhere stay.

    `passage_words` is the length of passages; None keeps the index's own, or 100 for a new one. Another length reads
    everything again, as does an index of another version. `vectors` names the encoder: unchanged passages keep their
    vectors, new ones are encoded; None removes all vectors. Unreadable files are listed in `skipped`, and their earlier
    contents stay. Readers see the old index until the end, and an interrupted update leaves it unchanged. A first
    update makes whole files visible now and then; it stops after `within` seconds, and the next one continues with
    the paths of both. `ocr` reads scanned pages.

    Raises SourceError for a missing path, a folder that is no index, a full disk and, after five seconds, for another
    update at work; IndexDamaged for a broken index; UsageError for less than one word.
    """
    check_passage_words(passage_words)
    with CorpusWriter(index, passage_words) as writer, clear_errors(index):
        roots = [*paths, *(path for path in map(Path, writer.part.paths if writer.part else ()) if path.exists())]
        steps = _Steps(writer, roots, within) if writer.can_publish else None
        return bring_up_to_date(
            writer, roots, vectors=vectors, on_progress=on_progress, index_folder=index, steps=steps, ocr=ocr
        )


class _Steps:
    """Publishes a first update now and then, and stops it in time."""

    def __init__(self, writer: CorpusWriter, paths: Sequence[Path], within: float | None) -> None:
        self._writer = writer
        self._paths = tuple(dict.fromkeys(os.path.abspath(path) for path in paths))
        self._began = time.monotonic()
        self._stop = math.inf if within is None else self._began + within
        self._next = self._began + _PUBLISH_SECONDS

    def is_over(self, read: int, files: int) -> bool:
        """Called after each file once one was read, so every update makes progress."""
        now = time.monotonic()
        if read == files:
            return False
        if now >= self._stop and self._writer.has_passages:
            return True
        if now >= self._next:
            self.publish(read, files)
            self._next = now + max(_PUBLISH_SECONDS, _PUBLISH_SHARE * (now - self._began))
        return False

    def publish(self, read: int, files: int) -> Totals:
        return self._writer.publish(Part(self._paths, read, files))


class Writer(Protocol):
    """What an update writes to; no change is visible before `commit`."""

    outdated: frozenset[Path]

    def files(self) -> list[tuple[int, str]]:
        """The number and path of every indexed file."""

    def stamp(self, path: Path) -> Stamp | None:
        """The file as last read."""

    def described(self) -> Iterable[tuple[str, str]]:
        """The path and metadata, as JSON, of every indexed document that is no record."""

    def rejected(self, path: Path) -> Rejection | None: ...

    def note_time(self, stamp: Stamp) -> None: ...

    def add_file(self, path: Path, stamp: Stamp) -> int:
        """Adds a file without documents; returns its number."""

    def remove_file(self, number: int) -> None: ...

    def add_documents(
        self, file: int, documents: Iterable[Document], on_passage: Callable[[], None], helpers: Children | None
    ) -> None:
        """Cuts documents into passages, perhaps with helpers; calls `on_passage` after each."""

    def note_skipped(self, roots: Sequence[Path], skipped: Sequence[SkippedFile], tried: Mapping[str, bytes]) -> None:
        """Replaces the unreadable files under the roots."""

    def renew_vectors(self, wanted: EncoderChoice | None, on_encoded: OnEncoded) -> int:
        """Updates the vectors; returns how many are new."""

    def commit(self) -> Totals:
        """Makes everything visible in one step."""


def bring_up_to_date(
    writer: Writer,
    paths: Sequence[Path],
    *,
    vectors: EncoderChoice | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    index_folder: Path | None = None,
    steps: _Steps | None = None,
    ocr: Ocr | None = None,
) -> IndexReport:
    """Does what `update` describes; ignores files in `index_folder`."""
    roots = [Path(os.path.abspath(path)) for path in paths]
    excluded = None if index_folder is None else Path(os.path.abspath(index_folder))
    files, skipped = find_files(roots)
    job = _Update(writer, on_progress or (lambda progress: None), steps, ocr)
    read = job.read_files({path for path in files if excluded not in path.parents} | writer.outdated)
    unread = len(job.files) - read
    job.remove_vanished(roots)
    named = [*job.skipped, *(skip for skip in skipped if excluded not in Path(skip.path).parents)]
    in_order = tuple(sorted(named, key=lambda skip: skip.path))
    writer.note_skipped(roots, in_order, job.tried)
    report = partial(IndexReport, *job.counts, in_order, notes=tuple(loaders.by_reason(job.remarks)))
    if steps is not None and unread:
        totals = steps.publish(read, len(job.files))
        return report(totals.documents, totals.passages, unread=unread)
    encoded = writer.renew_vectors(vectors, job.on_encoded)
    totals = writer.commit()
    name = vectors.encoder.name if vectors else None
    return report(totals.documents, totals.passages, encoder=name, encoded=encoded)


class _Unreadable(Exception):
    """A file that its loader rejected."""


def _attempts(now: Stamp, ocr: Ocr | None) -> list[bytes]:
    # What stands for trying that content with this program, and what reads scans for it: at all, and in this quarter of
    # an hour.
    abouts = (f"{__version__}{ocr or ''}{quarter}" for quarter in ("", int(time.time() // 900)))
    return [hashlib.sha256(about.encode() + now.digest).digest() for about in abouts]


class _Update:
    def __init__(
        self, writer: Writer, on_progress: Callable[[Progress], None], steps: _Steps | None, ocr: Ocr | None
    ) -> None:
        self._writer = writer
        self._ocr = ocr
        self._steps = steps
        self._on_progress = on_progress
        self._progress = Progress("", 0, 0, 0)
        self._passages = 0
        self.read = self.unchanged = self.removed = 0
        self.skipped: list[SkippedFile] = []
        self.remarks: list[SkippedFile] = []
        self.tried: dict[str, bytes] = {}
        self._outdated = set(writer.outdated)

    @property
    def counts(self) -> tuple[int, int, int]:
        return self.read, self.unchanged, self.removed

    def read_files(self, files: set[Path]) -> int:
        """Returns how many were read in time; `files` are then those to read."""
        helpers = Children(_MANY, is_helping=True)
        with Children(len(files), self._ocr) as self._children, helpers:
            self._helpers = helpers if (os.cpu_count() or 1) > 1 else None
            self.files = files | self._described_otherwise(files)
            for done, (path, act) in enumerate(self._ahead(sorted(self.files))):
                self._show(path=str(path), done_files=done, total_files=len(self.files))
                act()
                if self.read and self._steps is not None and self._steps.is_over(done + 1, len(self.files)):
                    return done + 1
        self._show(done_files=len(self.files))
        return len(self.files)

    def _described_otherwise(self, files: set[Path]) -> set[Path]:
        """The indexed files that another entry of the bibliographies describes than before, if one of these changed."""
        known = {Path(path) for _, path in self._writer.files() if path.lower().endswith(BIBLIOGRAPHIES)}
        gone = set(filter(_is_gone, known))
        present = set(filter(is_bibliography, (files | known) - gone))
        self._library = Bibliographies(present, self._children, self.remarks)
        if gone or any(map(self._has_changed, present)):
            for path, metadata in self._writer.described():
                about = from_json(metadata)
                if about.entry != self._library.entry_for(path, about.doi).metadata.entry:
                    self._outdated.add(Path(path))
        return set(filter(Path.is_file, self._outdated))

    def _has_changed(self, path: Path) -> bool:
        old = self._writer.stamp(path)
        with suppress(OSError, SourceError):
            return old is None or _stamp_of(path, old).digest != old.digest
        return True

    def _ahead(self, files: Iterable[Path]) -> Iterator[tuple[Path, Callable[[], None]]]:
        waiting = deque[tuple[Path, Callable[[], None]]]()
        for path in files:
            waiting.append((path, self._look(path)))
            if len(waiting) > _AHEAD:
                yield waiting.popleft()
        yield from waiting

    def _show(self, **changes: Any) -> None:
        self._progress = replace(self._progress, passages=self._passages, **changes)
        self._on_progress(self._progress)

    def _look(self, path: Path) -> Callable[[], None]:
        """The action for a file, to be done after those before it; a child begins to read a foreign file at once."""
        old = self._writer.stamp(path)
        try:
            now = _stamp_of(path, old)
        except OSError as error:
            return partial(self._skip, path, f"it cannot be opened ({error.strerror or error})")
        except SourceError as error:
            return partial(self._skip, path, str(error))
        if old is not None and old.digest == now.digest and path not in self._outdated:
            return partial(self._keep, old, now)
        rejected = self._writer.rejected(path)
        if rejected is not None and rejected.tried in _attempts(now, self._ocr):
            return partial(self._skip, path, *rejected)
        return partial(self._replace, path, old, now, self._children.documents_of(path))

    def _skip(self, path: Path, reason: str, tried: bytes | None = None) -> None:
        self.skipped.append(SkippedFile(str(path), reason))
        if tried is not None:
            self.tried[str(path)] = tried

    def _keep(self, old: Stamp, now: Stamp) -> None:
        self.unchanged += 1
        if now != old:
            self._writer.note_time(now)

    def _replace(self, path: Path, old: Stamp | None, now: Stamp, read: Callable[[], Iterable[Document]]) -> None:
        new, remarks = self._writer.add_file(path, now), list[str]()
        try:
            self._writer.add_documents(new, self._documents(read, remarks), self._count_passage, self._helpers)
        except _Unreadable as error:
            self._writer.remove_file(new)
            self._skip(path, str(error), self._tried(error.__cause__, now))
            return
        if old is not None:
            self._writer.remove_file(old.number)
        self.read += 1
        self.remarks += [SkippedFile(str(path), each) for each in dict.fromkeys(remarks)]

    def _documents(self, read: Callable[[], Iterable[Document]], remarks: list[str]) -> Iterator[Document]:
        """Separates the loader's errors from the writer's, and collects the remarks."""
        try:
            for document in read():
                remarks += document.remarks
                yield self._library.describe(document)
        except SourceError as error:
            raise _Unreadable(str(error)) from error

    def _tried(self, error: BaseException | None, now: Stamp) -> bytes | None:
        is_late = isinstance(error, Overdue)
        return None if isinstance(error, Unavailable) and not is_late else _attempts(now, self._ocr)[is_late]

    def _count_passage(self) -> None:
        self._passages += 1
        if self._passages % _PROGRESS_EVERY == 0:
            self._show()

    def on_encoded(self, done: int, total: int) -> None:
        self._on_progress(replace(self._progress, encoded=done, to_encode=total))

    def remove_vanished(self, roots: Sequence[Path]) -> None:
        for number, text in self._writer.files():
            path = Path(text)
            if is_under(path, roots) and _is_gone(path):
                self._writer.remove_file(number)
                self.removed += 1


def _stamp_of(path: Path, old: Stamp | None) -> Stamp:
    """The file's stamp now; `old`, without reading the file, if size and time agree. Raises `SourceError`."""
    status = path.stat()
    if old is not None and (old.size, old.mtime_ns) == (status.st_size, status.st_mtime_ns):
        return old
    check_size(path, status.st_size or 1, largest(path))  # before it is hashed
    # A file changed a moment ago may change again and keep its time; 0 makes the next update compare its content.
    is_settled = time.time_ns() - status.st_mtime_ns > _CLOCK_GRAIN_NS
    return Stamp(old.number if old else 0, status.st_size, status.st_mtime_ns if is_settled else 0, sha256_of(path))


def _is_gone(path: Path) -> bool:
    """Whether the file surely does not exist, rather than cannot be inspected."""
    try:
        path.stat()
    except OSError as error:
        return isinstance(error, FileNotFoundError | NotADirectoryError)
    return False
