"""The term index of a corpus, on tantivy: which passages contain a term, and candidates for several terms.

* tantivy receives our own terms, joined by spaces: stems, folded accents and character pairs are ours.
* Each update writes a new folder, a *generation*. It begins with hard links to the previous files, which tantivy
  never edits, so the old generation stays intact until it is deleted.
* `retrieval.bm25` ranks the candidates.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tantivy
from tantivy import Occur, Query, TextAnalyzerBuilder, Tokenizer

from toulmin.errors import disk_full
from toulmin.indexing.catalogue import FILE, cannot_write, damage_error, next_number, sha256_of
from toulmin.indexing.codes import CODE_BYTES, COMMON_BYTES, COUNT

_HEAP_BYTES = 48_000_000
_TOGETHER = 200  # passages sent to tantivy's thread at once; waking it for each one costs more
_CODE = np.dtype(f"<u{CODE_BYTES}")
_COMMON = np.dtype(f"<u{COMMON_BYTES}")
_REPLACED = {"meta.json", ".managed.json"}

Among = tuple[Occur, Query]
Codes = npt.NDArray[np.uint32]
Owners = npt.NDArray[np.int64]


class TermTable(NamedTuple):
    """For each term of several passages: its passage, counted from 0, and its code."""

    owners: Owners
    codes: Codes


def unpack(several: Sequence[bytes]) -> TermTable:
    """The common terms of all passages come first."""
    common = [COUNT.unpack_from(packed)[0] for packed in several]
    ends = [COUNT.size + count * _COMMON.itemsize for count in common]
    others = [(len(packed) - end) // _CODE.itemsize for packed, end in zip(several, ends, strict=True)]
    first = b"".join([packed[COUNT.size : end] for packed, end in zip(several, ends, strict=True)])
    last = b"".join([packed[end:] for packed, end in zip(several, ends, strict=True)])
    places = np.arange(len(several))
    return TermTable(
        np.concatenate([np.repeat(places, common), np.repeat(places, others)]),
        np.concatenate([np.frombuffer(first, _COMMON).astype(_CODE), np.frombuffer(last, _CODE)]),
    )


def folder_of(index: Path, generation: int) -> Path:
    return index / f"terms-{generation:08d}"


def digests(index: Path, generation: int, known: Mapping[str, str]) -> dict[str, str]:
    """The SHA-256 of each file that tantivy never edits; files in `known` are not read again."""
    files = [file for file in _without_locks(folder_of(index, generation)) if file.name not in _REPLACED]
    return {file.name: known.get(file.name) or sha256_of(file).hex() for file in files}


class Lexicon:
    """One generation, open for reading; thread-safe."""

    def __init__(self, index: Path, generation: int) -> None:
        """Raises IndexDamaged."""
        folder = folder_of(index, generation)
        if not folder.is_dir():
            raise damage_error(index, "its term index is missing")
        self._index = index
        with _clear_errors(index), _openable(folder) as place:
            opened = _open(place, is_new=False)
            # A generation never changes, so its files need neither watching nor a lock.
            opened.config_reader("manual")
            self._schema = opened.schema
            self._searcher = opened.searcher()
            # tantivy takes a missing file of positions for an empty one and fails at the first search. A generation
            # deleted while it is opened must be noticed here, where a reader can start over.
            self._searcher.doc_freq("terms", "")
            # tantivy counts deleted passages among those that hold a term until it rewrites their file.
            self._is_whole = all(part["deletes"] is None for part in _segments(folder))

    @property
    def passages(self) -> int:
        return int(self._searcher.num_docs)

    def frequency(self, term: str) -> int:
        with _clear_errors(self._index):
            counted = self._searcher.doc_freq("terms", term)
            if not counted or self._is_whole:
                return int(counted)
            matches: Any = self._searcher.search(self._query(term), 1, count=True)
            return int(matches.count)

    def among(self, keys: Sequence[int], are_wanted: bool) -> Among:
        """Only the passages of these keys, or all others, for `candidates`; the fewer keys, the faster."""
        return (Occur.Must if are_wanted else Occur.MustNot, Query.term_set_query(self._schema, "key", keys))

    def candidates(self, terms: Iterable[str], limit: int, every: bool, among: Among | None = None) -> list[int]:
        """Keys of at most `limit` passages, the likely best first; with `every` a passage must have all terms."""
        with _clear_errors(self._index):
            occurs = Occur.Must if every else Occur.Should
            query = Query.boolean_query([(occurs, self._query(term)) for term in dict.fromkeys(terms)])
            if among is not None:
                query = Query.boolean_query([(Occur.Must, query), among])
            hits: list[Any] = self._searcher.search(query, limit, count=False).hits
            keys: list[Any] = self._searcher.fast_field_values("key", [address for _, address in hits])
            return keys

    def close(self) -> None:
        self.__dict__.pop("_searcher", None)

    def _query(self, term: str) -> Query:
        return Query.term_query(self._schema, "terms", term, "freq")


class LexiconWriter:
    """Writes a new generation, which readers ignore until the database names it."""

    def __init__(self, index: Path, before: int) -> None:
        """Starts from generation `before`, or empty for 0. Raises IndexDamaged if it is missing."""
        if before and not folder_of(index, before).is_dir():
            raise damage_error(index, "its term index is missing")
        self.generation = next_number(index, "terms")
        self._index = index
        self._folder = folder_of(index, self.generation)
        self._folder.mkdir()
        if before:
            _link_files(folder_of(index, before), self._folder)
        with _clear_errors(index):
            # One thread: cutting text into terms is the slow part, and fewer segments search faster.
            self._writer = _open(self._folder, is_new=not before).writer(heap_size=_HEAP_BYTES, num_threads=1)
        self._waiting: list[tantivy.Document] = []

    def add(self, key: int, terms: str) -> None:
        self._waiting.append(tantivy.Document(key=key, terms=terms))
        if len(self._waiting) >= _TOGETHER:
            self._hand_over()

    def remove(self, key: int) -> None:
        self._hand_over()
        with _clear_errors(self._index):
            self._writer.delete_documents_by_term("key", key)

    def _hand_over(self) -> None:
        with _clear_errors(self._index):
            for document in self._waiting:
                self._writer.add_document(document)
        self._waiting.clear()

    def commit(self) -> None:
        """Writes to disk; nothing may be added afterwards."""
        self._hand_over()
        with _clear_errors(self._index):
            self._writer.commit()
            self._writer.wait_merging_threads()
        for name in _REPLACED:
            # tantivy lets only the owner read these two; give them the database's permissions.
            shutil.copymode(self._index / FILE, self._folder / name)
        _sync(self._folder)
        _sync(self._index)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("key", indexed=True, fast=True)
    builder.add_text_field("terms", tokenizer_name="terms", index_option="freq")
    return builder.build()


def _open(folder: Path, is_new: bool) -> tantivy.Index:
    opened = tantivy.Index(_schema(), str(folder)) if is_new else tantivy.Index.open(str(folder))
    opened.register_tokenizer("terms", TextAnalyzerBuilder(Tokenizer.whitespace()).build())
    return opened


def _segments(folder: Path) -> list[dict[str, Any]]:
    try:
        return list(json.loads((folder / "meta.json").read_bytes())["segments"])
    except FileNotFoundError as error:  # deleted meanwhile
        raise ValueError(str(error)) from error


@contextmanager
def _openable(folder: Path) -> Iterator[Path]:
    """The folder, or links to its files: tantivy writes a lock, which some readers may not."""
    if os.access(folder, os.W_OK):
        yield folder
        return
    with TemporaryDirectory(prefix="toulmin-", ignore_cleanup_errors=True) as mirror:
        for file in _without_locks(folder):
            (Path(mirror) / file.name).symlink_to(file.absolute())
        yield Path(mirror)


def _link_files(before: Path, after: Path) -> None:
    """Copies files that tantivy replaces, and where links are impossible."""
    for file in _without_locks(before):
        if file.name not in _REPLACED:
            with suppress(OSError):
                os.link(file, after / file.name)
                continue
        shutil.copyfile(file, after / file.name)


def _without_locks(folder: Path) -> list[Path]:
    return [file for file in folder.iterdir() if file.suffix != ".lock"]


def _sync(folder: Path) -> None:
    """Makes a folder's entries survive a power cut (not on Windows)."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _clear_errors(index: Path) -> Iterator[None]:
    """tantivy raises ValueError for everything, and panics at some broken files."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, ValueError) and type(error).__name__ != "PanicException":
            raise
        raise _error_for(index, str(error)) from error


def _error_for(index: Path, what: str) -> Exception:
    if any(sign in what for sign in ("No space left", "StorageFull", "File too large", "quota", "writer was killed")):
        return disk_full(index)
    if "Permission denied" in what or "Read-only" in what:
        return cannot_write(index, what)
    return damage_error(index, what[:200])


def idf(frequency: int, passages: int) -> float:
    """The BM25 weight of a term that `frequency` of `passages` contain."""
    return math.log(1 + (passages - frequency + 0.5) / (frequency + 0.5))
