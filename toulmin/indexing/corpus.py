"""What commands ask of a corpus, wherever it is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from toulmin.data import Passage
from toulmin.runtime.encoder import Vectors

if TYPE_CHECKING:
    from toulmin.documents.loaders import Skipped
    from toulmin.indexing.store import IndexedDocument, Neighbours, Stats
    from toulmin.indexing.vector_files import Label


class Terms(Protocol):
    """What BM25 needs from a corpus."""

    @property
    def folder(self) -> Path | str: ...

    @property
    def average_terms(self) -> float:
        """The mean number of terms in a passage."""

    def __len__(self) -> int:
        """The number of distinct passages."""

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """How many distinct passages contain each term."""

    def candidates(self, query_terms: Sequence[str], limit: int) -> Sequence[tuple[int, bytes]]:
        """The keys and packed terms of at most `limit` passages with any of the terms, the likely best first."""

    def passages(self, passage_ids: Sequence[str]) -> list[Passage]: ...


class PassageVectors(Protocol):
    """The passage vectors of a corpus."""

    @property
    def label(self) -> Label: ...

    @property
    def is_scanned(self) -> bool:
        """Whether a query is compared with every vector."""

    def rank(self, rows: Vectors, k: int) -> list[list[tuple[str, float]]]:
        """The ids and inner products of about the `k` nearest to each row, best first."""


class EncodedCorpus(Protocol):
    """What search by meaning needs from a corpus."""

    @property
    def folder(self) -> Path | str: ...

    @property
    def vectors(self) -> PassageVectors | None:
        """The passage vectors; None for a corpus without."""

    def __len__(self) -> int: ...

    def passages(self, passage_ids: Sequence[str]) -> list[Passage]: ...


class AnyCorpus(Terms, EncodedCorpus, Protocol):
    """One moment of a corpus, open for reading.

    Methods that take a passage id raise SourceError for an unknown one; broken data raises IndexDamaged.
    """

    def passage(self, passage_id: str) -> Passage:
        """The passage with one of its sources."""

    def passages(self, passage_ids: Sequence[str]) -> list[Passage]: ...

    def neighbours(self, passage_id: str) -> Neighbours: ...

    def every_passage(self) -> Iterator[Passage]: ...

    def documents(self) -> Iterator[IndexedDocument]:
        """Every document, always in the same order."""

    def document_of(self, passage_id: str) -> IndexedDocument: ...

    def text(self, document: IndexedDocument) -> str:
        """The extracted text, into which the offsets of its passages point."""

    def skipped(self) -> list[Skipped]:
        """The files that the last update could not read, by path."""

    @property
    def stats(self) -> Stats: ...

    @property
    def contents(self) -> str:
        """SHA-256, in hex, of the contents of the indexed files, whatever their paths and order."""

    def verify(self) -> None:
        """Reads everything and compares it with what was written. Raises IndexDamaged."""

    def stamp(self) -> object:
        """A value that changes whenever somebody writes."""

    def notes(self) -> tuple[str, ...]:
        """Problems overcome since the last call, such as repeated requests."""
