"""The term index of a corpus, on tantivy: which passages hold a term, and the best candidates for several.

* tantivy is fed our own terms, joined by spaces, so that stems, folded accents and character pairs are ours.
* Each update writes a folder of its own, a *generation*, that begins with hard links to the files of the one before:
  tantivy never edits a file, so the old generation stays as it was until nobody names it.
* tantivy knows one setting of BM25. It finds candidates; `retrieve` ranks them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import tantivy
from tantivy import Occur, Query, TextAnalyzerBuilder, Tokenizer

from toulmin.corpus.catalogue import FILE, cannot_write, damaged
from toulmin.data import Passage
from toulmin.language import terms

# How often a title's terms count; chosen on the train split by benchmarks/retrieval.py.
TITLE_WEIGHT = 4
_HEAP_BYTES = 48_000_000
_CODE = np.dtype("<u4")
_REPLACED = {"meta.json", ".managed.json"}

Codes = npt.NDArray[np.uint32]


def passage_terms(passage: Passage, title_weight: int = TITLE_WEIGHT) -> list[str]:
    """What a passage is found by: the terms of its text, and those of its title `title_weight` times."""
    return terms(passage.title) * title_weight + terms(passage.text)


@lru_cache(maxsize=200_000)
def term_code(term: str) -> int:
    """A term as 32 bits; two terms of one query share a code with another term about once in ten million passages."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


def pack(passage_terms: Sequence[str]) -> bytes:
    """The codes of a passage's terms, four bytes each, in order."""
    return np.fromiter(map(term_code, passage_terms), _CODE, len(passage_terms)).tobytes()


def unpack(codes: bytes) -> Codes:
    """The inverse of `pack`, over one passage or several joined."""
    return np.frombuffer(codes, _CODE)


def folder_of(index: Path, generation: int) -> Path:
    """Where a generation lies."""
    return index / f"terms-{generation:08d}"


def digests(index: Path, generation: int, known: Mapping[str, str]) -> dict[str, str]:
    """The content hash of each file of a generation that tantivy never edits; those in `known` are not read again."""
    files = [file for file in _without_locks(folder_of(index, generation)) if file.name not in _REPLACED]
    return {file.name: known.get(file.name) or _digest(file) for file in files}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove_others(index: Path, generation: int) -> None:
    """Deletes every generation but this one; a reader that has one open keeps it."""
    for folder in _generations(index):
        if folder != folder_of(index, generation):
            shutil.rmtree(folder, ignore_errors=True)


def _generations(index: Path) -> list[Path]:
    return [folder for folder in index.glob("terms-*") if folder.name[6:].isdigit()]


class Lexicon:
    """One generation, open for reading; several threads may use it."""

    def __init__(self, index: Path, generation: int) -> None:
        """Opens in about a millisecond. Raises IndexDamaged for a generation that is not there or broken."""
        folder = folder_of(index, generation)
        if not folder.is_dir():
            raise damaged(index, "its term index is missing")
        self._index = index
        with _clear_errors(index), _openable(folder) as place:
            opened = _open(place)
            # A generation never changes: nobody need watch its files, nor write a lock beside them while they go.
            opened.config_reader("manual")
            self._schema = opened.schema
            self._searcher = opened.searcher()
            # tantivy takes a missing file of positions for an empty one, and fails with the first search: a generation
            # that is deleted while it is opened must be told here, where a reader begins again.
            self._searcher.doc_freq("terms", "")

    @property
    def passages(self) -> int:
        """How many passages can be found."""
        return int(self._searcher.num_docs)

    def frequency(self, term: str) -> int:
        """How many passages hold the term."""
        with _clear_errors(self._index):
            if not self._searcher.doc_freq("terms", term):
                return 0
            # `doc_freq` counts deleted passages until their file is rewritten; a search does not.
            found: Any = self._searcher.search(self._query(term), 1, count=True)
            return int(found.count)

    def candidates(self, query_terms: Sequence[str], limit: int) -> list[int]:
        """The keys of at most `limit` passages that hold any of the terms, the likely best first."""
        with _clear_errors(self._index):
            query = Query.boolean_query([(Occur.Should, self._query(term)) for term in query_terms])
            found = self._searcher.search(query, limit, count=False).hits
            keys: list[Any] = self._searcher.fast_field_values("key", [address for _, address in found])
            return keys

    def close(self) -> None:
        """Lets go of the files; nothing may be asked afterwards."""
        self.__dict__.pop("_searcher", None)

    def _query(self, term: str) -> Query:
        return Query.term_query(self._schema, "terms", term, "freq")


class LexiconWriter:
    """A new generation in the making: begins as the one before, and is nothing to readers until it is named."""

    def __init__(self, index: Path, before: int) -> None:
        """Begins a generation like `before`, or an empty one where `before` is 0."""
        if before and not folder_of(index, before).is_dir():
            raise damaged(index, "its term index is missing")
        # Counted on from what lies there, as a killed update leaves a folder behind.
        self.generation = 1 + max((int(folder.name[6:]) for folder in _generations(index)), default=0)
        self._index = index
        self._folder = folder_of(index, self.generation)
        self._folder.mkdir()
        if before:
            _link_files(folder_of(index, before), self._folder)
        with _clear_errors(index):
            opened = _open(self._folder) if before else _create(self._folder)
            # One thread: cutting text into terms is the slow part, and fewer segments search faster.
            self._writer = opened.writer(heap_size=_HEAP_BYTES, num_threads=1)

    def add(self, key: int, passage_terms: Sequence[str]) -> None:
        """Makes a passage findable."""
        with _clear_errors(self._index):
            self._writer.add_document(tantivy.Document(key=key, terms=" ".join(passage_terms)))

    def remove(self, key: int) -> None:
        """Makes a passage that was added before no longer findable."""
        with _clear_errors(self._index):
            self._writer.delete_documents_by_term("key", key)

    def commit(self) -> None:
        """Puts everything on the disk; nothing may be added afterwards."""
        with _clear_errors(self._index):
            self._writer.commit()
            self._writer.wait_merging_threads()
        for name in _REPLACED:
            # tantivy lets only the owner read these two; whoever may read the database may read them.
            shutil.copymode(self._index / FILE, self._folder / name)
        _sync(self._folder)
        _sync(self._index)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("key", indexed=True, fast=True)
    builder.add_text_field("terms", tokenizer_name="terms", index_option="freq")
    return builder.build()


def _create(folder: Path) -> tantivy.Index:
    return _with_tokenizer(tantivy.Index(_schema(), str(folder)))


def _open(folder: Path) -> tantivy.Index:
    return _with_tokenizer(tantivy.Index.open(str(folder)))


def _with_tokenizer(opened: tantivy.Index) -> tantivy.Index:
    opened.register_tokenizer("terms", TextAnalyzerBuilder(Tokenizer.whitespace()).build())
    return opened


@contextmanager
def _openable(folder: Path) -> Iterator[Path]:
    """The folder, or links to its files: tantivy puts a lock beside what it opens, which not every reader may."""
    if os.access(folder, os.W_OK):
        yield folder
        return
    with TemporaryDirectory(prefix="toulmin-", ignore_cleanup_errors=True) as mirror:
        for file in _without_locks(folder):
            (Path(mirror) / file.name).symlink_to(file.absolute())
        yield Path(mirror)


def _link_files(before: Path, after: Path) -> None:
    """Hard links where the file system has them, copies elsewhere and of what tantivy replaces."""
    for file in _without_locks(before):
        if file.name in _REPLACED:
            shutil.copyfile(file, after / file.name)
            continue
        try:
            os.link(file, after / file.name)
        except OSError:
            shutil.copyfile(file, after / file.name)


def _without_locks(folder: Path) -> list[Path]:
    return [file for file in folder.iterdir() if file.suffix != ".lock"]


def _sync(folder: Path) -> None:
    """Makes a folder's entries last through a power cut, where folders can be opened (not on Windows)."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _clear_errors(index: Path) -> Iterator[None]:
    """tantivy reports all trouble as ValueError, a broken file now and then as a panic of its own type."""
    try:
        yield
    except ValueError as error:
        raise _translated(index, str(error)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise _translated(index, str(error)) from error


def _translated(index: Path, what: str) -> Exception:
    is_full = any(sign in what for sign in ("No space left", "StorageFull", "File too large", "quota"))
    if is_full or "writer was killed" in what:
        return cannot_write(index, what, is_full=True)
    if "Permission denied" in what or "Read-only" in what:
        return cannot_write(index, what, is_full=False)
    return damaged(index, what[:200])
