"""What shared corpora have in common: settings, file rows, reading, repeated requests, and a copy in a folder.

* A corpus keeps its settings, since others may be reading it.
* File rows are never edited: the newest of a path counts, and old ones are deleted later. A changed file gets a
  new number, a removed file a row without one. So writers never undo one another's work.
* `at` counts microseconds, but exceeds that of the row its writer knew, however slow its clock.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import SystemRandom
from typing import Any, NamedTuple, TypeVar

import stamina

from toulmin.data import Document, Heading
from toulmin.documents.loaders import SkippedFile
from toulmin.documents.metadata import from_json, remarks_in
from toulmin.errors import IndexDamaged, SourceError, StoreAway
from toulmin.indexing.catalogue import clear_errors
from toulmin.indexing.corpus import AnyCorpus
from toulmin.indexing.update import IndexReport, Progress
from toulmin.indexing.vector_files import EncoderChoice, Label
from toulmin.indexing.writer import PASSAGE_WORDS, CorpusWriter, Stamp, check_passage_words
from toulmin.text.language import TERMS_VERSION

T = TypeVar("T")

COLUMNS = ("mark", "file", "path", "at", "size", "mtime_ns", "digest", "reason")


class About(NamedTuple):
    passage_words: int
    label: Label | None

    def as_json(self, format: int) -> dict[str, Any]:
        fields = {"format": format, "terms": TERMS_VERSION, "passage_words": self.passage_words}
        return {**fields, "label": asdict(self.label) if self.label else None}


def read_about(written: Mapping[str, Any], format: int, address: object) -> About:
    """The inverse of `About.as_json`. Raises `IndexDamaged` for another version."""
    if (written["format"], written["terms"]) != (format, TERMS_VERSION):
        raise IndexDamaged(
            f"The corpus in {address} was written by another version of Toulmin, and others may still use that. Make"
            " one at another address: toulmin index PATH --into ADDRESS"
        )
    return About(written["passage_words"], Label(**written["label"]) if written["label"] else None)


def about_for(passage_words: int | None, vectors: EncoderChoice | None) -> About:
    """The settings of a new corpus. Raises `UsageError` for less than one word a passage."""
    check_passage_words(passage_words)
    return About(passage_words or PASSAGE_WORDS, vectors.label if vectors else None)


def check_about(existing: About, asked: About, passage_words: int | None, address: object) -> None:
    """Raises `SourceError` for another encoder, or another length if one was given."""
    if passage_words not in (None, existing.passage_words):
        raise SourceError(
            f"The passages of {address} have about {existing.passage_words} words, not {passage_words}, and stay so,"
            " as others may be reading them; leave passage_words out, or make a corpus at another address."
        )
    if (existing.label.identity if existing.label else None) != (asked.label.identity if asked.label else None):
        made = f"with the vectors of {existing.label.name}" if existing.label else "without vectors"
        named = asked.label.name if asked.label else "none"
        raise SourceError(
            f"{address} was made {made}, and the encoder asked for is {named}. A shared corpus keeps what it"
            " was made with; make one at another address."
        )


# ---------------------------------------------------------------- file rows: the newest of a path counts


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as one writer saw it; `file` numbers what was read of it, 0 for nothing.

    `reason` is why the last attempt failed; with neither, the file is gone.
    """

    mark: int
    file: int
    path: str
    at: int
    size: int | None = None
    mtime_ns: int | None = None
    digest: bytes | None = None
    reason: str | None = None

    @property
    def is_gone(self) -> bool:
        return not self.file and self.reason is None


def new_number() -> int:
    """A unique number from 1 to 2**52, which JSON can hold."""
    return SystemRandom().getrandbits(52) + 1


def newer_row(known: FileRow | None, path: str, **changes: Any) -> FileRow:
    now = max(time.time_ns() // 1000, known.at + 1 if known else 0)
    return replace(known or FileRow(0, 0, path, 0), mark=new_number(), at=now, **changes)


def newest(rows: Iterable[FileRow]) -> dict[str, FileRow]:
    """The newest row of each path, including removed files."""
    by_path: dict[str, FileRow] = {}
    for row in rows:
        other = by_path.get(row.path)
        if other is None or (other.at, other.mark) < (row.at, row.mark):
            by_path[row.path] = row
    return by_path


class Waste(NamedTuple):
    """Old rows of a path: marks of file rows, and numbers of files whose other rows go too."""

    marks: Sequence[int]
    files: Sequence[int]


def waste(rows: Sequence[FileRow]) -> list[Waste]:
    """All of a path must be deleted together, or an older row would become valid again."""
    by_path: Mapping[str, list[FileRow]] = defaultdict(list)
    for row in rows:
        by_path[row.path].append(row)
    superseded = []
    for path, last in newest(rows).items():
        old = [row for row in by_path[path] if row.mark != last.mark]
        files = {row.file for row in old} - {0, last.file}
        marks = [row.mark for row in old] + ([last.mark] if last.is_gone else [])
        if marks:
            superseded.append(Waste(marks, sorted(files)))
    return superseded


# ---------------------------------------------------------------- reading


class StoredCorpus(AnyCorpus):
    folder: str
    files: Mapping[str, FileRow]  # by path, without removed files
    _about: About

    def _take(self, rows: Iterable[FileRow]) -> None:
        self.files = {path: row for path, row in newest(rows).items() if not row.is_gone}

    def digest_of(self, path: str | None) -> str:
        row = self.files.get(path) if path is not None else None
        return row.digest.hex() if row is not None and row.digest is not None else ""

    @abstractmethod
    def whole_documents(self) -> Iterator[tuple[FileRow, list[Document]]]:
        """Every file, by path, with its documents as read; few files are in memory at once."""

    @property
    def passage_words(self) -> int:
        return self._about.passage_words

    def damage_error(self, what: str) -> IndexDamaged:
        return IndexDamaged(
            f"The corpus in {self.folder} is damaged: {what}. Delete it there, and run:"
            f" toulmin index PATH --into {self.folder}"
        )

    def skipped(self) -> list[SkippedFile]:
        return [SkippedFile(path, row.reason) for path, row in sorted(self.files.items()) if row.reason is not None]

    @property
    def contents(self) -> str:
        digests = sorted(row.digest for row in self.files.values() if row.file and row.digest is not None)
        return hashlib.sha256(b"".join(digests)).hexdigest()


def places(document: Document) -> tuple[str, str]:
    """Pages and headings, as JSON."""
    return json.dumps(document.pages), json.dumps(document.headings)


def whole_document(
    text: str, title: str, path: str, url: str | None, record: str | None, metadata: str, pages: str, headings: str
) -> Document:
    """A document as it was read; `pages` and `headings` are of `places`, `metadata` is JSON too."""
    made = tuple(Heading(*heading) for heading in json.loads(headings))
    about = from_json(metadata), remarks_in(metadata)
    return Document(text, title, path, url, record, tuple(json.loads(pages)), made, *about)


def no_corpus(address: object) -> SourceError:
    return SourceError(f"There is no corpus in {address}; to make one, run: toulmin index PATH --into {address}")


# ---------------------------------------------------------------- requests that are repeated


LOG = logging.getLogger("toulmin.stores")


class Passing(StoreAway):
    """A temporary error."""


def repeat(store: str, work: Callable[[], T], attempts: int) -> T:
    """Runs `work`, which must be safe to repeat, again after each `Passing`."""
    for attempt in stamina.retry_context(on=Passing, attempts=attempts, wait_initial=0.1, wait_max=2.0):
        if attempt.num > 1:
            LOG.warning("a request to the %(store)s failed; try %(try)d", {"store": store, "try": attempt.num})
        with attempt:
            return work()
    raise AssertionError("stamina ends with a result or an error")


# ---------------------------------------------------------------- a copy in a folder


def copy_corpus(
    corpus: StoredCorpus,
    into: Path,
    *,
    vectors: EncoderChoice | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> IndexReport:
    """Makes the index hold exactly the corpus: the same passages, ids and sources.

    Skips unchanged files; encodes passages here. Raises what `indexing.update` raises for folders and disks.
    """
    counts, show = Counter[str](), on_progress or (lambda progress: None)
    with CorpusWriter(into, corpus.passage_words) as writer, clear_errors(into):
        paths = {row.path for row in corpus.files.values() if row.file}
        for file, documents in corpus.whole_documents():
            show(Progress(file.path, counts["read"] + counts["unchanged"], len(paths), counts["passages"]))
            path, old = Path(file.path), writer.stamp(Path(file.path))
            if old is not None and old.digest == file.digest and path not in writer.outdated:
                counts["unchanged"] += 1
                continue
            number = writer.add_file(path, Stamp(0, file.size or 0, file.mtime_ns or 0, file.digest or b""))
            writer.add_documents(number, documents, lambda: counts.update(passages=1))
            if old is not None:
                writer.remove_file(old.number)
            counts["read"] += 1
        gone = [number for number, path in writer.files() if path not in paths]
        for number in gone:
            writer.remove_file(number)
        skipped = tuple(corpus.skipped())
        writer.note_skipped([Path(Path(into).absolute().anchor)], skipped, {})
        encoded = writer.renew_vectors(vectors, lambda done, total: None)
        totals = writer.commit()
    name = vectors.encoder.name if vectors else None
    files = (counts["read"], counts["unchanged"], len(gone), skipped)
    return IndexReport(*files, totals.documents, totals.passages, encoder=name, encoded=encoded)
