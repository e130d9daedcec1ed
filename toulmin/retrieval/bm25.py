"""BM25 over an index or over passages in memory, and passages with a given ranking.

As in Lucene: idf = ln(1 + (N - df + 0.5) / (df + 0.5)); a term that occurs f times in a passage of length d adds
idf * f * (k1 + 1) / (f + k1 * (1 - b + b * d / mean length)). Lengths are exact.

* Stop words count only in a query without other words. Each distinct term counts once.
* Equal scores are ordered by passage id.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from toulmin.data import Hit, Passage
from toulmin.errors import UsageError
from toulmin.indexing.catalogue import damage_error, id_of
from toulmin.indexing.codes import TITLE_WEIGHT, passage_terms, term_code
from toulmin.indexing.corpus import AnyCorpus
from toulmin.indexing.lexicon import TermTable, idf, unpack
from toulmin.indexing.packed_vectors import best_places
from toulmin.text.language import STOPWORDS, search_terms, stem

# Chosen on the train split by benchmarks/retrieval.py --tune.
K1 = 1.6
B = 0.75

# Term indexes weigh with constants of their own. With ours, so many candidates beside twice the hits held all of the
# best ten and thirty of 7,700 questions over three corpora; other constants order them otherwise.
_SPARE, _SPARE_FOR_OTHERS = 20, 200
_LONGEST_QUERY = 100_000  # characters
_MOST_TERMS = 128
_STOP_TERMS = frozenset(map(stem, STOPWORDS))

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Weighing:
    """`k1` limits repetition, `b` normalises by length. Raises `UsageError` out of range."""

    k1: float
    b: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.k1) and self.k1 >= 0):
            raise UsageError(f"BM25's k1 should be at least 0, not {self.k1}.")
        if not 0 <= self.b <= 1:
            raise UsageError(f"BM25's b should be in 0..1, not {self.b}.")

    def weigh(self, counts: Floats, relative_lengths: Floats) -> Floats:
        """Without the term's idf; lengths are relative to the mean."""
        least = np.finfo(np.float64).tiny  # avoids 0 / 0 for a count of 0 with k1 = 0
        damping = self.k1 * (1 - self.b + self.b * relative_lengths)
        return counts * (self.k1 + 1) / np.maximum(counts + damping, least)


def query_terms(query: str) -> list[str]:
    """Distinct terms, without stop words unless there are no others."""
    distinct = dict.fromkeys(search_terms(query[:_LONGEST_QUERY]))
    return [term for term in distinct if term not in _STOP_TERMS] or list(distinct)


def _rarest(frequencies: Mapping[str, int]) -> dict[str, int]:
    """The passage counts of the rarest terms that occur, at most `_MOST_TERMS`."""
    known = {term: count for term, count in frequencies.items() if count}
    rarest = sorted(known, key=lambda term: (known[term], term))[:_MOST_TERMS]
    return {term: known[term] for term in rarest}


def hits_of(
    corpus: AnyCorpus, queries: Sequence[str], rankings: Mapping[str, Sequence[tuple[str, float]]]
) -> list[list[Hit]]:
    wanted = list(dict.fromkeys(passage_id for ranking in rankings.values() for passage_id, _ in ranking))
    passages = dict(zip(wanted, corpus.passages(wanted), strict=True))
    return [[Hit(passages[passage_id], score) for passage_id, score in rankings[query]] for query in queries]


class Bm25:
    def __init__(self, corpus: AnyCorpus, k1: float = K1, b: float = B) -> None:
        self._corpus = corpus
        self._weighing = _Weighing(k1, b)
        self._spare = _SPARE if (k1, b) == (K1, B) else _SPARE_FOR_OTHERS
        self._frequencies: dict[str, int] = {}

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return hits_of(self._corpus, queries, {query: self._rank(query, k) for query in dict.fromkeys(queries)})

    def _rank(self, query: str, k: int) -> list[tuple[str, float]]:
        asked = _rarest(self._frequencies_of(query_terms(query)))
        if not asked or k < 1:
            return []
        candidates = self._corpus.candidates(list(asked), 2 * k + self._spare)
        if not candidates:
            return []
        keys, codes = zip(*candidates, strict=True)
        scores = self._scores(asked, codes)
        return sorted(zip(map(id_of, keys), scores, strict=True), key=lambda item: (-item[1], item[0]))[:k]

    def _scores(self, asked: dict[str, int], codes: Sequence[bytes]) -> list[float]:
        occurrences = unpack(codes)
        counts = _counts(occurrences, len(codes), [term_code(term) for term in asked])
        if not counts.any(axis=1).all():
            raise damage_error(self._corpus.folder, "the term index finds passages by words that they do not contain")
        rarity = np.array([idf(frequency, len(self._corpus)) for frequency in asked.values()])
        relative = np.bincount(occurrences.owners, minlength=len(codes)) / self._corpus.average_terms
        return [float(score) for score in (self._weighing.weigh(counts, relative[:, None]) * rarity).sum(axis=1)]

    def _frequencies_of(self, asked: Sequence[str]) -> dict[str, int]:
        new = [term for term in asked if term not in self._frequencies]
        self._frequencies.update(zip(new, self._corpus.frequencies(new), strict=True))
        return {term: self._frequencies[term] for term in asked}


class Titles(Bm25):
    """Passages whose title contains all words of the query, in the order of candidates: exact scores would take ten
    times as long for thirty names.
    """

    def _rank(self, query: str, k: int) -> list[tuple[str, float]]:
        asked = query_terms(query)
        is_known = all(self._frequencies_of(asked).values())
        candidates = self._corpus.candidates(asked, k, every=True) if is_known else []
        if not candidates:
            return []
        keys, codes = zip(*candidates, strict=True)
        counts = _counts(unpack(codes), len(codes), [term_code(term) for term in asked])
        in_title = counts.min(axis=1) >= TITLE_WEIGHT  # as often as the index counts a word of a title
        return [(id_of(key), 1 / rank) for rank, key in enumerate(keys, start=1) if in_title[rank - 1]]


def _counts(occurrences: TermTable, passages: int, asked: Sequence[int]) -> Floats:
    columns = [np.bincount(occurrences.owners[occurrences.codes == code], minlength=passages) for code in asked]
    return np.stack(columns, axis=1).astype(np.float64)


class InMemory:
    """Of passages with the same id, only the first counts."""

    def __init__(
        self, passages: Sequence[Passage], k1: float = K1, b: float = B, title_weight: int = TITLE_WEIGHT
    ) -> None:
        self._weighing = _Weighing(k1, b)
        self._passages = list({passage.id: passage for passage in reversed(passages)}.values())
        term_lists = [passage_terms(passage, title_weight) for passage in self._passages]
        lengths = np.array([len(terms) for terms in term_lists], dtype=np.float64)
        self._relative = lengths / ((lengths.mean() if len(lengths) else 0.0) or 1.0)  # all without terms: 0
        self._postings = _postings(term_lists)

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [self._rank(query, k) for query in queries]

    def _rank(self, query: str, k: int) -> list[Hit]:
        total = len(self._passages)
        scores = np.zeros(total)
        known = {term: len(self._postings[term][0]) for term in query_terms(query) if term in self._postings}
        for term, frequency in _rarest(known).items():
            where, counts = self._postings[term]
            scores[where] += idf(frequency, total) * self._weighing.weigh(counts, self._relative[where])
        matching = np.flatnonzero(scores > 0)
        places = matching[best_places(scores[matching], k)] if k > 0 else matching[:0]
        hits = [Hit(self._passages[i], float(scores[i])) for i in places]
        return sorted(hits, key=lambda hit: (-hit.score, hit.passage.id))[: max(0, k)]


class OneDocument(InMemory):
    """First the passages that match, then the others in order: a question may use other words."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [self._complete(row)[: max(0, k)] for row in super().search(queries, k)]

    def _complete(self, row: Sequence[Hit]) -> list[Hit]:
        ids = {hit.passage.id for hit in row}
        return [*row, *(Hit(passage, 0.0) for passage in reversed(self._passages) if passage.id not in ids)]


def _postings(term_lists: Sequence[Sequence[str]]) -> dict[str, tuple[npt.NDArray[np.int64], Floats]]:
    counts: dict[str, dict[int, int]] = defaultdict(dict)
    for position, passage in enumerate(term_lists):
        for term, count in Counter(passage).items():
            counts[term][position] = count
    return {term: (np.array([*at]), np.array([*at.values()], dtype=np.float64)) for term, at in counts.items()}


class StaticRanking:
    """Passages in a given order, as in a dataset; queries are ignored."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._hits = [Hit(passage, 1 / rank) for rank, passage in enumerate(passages, start=1)]

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """A score is 1 / rank."""
        return [self._hits[: max(0, k)] for _ in queries]
