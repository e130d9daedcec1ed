"""Search by meaning, over the vectors of an index or over passages in memory.

* A vector is stored as 8-bit integers and a scale: 100,000 passages of 384 numbers take 39 MB. Scores are exact inner
  products with the query's vector.
* If the index was made with faiss, it finds candidates. Without it every vector is compared, up to `SCANNED_UP_TO`.
* Equal scores are ordered by passage id.
"""

from __future__ import annotations

from collections.abc import Sequence

from toulmin.data import Hit, Passage
from toulmin.errors import SourceError
from toulmin.indexing.corpus import AnyCorpus
from toulmin.indexing.packed_vectors import best_places
from toulmin.retrieval.bm25 import hits_of
from toulmin.runtime.encoder import Encoder, Vectors

SCANNED_UP_TO = 500_000


class Dense:
    def __init__(self, corpus: AnyCorpus, encoder: Encoder) -> None:
        """Raises `SourceError` for a corpus without vectors, with another encoder, or too large to scan."""
        vectors = corpus.vectors
        if vectors is None:
            raise SourceError(f"{no_vectors(corpus)} {how_to_encode(corpus)}")
        label = vectors.label
        if label.identity != encoder.identity:
            raise SourceError(
                f"The vectors in {corpus.folder} are by another encoder: {label.name}"
                f" ({label.identity[:12]}), not {encoder.name} ({encoder.identity[:12]}). Name the index's encoder,"
                f" or encode again. {how_to_encode(corpus)}"
            )
        self._corpus, self._vectors, self._encoder = corpus, vectors, encoder
        if vectors.is_scanned and len(corpus) > SCANNED_UP_TO:
            raise SourceError(
                f"{corpus.folder} contains {len(corpus):,} passages, too many to compare each with every query; run:"
                f" pip install 'toulmin[encoder]', and index again. {how_to_encode(corpus)}"
            )

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Scores may be negative."""
        if k < 1 or not queries:
            return [[] for _ in queries]
        distinct = list(dict.fromkeys(queries))
        rankings = self._vectors.rank(self._encoder.encode_queries(distinct), k)
        return hits_of(self._corpus, queries, dict(zip(distinct, rankings, strict=True)))


def no_vectors(corpus: AnyCorpus) -> str:
    return f"The index in {corpus.folder} contains no vectors, so it can be searched by words only."


def how_to_encode(corpus: AnyCorpus) -> str:
    spec = corpus.vectors.label.spec if corpus.vectors else "SPEC"
    return f"To encode its passages, run: toulmin index PATH --into {corpus.folder} --encoder {spec}"


class DenseInMemory:
    """Encodes all passages at once; of those with the same id, only the first."""

    def __init__(self, passages: Sequence[Passage], encoder: Encoder) -> None:
        self._passages = list({passage.id: passage for passage in reversed(passages)}.values())
        self._encoder = encoder
        self._rows = encoder.encode_passages(self._passages)

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        if k < 1 or not self._passages or not queries:
            return [[] for _ in queries]
        return [self._best(scores, k) for scores in self._encoder.encode_queries(queries) @ self._rows.T]

    def _best(self, scores: Vectors, k: int) -> list[Hit]:
        hits = [Hit(self._passages[at], float(scores[at])) for at in best_places(scores, k)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.passage.id))[:k]
