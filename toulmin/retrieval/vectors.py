"""Search by meaning: over the vectors that an index keeps of its passages, or over passages at hand.

* A vector is kept as whole numbers of 8 bits and one scale, so that 100,000 passages of 384 numbers take 39 MB. Its
  score is the inner product with the query's, exact for what is kept, whoever found the candidates.
* faiss, where it is installed and the index was made with it, finds candidates in many passages. Without it every
  vector is looked at, which is quick enough up to `SCANNED_UP_TO`.
* Equal scores are ordered by passage id.
"""

from __future__ import annotations

from collections.abc import Sequence

from toulmin.data import Hit, Passage
from toulmin.errors import SourceError
from toulmin.indexing.corpus import Encoded
from toulmin.indexing.packed_vectors import best_places
from toulmin.runtime.encoder import Encoder, Vectors

SCANNED_UP_TO = 500_000


class Dense:
    """Search by meaning over a corpus that holds vectors."""

    def __init__(self, corpus: Encoded, encoder: Encoder) -> None:
        """Raises `SourceError`, which says how to mend it, for a corpus without vectors or with another encoder's."""
        held = corpus.vectors
        if held is None:
            raise SourceError(f"{no_vectors(corpus)} {how_to_encode(corpus)}")
        label = held.label
        if label.identity != encoder.identity:
            raise SourceError(
                f"The vectors in {corpus.folder} are those of another encoder: {label.name}"
                f" ({label.identity[:12]}), not {encoder.name} ({encoder.identity[:12]}). Name that one, or encode"
                f" anew. {how_to_encode(corpus)}"
            )
        self._corpus, self._held, self._encoder = corpus, held, encoder
        if held.is_scanned and len(corpus) > SCANNED_UP_TO:
            raise SourceError(
                f"{corpus.folder} holds {len(corpus):,} passages, too many to look at each for a query; run: pip"
                f" install 'toulmin[encoder]', and index again. {how_to_encode(corpus)}"
            )

    @property
    def corpus(self) -> Encoded:
        """What is searched."""
        return self._corpus

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """At most `k` hits a query, best first; a score is an inner product, and may be below 0."""
        if k < 1 or not queries:
            return [[] for _ in queries]
        distinct = list(dict.fromkeys(queries))
        ranked = dict(zip(distinct, self._held.ranked(self._encoder.encode_queries(distinct), k), strict=True))
        wanted = list(dict.fromkeys(passage_id for row in ranked.values() for passage_id, _ in row))
        passages = dict(zip(wanted, self._corpus.passages(wanted), strict=True))
        return [[Hit(passages[passage_id], score) for passage_id, score in ranked[query]] for query in queries]


def no_vectors(corpus: Encoded) -> str:
    """That an index has none, in words."""
    return f"The index in {corpus.folder} holds no vectors, so it can be searched by words only."


def how_to_encode(corpus: Encoded) -> str:
    """The command that makes or mends the vectors of an index."""
    spec = corpus.vectors.label.spec if corpus.vectors else "SPEC"
    return f"To encode its passages, run: toulmin index PATH --into {corpus.folder} --encoder {spec}"


class DenseInMemory:
    """Search by meaning over passages at hand, all of which are encoded now; of those with one id the first stands."""

    def __init__(self, passages: Sequence[Passage], encoder: Encoder) -> None:
        self._passages = list({passage.id: passage for passage in reversed(passages)}.values())
        self._encoder = encoder
        self._rows = encoder.encode_passages(self._passages)

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """At most `k` hits a query, best first; a score is an inner product, and may be below 0."""
        if k < 1 or not self._passages or not queries:
            return [[] for _ in queries]
        return [self._best(scores, k) for scores in self._encoder.encode_queries(queries) @ self._rows.T]

    def _best(self, scores: Vectors, k: int) -> list[Hit]:
        hits = [Hit(self._passages[at], float(scores[at])) for at in best_places(scores, k)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.passage.id))[:k]
