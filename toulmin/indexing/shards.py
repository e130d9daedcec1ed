"""Several indexes read as one: the shards of a corpus.

* Documents with the same title share a shard. Equal passages have equal titles, so they count once; only a passage
  that long untitled documents share may be in several shards and count in each.
* Term frequencies and lengths are summed over the shards, so scores equal those of a single index.
* Each shard counts its updates, and a reader requires equal counts.
"""

from __future__ import annotations

import heapq
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

from toulmin.data import Document, Passage
from toulmin.errors import IndexDamaged, SourceError, UsageError
from toulmin.indexing import store
from toulmin.indexing.catalogue import NoIndex, check_empty, clear_errors, damage_error, how_to_make, no_index
from toulmin.indexing.corpus import IndexedDocument, Neighbours, OpenCorpus, Stats
from toulmin.indexing.lexicon import idf
from toulmin.indexing.store import Corpus, open_index
from toulmin.indexing.vector_files import Label, VectorStore
from toulmin.runtime.encoder import Vectors

if TYPE_CHECKING:
    from toulmin.documents.loaders import SkippedFile

MANIFEST = "shards.json"
MOST = 256
_PATIENCE_SECONDS = 5.0  # for shards that are being made visible one after another
_LOOK_SECONDS = 0.02

R = TypeVar("R")


# ---------------------------------------------------------------- layout


def shards_in(index: Path) -> list[Path]:
    """The shard folders, in order; empty for an index without shards."""
    try:
        manifest = (index / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return []
    try:
        return _folders(index, int(json.loads(manifest)["shards"]))
    except (ValueError, TypeError, KeyError) as error:
        raise damage_error(index, f"{MANIFEST} does not say how many shards there are ({error})") from error


def _folders(index: Path, count: int) -> list[Path]:
    return [index / f"shard-{number:03d}" for number in range(count)]


def lay_out(index: Path, count: int) -> list[Path]:
    """Makes the folder an index of `count` shards and returns their folders.

    Raises SourceError if it holds anything else; UsageError for a number out of range.
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
        for left in index.glob(f"{MANIFEST}.*"):  # by a process that was killed before the next lines were done
            left.unlink(missing_ok=True)
        check_empty(index)
        unnamed = index / f"{MANIFEST}.{os.getpid()}"
        unnamed.write_text(json.dumps({"shards": count}), "utf-8")
        unnamed.replace(index / MANIFEST)
    return _folders(index, count)


def place_of(document: Document, count: int) -> int:
    text = document.title or document.text.strip()
    return crc32(text.encode("utf-8", "surrogatepass")) % count


# ---------------------------------------------------------------- reading


def is_index(folder: Path) -> bool:
    """Whether the folder holds an index, with or without shards."""
    return store.is_index(folder) or (folder / MANIFEST).is_file()


def label_of(index: Path) -> Label | None:
    shards = shards_in(index)
    return store.label_of(shards[0] if shards else index)


def open_any(index: Path) -> Corpus | Sharded:
    """Opens an index with or without shards; raises what `store.open_index` does."""
    shards = shards_in(index)
    return _open_parts(index, shards) if shards else open_index(index)


def _open_parts(index: Path, shards: Sequence[Path]) -> Sharded:
    """Waits while an update makes one shard after another visible."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        with ExitStack() as opened:
            parts = [opened.enter_context(_open_shard(index, shard)) for shard in shards]
            if len({part.updates for part in parts}) == 1:
                corpus = Sharded(index, parts)
                opened.pop_all()
                return corpus
        if time.monotonic() > until:
            raise IndexDamaged(
                f"The shards in {index} are not of one moment: an update ended while it made them visible. The next"
                f" one reads everything again; {how_to_make(index)}"
            )
        time.sleep(_LOOK_SECONDS)


def _open_shard(index: Path, shard: Path) -> Corpus:
    try:
        return open_index(shard)
    except NoIndex as error:
        raise no_index(index) from error


class Sharded(OpenCorpus):
    """An index of shards, open for reading; thread-safe."""

    folder: Path

    def __init__(self, index: Path, parts: Sequence[Corpus]) -> None:
        self.folder = index
        self._parts = list(parts)
        self.distinct = sum(map(len, parts))
        self.terms = sum(part.terms for part in parts)
        # tantivy and SQLite release Python's lock, so shards are queried in parallel.
        self._threads = ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1), "shard")
        self.vectors = None if parts[0].vectors is None else ShardedVectors(self)

    def each(self, ask: Callable[..., R], *values: Sequence[Any]) -> list[R]:
        """The result of `ask` for each shard; `values` hold one further argument per shard."""
        return list(self._threads.map(ask, self._parts, *values))

    # ------------------------------------------------------------ search

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        return [sum(counts) for counts in zip(*self.each(lambda part: part.frequencies(terms)), strict=True)]

    def candidates(self, query_terms: Sequence[str], limit: int, *, every: bool = False) -> list[tuple[int, bytes]]:
        counts = self.each(lambda part: part.frequencies(query_terms))
        weights = self._weights(query_terms, counts)
        hits = self.each(lambda part, share: part.lexicon.candidates(share, limit, every), weights)
        scored = ((score, key, place) for place, part in enumerate(hits) for score, key in part)
        best = {key: place for _, key, place in heapq.nlargest(limit, scored)}
        keys = [[key for key, held_by in best.items() if held_by == place] for place in range(len(self._parts))]
        codes = self.each(lambda part, share: zip(share, part.codes(share), strict=True), keys)
        packed = dict(chain.from_iterable(codes))
        return [(key, packed[key]) for key in best]

    def _weights(self, terms: Sequence[str], shard_counts: Sequence[Sequence[int]]) -> list[dict[str, float]]:
        """For each shard, the ratio of each term's idf in the whole index to that in it."""
        together = [idf(sum(counts), len(self)) for counts in zip(*shard_counts, strict=True)]
        return [
            {term: all_ / idf(count, len(part)) for term, all_, count in zip(terms, together, counts, strict=True)}
            for part, counts in zip(self._parts, shard_counts, strict=True)
        ]

    # ------------------------------------------------------------ passages

    def passages_by_id(self, passage_ids: Sequence[str]) -> dict[str, Passage]:
        by_id: dict[str, Passage] = {}
        for part in self._parts:
            by_id |= part.passages_by_id([passage_id for passage_id in passage_ids if passage_id not in by_id])
        return by_id

    def _holder(self, passage_id: str) -> Corpus:
        for part in self._parts:
            if part.passages_by_id([passage_id]):
                return part
        raise self.unknown_passage(passage_id)

    def neighbours(self, passage_id: str) -> Neighbours:
        return self._holder(passage_id).neighbours(passage_id)

    def every_passage(self) -> Iterator[Passage]:
        """Every distinct passage, by shard, then in the order of indexing."""
        seen: set[str] = set()
        for part in self._parts:
            for passage in part.every_passage():
                if passage.id not in seen:
                    seen.add(passage.id)
                    yield passage

    # ------------------------------------------------------------ documents and files

    def documents(self) -> Iterator[IndexedDocument]:
        """Every document, in the order of indexing."""
        return heapq.merge(*(part.documents() for part in self._parts), key=lambda document: document.number)

    def document(self, number: int) -> IndexedDocument:
        return self._parts[number % len(self._parts)].document(number)

    def document_of(self, passage_id: str) -> IndexedDocument:
        return self._holder(passage_id).document_of(passage_id)

    def text(self, document: IndexedDocument) -> str:
        return self._parts[document.number % len(self._parts)].text(document)

    def skipped(self) -> list[SkippedFile]:
        return self._parts[0].skipped()

    @property
    def stats(self) -> Stats:
        first, *others = (part.stats for part in self._parts)
        documents = first.documents + sum(stats.documents for stats in others)
        return replace(first, documents=documents, passages=self.distinct, terms=self.terms)

    @property
    def contents(self) -> str:
        return self._parts[0].contents

    # ------------------------------------------------------------ the rest

    def verify(self) -> None:
        for part in self._parts:
            part.verify()

    @property
    def opened_at(self) -> object:
        return [part.opened_at for part in self._parts]

    def stamp(self) -> object:
        return [part.stamp() for part in self._parts]

    def close(self) -> None:
        self._threads.shutdown()
        for part in self._parts:
            part.close()


class ShardedVectors:
    """Merges the nearest vectors of each shard by exact inner products."""

    def __init__(self, corpus: Sharded) -> None:
        self._corpus = corpus
        parts = corpus.each(_vectors_of)
        self.label = parts[0].label
        if any(part.label.identity != self.label.identity for part in parts):
            raise damage_error(corpus.folder, "its shards hold vectors of different encoders")

    @property
    def is_scanned(self) -> bool:
        return any(self._corpus.each(lambda part: _vectors_of(part).is_scanned))

    def rank(self, rows: Vectors, k: int) -> list[list[tuple[str, float]]]:
        rankings = self._corpus.each(lambda part: _vectors_of(part).rank(rows, k))
        distinct = (dict(chain.from_iterable(of_row)) for of_row in zip(*rankings, strict=True))
        return [sorted(row.items(), key=lambda item: (-item[1], item[0]))[:k] for row in distinct]


def _vectors_of(part: Corpus) -> VectorStore:
    if part.vectors is None:
        raise part.damage_error("it holds no vectors, and other shards do")
    return part.vectors
