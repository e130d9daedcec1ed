"""Ranks the best passages by words again, by words and meaning.

* A passage's score is the weighted sum of its BM25 score and its cosine, each scaled to 0..1 over the candidates.
* All vectors that this needs are made and kept, so that a first answer equals a later one.
* `DEPTH` and `WEIGHT` were chosen on the train part of the folder's questions (`benchmarks/folder.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from toulmin.data import Hit, Passage
from toulmin.errors import SourceError
from toulmin.indexing.catalogue import among
from toulmin.retrieval.fusion import Ranker, scale
from toulmin.runtime.database import Kind, RowCache
from toulmin.runtime.encoder import Encoder, Vectors
from toulmin.text.definitions import defined_terms, has_entry

DEPTH = 100
WEIGHT = 0.7  # of meaning
# Cosines that differ by less tell nothing: of passages that are the same but for a number, the number decides. Nine of
# ten questions of two folders have more than 0.35 between the first and the last of 100 passages.
_SPREAD = 0.25
_OF_AN_ENTRY = 1.0  # what is added to a passage with the glossary's entry for the term whose meaning is asked for
_MANY = 3  # queries asked together rank no more passages than so many: a page's claims share words with their sources
_LEAST = 12  # passages of each of them
_REMEMBERED = 50_000  # vectors in memory, at most: 77 MB of 384 numbers
_KIND = Kind(
    "file of passages' vectors", 0x746D7663, "vectors (key TEXT PRIMARY KEY, row BLOB)", "Delete it; it is made again."
)


class VectorCache:
    """The vectors of passages by id, in memory and, if possible, in a file in `folder`."""

    def __init__(self, make: Callable[[], Encoder], folder: Path | None = None) -> None:
        self._make, self._folder = make, folder
        self._rows: dict[str, Vectors] = {}
        self._lock = Lock()

    @cached_property
    def encoder(self) -> Encoder:
        return self._make()

    @cached_property
    def _file(self) -> _VectorRows | None:
        if self._folder is None:
            return None
        try:
            return _VectorRows(self._folder / f"vectors-{self.encoder.identity[:16]}.sqlite", _KIND)
        except SourceError:  # a place that cannot be written costs time, not the answer
            return None

    @property
    def is_kept(self) -> bool:
        return self._file is not None

    def of(self, passages: Sequence[Passage]) -> dict[str, Vectors]:
        """The vectors by passage id; those that are missing are made and stored."""
        with self._lock:
            self._look_up([passage.id for passage in passages if passage.id not in self._rows])
            missing = [passage for passage in passages if passage.id not in self._rows]
            if missing:
                made = self._make_rows(missing)
                self._rows |= made
                if self._file is not None:
                    self._file.keep(made)
            return {passage.id: self._rows[passage.id] for passage in passages}

    def make_ahead(self, passages: Sequence[Passage]) -> int:
        """Makes and stores the missing vectors in the file; returns their number."""
        with self._lock:
            if self._file is None:
                return 0
            kept = self._file.known([passage.id for passage in passages])
            missing = [passage for passage in passages if passage.id not in kept]
            if missing:
                self._file.keep(self._make_rows(missing))
            return len(missing)

    def _make_rows(self, passages: Sequence[Passage]) -> dict[str, Vectors]:
        rows = unit(self.encoder.encode_passages(passages)).astype(np.float16)  # as they are stored
        return {passage.id: row for passage, row in zip(passages, rows.astype(np.float32), strict=True)}

    def _look_up(self, ids: Sequence[str]) -> None:
        if len(self._rows) > _REMEMBERED:
            self._rows.clear()
        if self._file is not None and ids:
            self._rows |= self._file.rows(ids, self.encoder.dimension)


class _VectorRows(RowCache):
    """A file that cannot be read or written counts as empty."""

    def rows(self, ids: Sequence[str], dimension: int) -> dict[str, Vectors]:
        pairs = self._select("key, row", ids)
        sized = ((key, np.frombuffer(row, np.float16)) for key, row in pairs if len(row) == 2 * dimension)
        return {key: row.astype(np.float32) for key, row in sized if np.isfinite(row).all()}

    def known(self, ids: Sequence[str]) -> set[str]:
        return {key for (key,) in self._select("key", ids)}

    def _select(self, columns: str, ids: Sequence[str]) -> list[Any]:
        with suppress(SourceError), self._clearly():
            return self._file.execute(f"SELECT {columns} FROM vectors WHERE {among(ids)}", ids).fetchall()
        return []

    def keep(self, made: dict[str, Vectors]) -> None:
        with suppress(SourceError), self._clearly():
            self._file.executemany(
                "INSERT OR REPLACE INTO vectors (key, row) VALUES (?, ?)",
                [(key, row.astype(np.float16).tobytes()) for key, row in made.items()],
            )


class Reranker:
    """Ranks the first `depth` passages again; many queries together rank fewer passages each."""

    def __init__(self, lexical: Ranker, kept: VectorCache, depth: int = DEPTH) -> None:
        self._lexical, self._kept, self._depth = lexical, kept, depth

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Hits beyond the depth follow in the order by words."""
        if k < 1 or not queries:
            return [[] for _ in queries]
        rows = self._lexical.search(queries, max(self._depth, k))
        wanted = unit(self._kept.encoder.encode_queries(queries))
        depth = min(self._depth, max(_LEAST, _MANY * self._depth // len(queries)))
        asked = zip(rows, wanted, map(defined_terms, queries), strict=True)
        return [self._rank(list(row), query, sought, depth)[:k] for row, query, sought in asked]

    def _rank(self, hits: list[Hit], query: Vectors, sought: tuple[str, ...], depth: int) -> list[Hit]:
        head, tail = hits[:depth], hits[depth:]
        vectors = self._kept.of([hit.passage for hit in head])
        words = scale([hit.score for hit in head])
        meanings = scale([float(vectors[hit.passage.id] @ query) for hit in head], _SPREAD)
        extras = [_OF_AN_ENTRY * (bool(sought) and has_entry(hit.passage.text, sought)) for hit in head]
        scored = [
            Hit(hit.passage, (1 - WEIGHT) * share + WEIGHT * meaning + extra)
            for hit, share, meaning, extra in zip(head, words, meanings, extras, strict=True)
        ]
        best = sorted(scored, key=lambda hit: (-hit.score, hit.passage.id))
        return best + [Hit(hit.passage, -1.0 - place) for place, hit in enumerate(tail)]


def unit(rows: Vectors) -> Vectors:
    """The rows at length one, which DPR's do not have."""
    units: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return units
