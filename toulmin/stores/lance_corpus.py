"""A LanceDB corpus open for reading: one version of its table.

LanceDB finds candidates; scores are ours, exact from what is stored. One row represents a passage that several
files hold; row ids exclude the others, and old rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
from lancedb.query import MatchQuery

from toulmin.data import Document, Hit, Passage
from toulmin.indexing.catalogue import id_of, keys_of
from toulmin.indexing.codes import findable
from toulmin.indexing.corpus import IndexedDocument, Neighbours, Stats
from toulmin.indexing.packed_vectors import CANDIDATES, best
from toulmin.indexing.vector_files import Label
from toulmin.retrieval.fusion import Ranker
from toulmin.runtime.encoder import Vectors
from toulmin.stores import contents, lance_table
from toulmin.stores.address import Address, address
from toulmin.stores.contents import FileRow, StoredCorpus, whole_document
from toulmin.stores.lance_table import DOCUMENT, FILE, PASSAGE
from toulmin.text.language import chunks

_CHUNK = 500  # values of one condition
_ABREAST = 8  # queries in parallel
_FILES = 200  # files whose rows are read at once
_PASSAGE = "path title url record metadata file document number key start lead page section text".split()
_DOCUMENT = "file document title path url record pages headings passages metadata".split()
_VALUES = itemgetter(*"key title text lead start path url record page section".split())
_PLACE = itemgetter("path", "document", "number")

Rows = list[dict[str, Any]]


def open_shared(place: str) -> SharedCorpus:
    """Raises SourceError if there is none or it cannot be reached, IndexDamaged for another version."""
    where = address(place)
    return SharedCorpus(where, lance_table.open_table(where))


def label_of(place: str) -> Label | None:
    """None without vectors or corpus."""
    where = address(place)
    table = lance_table.find_table(where)
    return None if table is None else lance_table.about(table, where).label


def _among(numbers: Iterable[int]) -> str:
    return f"IN ({', '.join(map(str, numbers))})"


class SharedCorpus(StoredCorpus):
    """One moment of a LanceDB corpus; thread-safe."""

    _searched: Set[tuple[int, int]] = frozenset()  # files and documents of a limited search
    _limit = ""  # their condition

    def __init__(self, where: Address, opened: Any) -> None:
        self.folder = str(where)
        self._where, self._table = where, opened
        self._about = lance_table.about(opened, where)
        lance_table.retry(where, lambda: opened.checkout(opened.version))
        self.opened_at = lance_table.retry(where, lambda: opened.version)
        self._take(FileRow(**row) for row in self.rows(f"kind = {FILE}", contents.COLUMNS).to_pylist())
        self._live = np.array(sorted(row.file for row in self.files.values() if row.file), np.int64)
        rows = self.rows(f"kind = {PASSAGE}", ("file", "key", "length"), row_ids=True)
        stands = self._choose(rows)
        self.distinct, self.terms = int(stands.sum()), int(rows["length"].to_numpy()[stands].sum())
        self.vectors = None if self._about.label is None else SharedVectors(self, self._about.label)

    def _choose(self, rows: Any) -> Any:
        """Which row represents each passage: excludes the others from a search."""
        row_ids, keys = rows["_rowid"].to_numpy(), rows["key"].to_numpy()
        is_live = np.isin(rows["file"].to_numpy(), self._live)
        _, first = np.unique(keys[is_live], return_index=True)
        stands = np.zeros(len(keys), np.bool_)
        stands[np.flatnonzero(is_live)[first]] = True
        self._spare = np.sort(row_ids[~stands])
        self._rows = len(keys)
        return stands

    def _restrict(self, documents: Sequence[IndexedDocument]) -> None:
        self._searched = frozenset(self._documents[document.number - 1][1] for document in documents)
        by_file, alike = defaultdict(list), defaultdict(list)
        for file, place in sorted(self._searched):
            by_file[file].append(place)
        for file, places in by_file.items():  # most files hold one document
            alike[tuple(places)].append(file)
        parts = (f"(file {_among(files)} AND document {_among(places)})" for places, files in alike.items())
        self._limit = " OR ".join(parts)
        self._choose(self.rows(f"kind = {PASSAGE} AND ({self._limit})", ("file", "key"), row_ids=True))
        self.vectors = None if self._about.label is None else SharedVectors(self, self._about.label)

    # ------------------------------------------------------------ queries

    def rows(self, where: str, columns: Sequence[str], *, row_ids: bool = False) -> Any:
        return self._fetch(self._table.search().where(where).select(list(columns)).with_row_id(row_ids))

    def _fetch(self, query: Any) -> Any:
        return lance_table.retry(self._where, query.to_arrow)

    def _matching(self, terms: Sequence[str], limit: int, columns: Sequence[str]) -> Any:
        """The best rows by LanceDB's own BM25."""
        # Excluded rows take the places of others in the result.
        most = max(1, min(self._rows, limit + len(self._spare)))
        by_words = self._table.search(MatchQuery(" ".join(terms), "terms"), query_type="fts")
        return self._representatives(by_words.select([*columns, "_score"]).limit(most))

    def _representatives(self, query: Any) -> Any:
        """The rows of a query, one for each passage."""
        limited = query.where(self._limit, prefilter=True) if self._limit else query
        rows = self._fetch(limited.with_row_id(True))
        return rows.filter(~np.isin(rows["_rowid"].to_numpy(), self._spare)) if len(self._spare) else rows

    def nearest(self, row: Vectors, limit: int) -> Any:
        """Keys and vectors of the likely nearest passages."""
        by_product = self._table.search(row, vector_column_name="vector", query_type="vector").distance_type("dot")
        return self._representatives(by_product.select(["key", "vector", "_distance"]).limit(limit))

    # ------------------------------------------------------------ search

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        if self.whole is not None or not terms:
            return self.whole.frequencies(terms) if self.whole is not None else []
        with ThreadPoolExecutor(_ABREAST) as pool:
            return list(pool.map(lambda term: int(self._matching([term], self._rows, ()).num_rows), terms))

    def candidates(self, query_terms: Sequence[str], limit: int, *, every: bool = False) -> list[tuple[int, bytes]]:
        matches = self._matching(query_terms, limit, ("key", "codes"))[:limit]
        return list(zip(matches["key"].to_pylist(), matches["codes"].to_pylist(), strict=True))

    # ------------------------------------------------------------ passages

    def passages_by_id(self, passage_ids: Sequence[str]) -> Mapping[str, Passage]:
        return {passage_id: self._passage(row) for passage_id, row in self._places(keys_of(passage_ids)).items()}

    def _places(self, keys: Sequence[int]) -> Mapping[str, dict[str, Any]]:
        """The row of each existing passage, by id; of several, the first by path of the documents that are searched."""
        by_id: dict[str, dict[str, Any]] = {}
        for some in chunks(keys, _CHUNK):
            where = f"kind = {PASSAGE} AND key {_among(some)}"
            for row in sorted(
                self._live_rows(where, _PASSAGE),
                key=lambda row: ((row["file"], row["document"]) not in self._searched, *_PLACE(row)),
            ):
                by_id.setdefault(id_of(row["key"]), row)
        return by_id

    def _live_rows(self, where: str, columns: Sequence[str]) -> Rows:
        table = self.rows(where, columns)
        rows: Rows = table.filter(np.isin(table["file"].to_numpy(), self._live)).to_pylist()
        return rows

    def _passage(self, row: Mapping[str, Any]) -> Passage:
        return self.passage_from(*_VALUES(row), self.digest_of(row["path"]), row["metadata"])

    def _row_of(self, passage_id: str) -> dict[str, Any]:
        """Raises SourceError if there is none."""
        self.passage(passage_id)
        return self._places(keys_of([passage_id]))[passage_id]

    def neighbours(self, passage_id: str) -> Neighbours:
        here = self._row_of(passage_id)
        beside = f"number IN ({here['number'] - 1}, {here['number'] + 1})"
        where = f"kind = {PASSAGE} AND file = {here['file']} AND document = {here['document']} AND {beside}"
        by_number = {row["number"]: self._passage(row) for row in self._live_rows(where, _PASSAGE)}
        return Neighbours(by_number.get(here["number"] - 1), by_number.get(here["number"] + 1))

    def every_passage(self) -> Iterator[Passage]:
        """By path and place, each with its first source."""
        seen: set[int] = set()
        for _, rows in self._by_file(PASSAGE, _PASSAGE):
            for row in rows:
                if row["key"] not in seen:
                    seen.add(row["key"])
                    yield self._passage(row)

    # ------------------------------------------------------------ files and documents

    def _by_file(self, kind: int, columns: Sequence[str]) -> Iterator[tuple[FileRow, Rows]]:
        """Files by path, their rows in order."""
        for chunk in chunks([row for _, row in sorted(self.files.items()) if row.file], _FILES):
            by_file: dict[int, dict[tuple[int, int], dict[str, Any]]] = {row.file: {} for row in chunk}
            for row in self.rows(f"kind = {kind} AND file {_among(by_file)}", columns).to_pylist():
                by_file[row["file"]][row["document"], row.get("number") or 0] = row
            for file in chunk:
                yield file, [by_file[file.file][place] for place in sorted(by_file[file.file])]

    @cached_property
    def _documents(self) -> list[tuple[IndexedDocument, tuple[int, int]]]:
        """Each with its file number and its place in that file."""
        listed: list[tuple[IndexedDocument, tuple[int, int]]] = []
        for file, rows in self._by_file(DOCUMENT, _DOCUMENT):
            for row in rows:
                listed.append((self._document(len(listed) + 1, row), (file.file, row["document"])))
        return listed

    def _document(self, number: int, row: Mapping[str, Any]) -> IndexedDocument:
        return IndexedDocument.of([number, *map(row.get, _DOCUMENT[2:])], self.digest_of(row["path"]))

    def outline_of(self, passage_id: str) -> IndexedDocument:
        row = self._row_of(passage_id)
        within = f"file = {row['file']} AND document = {row['document']}"
        return self._document(0, self._live_rows(f"kind = {DOCUMENT} AND {within}", _DOCUMENT)[0])

    def documents(self) -> Iterator[IndexedDocument]:
        return (document for document, _ in self._documents)

    def document_of(self, passage_id: str) -> IndexedDocument:
        row = self._row_of(passage_id)
        return next(document for document, place in self._documents if place == (row["file"], row["document"]))

    def passages_of(self, document: IndexedDocument) -> list[Passage]:
        rows = self._live_rows(f"kind = {PASSAGE} AND {self._within(document)}", _PASSAGE)
        return [self._passage(row) for row in sorted(rows, key=lambda row: row["number"])]

    def _within(self, document: IndexedDocument) -> str:
        if not 1 <= document.number <= len(self._documents):
            raise self.unknown_document(document.number)
        _, (file, place) = self._documents[document.number - 1]
        return f"file = {file} AND document = {place}"

    def text(self, document: IndexedDocument) -> str:
        within = self._within(document)
        pieces = {row["number"]: row["text"] for row in self._live_rows(f"kind = {PASSAGE} AND {within}", _PASSAGE)}
        tail = self._live_rows(f"kind = {DOCUMENT} AND {within}", ("file", "tail"))[0]["tail"]
        return "".join([*(pieces[number] for number in sorted(pieces)), tail])

    def whole_documents(self) -> Iterator[tuple[FileRow, list[Document]]]:
        columns = ("file", "document", "tail", "title", "path", "url", "record", "metadata", "pages", "headings")
        pieces = self._by_file(PASSAGE, ("file", "document", "number", "text"))
        for (file, documents), (_, passages) in zip(self._by_file(DOCUMENT, columns), pieces, strict=True):
            texts: dict[int, list[str]] = {row["document"]: [] for row in documents}
            for row in passages:
                texts[row["document"]].append(row["text"])
            whole_texts = ("".join([*texts[row["document"]], row["tail"]]) for row in documents)
            names = ([row[name] for name in columns[3:]] for row in documents)
            yield file, [whole_document(text, *row) for text, row in zip(whole_texts, names, strict=True)]

    @property
    def stats(self) -> Stats:
        rows = self._live_rows(f"kind = {DOCUMENT}", ("file", "document"))
        documents = len({(row["file"], row["document"]) for row in rows})
        return Stats(len(self._live), documents, self.distinct, self.terms, self.passage_words)

    # ------------------------------------------------------------ verifying and closing

    def verify(self) -> None:
        keys: set[int] = set()
        for _, rows in self._by_file(PASSAGE, (*_PASSAGE, "codes")):
            for row in rows:
                keys.add(row["key"])
                if findable(self._passage(row)).packed != row["codes"]:
                    raise self.damage_error(f"the terms of passage {id_of(row['key'])} are not those of its text")
        if len(keys) != self.distinct:
            raise self.damage_error(f"{self.distinct} passages are counted, {len(keys)} can be read")

    def stamp(self) -> object:
        """The newest version, perhaps newer than this corpus."""
        return lance_table.retry(self._where, lambda: lance_table.open_table(self._where).version)

    def close(self) -> None:
        self.__dict__.pop("_table", None)


class SharedVectors:
    """LanceDB finds candidates; inner products are computed here."""

    is_scanned = False

    def __init__(self, corpus: SharedCorpus, label: Label) -> None:
        self.label = label
        self._corpus = corpus

    def rank(self, rows: Vectors, k: int) -> list[list[tuple[str, float]]]:
        with ThreadPoolExecutor(_ABREAST) as pool:
            return list(pool.map(lambda row: self._best(row, k), rows))

    def _best(self, row: Vectors, k: int) -> list[tuple[str, float]]:
        matches = self._corpus.nearest(row, CANDIDATES * k)
        if not matches.num_rows:
            return []
        flat = matches["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        vectors = flat.astype(np.float32).reshape(matches.num_rows, -1)
        return best(matches["key"].to_numpy(), vectors @ row.astype(np.float32), k)


class Abreast:
    """Runs queries in parallel, as each mostly waits for the object store."""

    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        distinct = list(dict.fromkeys(queries))
        ask: Callable[[str], list[Hit]] = lambda query: list(self._ranker.search([query], k)[0])  # noqa: E731
        with ThreadPoolExecutor(_ABREAST) as pool:
            by_query = dict(zip(distinct, pool.map(ask, distinct), strict=True))
        return [list(by_query[query]) for query in queries]
