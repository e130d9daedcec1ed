"""What shared corpora have in common: settings, file rows, pieces of documents, and reading.

* A corpus keeps its settings, since others may be reading it.
* Nobody edits a file row: the newest of a path counts, and superseded ones are deleted later. A changed file gets a
  new number, a removed file a row without one. So writers never undo one another's work.
* `at` counts microseconds but always exceeds that of the row its writer knew, however slow its clock.
"""

from __future__ import annotations

import hashlib
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from random import SystemRandom
from typing import Any, NamedTuple, Self

from toulmin.data import Document, Passage, Source, content_id
from toulmin.documents.loaders import Skipped
from toulmin.documents.passages import cut
from toulmin.errors import IndexDamaged, SourceError, UsageError
from toulmin.indexing.catalogue import id_of, key_of
from toulmin.indexing.store import in_order
from toulmin.indexing.vector_files import Label, Wanted
from toulmin.indexing.writer import PASSAGE_WORDS
from toulmin.text.language import TERMS_VERSION


class About(NamedTuple):
    """The settings of a corpus."""

    passage_words: int
    label: Label | None

    def as_json(self, format: int) -> dict[str, Any]:
        fields = {"format": format, "terms": TERMS_VERSION, "passage_words": self.passage_words}
        return {**fields, "label": asdict(self.label) if self.label else None}


def read(written: Mapping[str, Any], format: int, address: object) -> About:
    """The inverse of `About.as_json`. Raises `IndexDamaged` for another version."""
    if (written["format"], written["terms"]) != (format, TERMS_VERSION):
        raise IndexDamaged(
            f"The corpus in {address} was written by another version of Toulmin, and others may still use that. Make"
            " one at another address: toulmin index PATH --into ADDRESS"
        )
    return About(written["passage_words"], Label(**written["label"]) if written["label"] else None)


def about_for(passage_words: int | None, vectors: Wanted | None) -> About:
    """The settings of a new corpus. Raises `UsageError` for less than one word a passage."""
    if passage_words is not None and passage_words < 1:
        raise UsageError(f"A passage needs at least 1 word, not {passage_words}.")
    if vectors is None:
        return About(passage_words or PASSAGE_WORDS, None)
    encoder = vectors.encoder
    label = Label(encoder.identity, encoder.name, vectors.spec, encoder.dimension)
    return About(passage_words or PASSAGE_WORDS, label)


def check(existing: About, asked: About, passage_words: int | None, address: object) -> None:
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


def damage_error(address: object, what: str) -> IndexDamaged:
    return IndexDamaged(
        f"The corpus in {address} is damaged: {what}. Delete it there, and run: toulmin index PATH --into {address}"
    )


# ---------------------------------------------------------------- documents in pieces that each end a passage


class Piece(NamedTuple):
    """The text since the previous passage; without its first `lead` characters it is the passage."""

    passage: Passage
    number: int
    lead: int
    text: str

    @property
    def key(self) -> int:
        return key_of(self.passage.id)


class Cut(NamedTuple):
    """A document's pieces, and the text after the last."""

    pieces: list[Piece]
    tail: str


def pieces(document: Document, passage_words: int) -> Cut:
    """Cuts a document into passages of about so many words."""

    def each_piece() -> Iterator[Piece]:
        before = 0
        for number, passage in enumerate(cut(document, passage_words)):
            end = passage.source.end
            yield Piece(passage, number, passage.source.start - before, document.text[before:end])
            before = end

    parts = list(each_piece())
    return Cut(parts, document.text[parts[-1].passage.source.end if parts else 0 :])


def passage_of(
    corpus: str, key: int, title: str, piece: str, lead: int, start: int, *place: str | int | None
) -> Passage:
    """The passage at the end of a stored piece; `place` is its path, url, record and page.

    Raises `IndexDamaged` if the text does not match the content id.
    """
    text, passage_id = piece[lead:], id_of(key)
    if content_id(title, text) != passage_id:
        raise damage_error(corpus, f"the text of passage {passage_id} is not what was indexed")
    return Passage(passage_id, title, text, Source(start, start + len(text), *place))  # type: ignore[arg-type]


# ---------------------------------------------------------------- file rows: the newest of a path counts


_random = SystemRandom()


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as one writer saw it; `file` numbers what was read of it, 0 for nothing.

    `reason` says why the last attempt failed; with neither, the file is gone.
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


COLUMNS = ("mark", "file", "path", "at", "size", "mtime_ns", "digest", "reason")


def number() -> int:
    """A unique number from 1 to 2**52, which JSON can hold."""
    return _random.getrandbits(52) + 1


def after(known: FileRow | None, path: str, **changes: Any) -> FileRow:
    now = max(time.time_ns() // 1000, known.at + 1 if known else 0)
    row = known or FileRow(0, 0, path, 0)
    return replace(row, mark=number(), at=now, **changes)


def newest(rows: Iterable[FileRow]) -> dict[str, FileRow]:
    """The newest row of each path, including removed files."""
    by_path: dict[str, FileRow] = {}
    for row in rows:
        other = by_path.get(row.path)
        if other is None or (other.at, other.mark) < (row.at, row.mark):
            by_path[row.path] = row
    return by_path


@dataclass(frozen=True, slots=True)
class Waste:
    """Superseded rows of a path: marks of file rows, and numbers of files whose other rows go too."""

    marks: Sequence[int]
    files: Sequence[int]


def waste(rows: Sequence[FileRow]) -> list[Waste]:
    """What is superseded. All of a path must be deleted together, or an older row would become valid again."""
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


# ---------------------------------------------------------------- readers of a shared corpus


class Reader(ABC):
    """One moment of a shared corpus. Close it, or use it in a `with`."""

    folder: str
    files: Mapping[str, FileRow]  # by path, without removed files
    _about: About
    _passages: int  # distinct ones
    _terms: int  # in them

    def _take(self, rows: Iterable[FileRow]) -> None:
        self.files = {path: row for path, row in newest(rows).items() if not row.is_gone}

    def __len__(self) -> int:
        return self._passages

    @property
    def average_terms(self) -> float:
        return self._terms / max(1, self._passages)

    @property
    def passage_words(self) -> int:
        return self._about.passage_words

    def passage(self, passage_id: str) -> Passage:
        return self.passages([passage_id])[0]

    def passages(self, passage_ids: Sequence[str]) -> list[Passage]:
        return in_order(self._passages_of(keys_of(passage_ids)), passage_ids, self.folder)

    @abstractmethod
    def _passages_of(self, keys: Sequence[int]) -> Mapping[str, Passage]:
        """The existing passages, by id."""

    def skipped(self) -> list[Skipped]:
        return [Skipped(path, row.reason) for path, row in sorted(self.files.items()) if row.reason is not None]

    @property
    def contents(self) -> str:
        digests = sorted(row.digest for row in self.files.values() if row.file and row.digest is not None)
        return hashlib.sha256(b"".join(digests)).hexdigest()

    @abstractmethod
    def close(self) -> None:
        """Nothing may be asked afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def keys_of(passage_ids: Sequence[str]) -> list[int]:
    """The distinct keys; skips malformed ids."""
    keys = []
    for passage_id in dict.fromkeys(passage_ids):
        try:
            keys.append(key_of(passage_id))
        except ValueError:
            continue
    return keys
