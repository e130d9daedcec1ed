"""Several indexes that are read as one: the shards of a corpus, each of them made by a process of its own.

* Documents of one title lie in one shard. Equal passages have equal titles, so they meet there and count once; only of
  long documents without a title, two that share a whole passage may lie apart, and that passage counts twice.
* How many passages hold a term is summed over the shards, and so are lengths: a score is what one index would give.
* Shards are brought up to date together. Each counts its updates, and a reader takes them where the counts agree.
"""

from __future__ import annotations

import heapq
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar
from zlib import crc32

from toulmin.data import Document, Passage
from toulmin.documents.loaders import Skipped
from toulmin.errors import IndexDamaged, SourceError, UsageError
from toulmin.indexing import store
from toulmin.indexing.catalogue import NoIndex, clear_errors, damaged, how_to_make, no_index
from toulmin.indexing.lexicon import idf
from toulmin.indexing.store import Corpus, IndexedDocument, Neighbours, Stats, in_order, open_index
from toulmin.indexing.vector_files import Label
from toulmin.runtime.encoder import Vectors

MANIFEST = "shards.json"
MOST = 256
_PATIENCE_SECONDS = 5.0  # for shards that are being made visible one after another
_LOOK_SECONDS = 0.02

R = TypeVar("R")


# ---------------------------------------------------------------- where they lie


def shards_in(index: Path) -> list[Path]:
    """The folders of the shards of that index, in order; none where it is no index of shards."""
    try:
        told = (index / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return []
    try:
        return _folders(index, int(json.loads(told)["shards"]))
    except (ValueError, TypeError, KeyError) as error:
        raise damaged(index, f"{MANIFEST} does not say how many shards there are ({error})") from error


def _folders(index: Path, count: int) -> list[Path]:
    return [index / f"shard-{number:03d}" for number in range(count)]


def laid_out(index: Path, count: int) -> list[Path]:
    """The folders of so many shards in that one, which is made and says so from now on.

    Raises SourceError where something else lies there, or another number of shards; UsageError for an odd number.
    """
    if not 1 <= count <= MOST:
        raise UsageError(f"An index has 1 to {MOST} shards, not {count}.")
    there = shards_in(index)
    if there and len(there) != count:
        raise SourceError(
            f"The index in {index} has {len(there)} shards, not {count}; leave the number out, or name another folder."
        )
    if there:
        return there
    if store.is_index(index):
        raise SourceError(f"The index in {index} is in one piece; name another folder to have one of {count} shards.")
    with clear_errors(index):
        index.mkdir(parents=True, exist_ok=True)
        if any(index.iterdir()):
            raise SourceError(f"{index} holds other files and no index; name a new or empty folder with --into.")
        unnamed = index / f"{MANIFEST}.{os.getpid()}"
        unnamed.write_text(json.dumps({"shards": count}), "utf-8")
        unnamed.replace(index / MANIFEST)
    return _folders(index, count)


def place_of(document: Document, count: int) -> int:
    """The shard that a document belongs to: by its title, and without one by its text."""
    told = document.title or document.text.strip()
    return crc32(told.encode("utf-8", "surrogatepass")) % count


# ---------------------------------------------------------------- reading


def is_index(folder: Path) -> bool:
    """Whether that folder holds an index, in one piece or in shards."""
    return store.is_index(folder) or (folder / MANIFEST).is_file()


def label_of(index: Path) -> Label | None:
    """Whose vectors an index holds, be it in one piece or in shards; see `store.label_of`."""
    shards = shards_in(index)
    return store.label_of(shards[0] if shards else index)


def open_any(index: Path) -> Corpus | Sharded:
    """The corpus in an index folder, in one piece or in shards, as it is now; raises what `store.open_index` does."""
    shards = shards_in(index)
    return _opened(index, shards) if shards else open_index(index)


def _opened(index: Path, shards: Sequence[Path]) -> Sharded:
    """One moment of all of them; waits for an update that makes one after another visible."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        parts: list[Corpus] = []
        try:
            parts.extend(map(_open_shard(index), shards))
            if len({part.updates for part in parts}) == 1:
                return Sharded(index, parts)
        except BaseException:
            _close(parts)
            raise
        _close(parts)
        if time.monotonic() > until:
            raise IndexDamaged(
                f"The shards in {index} are not of one moment: an update ended while it made them visible. The next"
                f" one reads everything again; {how_to_make(index)}"
            )
        time.sleep(_LOOK_SECONDS)


def _open_shard(index: Path) -> Callable[[Path], Corpus]:
    def opened(shard: Path) -> Corpus:
        try:
            return open_index(shard)
        except NoIndex as error:
            raise no_index(index) from error

    return opened


def _close(parts: Sequence[Corpus]) -> None:
    for part in parts:
        part.close()


class Sharded:
    """An index of shards, open for reading as `store.Corpus` is; several threads may use it."""

    def __init__(self, index: Path, parts: Sequence[Corpus]) -> None:
        """For `open_any`."""
        self.folder = index
        self._parts = list(parts)
        self._passages = sum(map(len, parts))
        self._terms = sum(part.terms for part in parts)
        # tantivy and SQLite work outside Python's lock, so shards are asked side by side.
        self._threads = ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1), "shard")
        self.vectors = None if parts[0].vectors is None else ShardedVectors(self)

    def each(self, ask: Callable[..., R], *told: Sequence[Any]) -> list[R]:
        """What each shard says, in their order; `told` has for each of them what it is asked with."""
        return list(self._threads.map(ask, self._parts, *told))

    # ------------------------------------------------------------ what search asks

    def __len__(self) -> int:
        """How many distinct passages there are."""
        return self._passages

    @property
    def average_terms(self) -> float:
        """The mean length of a passage in terms."""
        return self._terms / max(1, self._passages)

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """How many distinct passages hold each of the terms."""
        return [sum(counts) for counts in zip(*self.each(lambda part: part.frequencies(terms)), strict=True)]

    def candidates(self, query_terms: Sequence[str], limit: int) -> list[tuple[int, bytes]]:
        """The keys and packed terms of at most `limit` passages that hold any of the terms, the likely best first."""
        held = self.each(lambda part: part.frequencies(query_terms))
        found = self.each(lambda part, own: part.lexicon.candidates(own, limit), self._weights(query_terms, held))
        scored = ((score, key, place) for place, part in enumerate(found) for score, key in part)
        best = {key: place for _, key, place in heapq.nlargest(limit, scored)}
        keys = [[key for key, held_by in best.items() if held_by == place] for place in range(len(self._parts))]
        codes = self.each(lambda part, own: zip(own, part.codes(own), strict=True), keys)
        packed = dict(chain.from_iterable(codes))
        return [(key, packed[key]) for key in best]

    def _weights(self, terms: Sequence[str], held: Sequence[Sequence[int]]) -> list[dict[str, float]]:
        """For each shard, which holds so many passages with each of the terms, how much rarer they are in all of it."""
        together = [idf(sum(counts), self._passages) for counts in zip(*held, strict=True)]
        return [
            {term: all_ / idf(count, len(part)) for term, all_, count in zip(terms, together, counts, strict=True)}
            for part, counts in zip(self._parts, held, strict=True)
        ]

    # ------------------------------------------------------------ passages

    def passage(self, passage_id: str) -> Passage:
        """The passage of that id, with one of its sources. Raises SourceError for an unknown id."""
        return self.passages([passage_id])[0]

    def passages(self, passage_ids: Sequence[str]) -> list[Passage]:
        """The passages of those ids, in their order. Raises SourceError if one is unknown."""
        found: dict[str, Passage] = {}
        for part in self._parts:
            found.update(part.found([one for one in passage_ids if one not in found]))
        return in_order(found, passage_ids, self.folder)

    def _holder(self, passage_id: str) -> Corpus:
        """The shard that holds the passage. Raises SourceError for an unknown id."""
        for part in self._parts:
            if part.found([passage_id]):
                return part
        raise SourceError(f"There is no passage {passage_id!r} in {self.folder}; ids come from a search there.")

    def neighbours(self, passage_id: str) -> Neighbours:
        """The passages before and after one in its document. Raises SourceError for an unknown id."""
        return self._holder(passage_id).neighbours(passage_id)

    def every_passage(self) -> Iterator[Passage]:
        """Every distinct passage, by shard, and there in the order in which they were indexed."""
        seen: set[str] = set()
        for part in self._parts:
            for passage in part.every_passage():
                if passage.id not in seen:
                    seen.add(passage.id)
                    yield passage

    # ------------------------------------------------------------ documents and files

    def documents(self) -> Iterator[IndexedDocument]:
        """Every document, in the order in which they were indexed."""
        return heapq.merge(*(part.documents() for part in self._parts), key=lambda document: document.number)

    def document_of(self, passage_id: str) -> IndexedDocument:
        """The document that the passage's source points into. Raises SourceError for an unknown id."""
        return self._holder(passage_id).document_of(passage_id)

    def text(self, document: IndexedDocument) -> str:
        """The whole extracted text, into which the offsets of its passages point."""
        return self._parts[document.number % len(self._parts)].text(document)

    def skipped(self) -> list[Skipped]:
        """What lay under the indexed paths and was not read when it was last looked at, by path."""
        return self._parts[0].skipped()

    @property
    def stats(self) -> Stats:
        """How much there is; every shard knows every file."""
        held = [part.stats for part in self._parts]
        documents = sum(one.documents for one in held)
        return Stats(held[0].files, documents, self._passages, self._terms, held[0].passage_words)

    @property
    def contents(self) -> str:
        """SHA-256, in hex, of what the indexed files held, wherever they lay and in whatever order they were read."""
        return self._parts[0].contents

    # ------------------------------------------------------------ the rest

    def verify(self) -> None:
        """Reads everything and compares it with what was written. Raises IndexDamaged."""
        for part in self._parts:
            part.verify()

    def stamp(self) -> object:
        """What changes when the index on the disk does."""
        return [part.stamp() for part in self._parts]

    def notes(self) -> tuple[str, ...]:
        """What went wrong and was put right since this was last asked: of a folder, nothing."""
        return ()

    def close(self) -> None:
        """Lets go of the files; nothing may be asked afterwards."""
        self._threads.shutdown()
        _close(self._parts)

    def __enter__(self) -> Sharded:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ShardedVectors:
    """The vectors of all shards; the nearest of each are put in one order by their exact inner products."""

    def __init__(self, corpus: Sharded) -> None:
        self._corpus = corpus
        held = corpus.each(_held)
        self.label = held[0].label
        if any(one.label.identity != self.label.identity for one in held):
            raise damaged(corpus.folder, "its shards hold vectors of different encoders")

    @property
    def is_scanned(self) -> bool:
        """Whether each vector is looked at for a query."""
        return any(self._corpus.each(lambda part: _held(part).is_scanned))

    def ranked(self, rows: Vectors, k: int) -> list[list[tuple[str, float]]]:
        """The ids and inner products of about the `k` nearest to each row, best first."""
        found = self._corpus.each(lambda part: _held(part).ranked(rows, k))
        return [_best(of_row, k) for of_row in zip(*found, strict=True)]


def _held(part: Corpus) -> Any:
    if part.vectors is None:
        raise damaged(part.folder, "it holds no vectors, and other shards do")
    return part.vectors


def _best(several: Sequence[Sequence[tuple[str, float]]], k: int) -> list[tuple[str, float]]:
    distinct = dict(one for ranked in several for one in ranked)
    return sorted(distinct.items(), key=lambda item: (-item[1], item[0]))[:k]
