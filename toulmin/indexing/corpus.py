"""What the commands ask of a corpus, wherever it is kept: an index folder, an object store, or a database."""

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
    """What BM25 must know of a corpus, wherever that is kept."""

    @property
    def folder(self) -> Path | str:
        """Where it is kept."""
        ...

    @property
    def average_terms(self) -> float:
        """The mean length of a passage in terms."""
        ...

    def __len__(self) -> int:
        """How many distinct passages there are."""
        ...

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """How many distinct passages hold each of the terms."""
        ...

    def candidates(self, query_terms: Sequence[str], limit: int) -> Sequence[tuple[int, bytes]]:
        """The keys and packed terms of at most `limit` passages that hold any of the terms, the likely best first."""
        ...

    def passages(self, passage_ids: Sequence[str]) -> list[Passage]:
        """The passages of those ids, in their order."""
        ...


class Held(Protocol):
    """The vectors that a corpus keeps, wherever they are."""

    @property
    def label(self) -> Label:
        """Whose they are."""
        ...

    @property
    def is_scanned(self) -> bool:
        """Whether each of them is looked at for a query."""
        ...

    def ranked(self, rows: Vectors, k: int) -> list[list[tuple[str, float]]]:
        """The ids and inner products of about the `k` nearest to each row, best first."""
        ...


class Encoded(Protocol):
    """What search by meaning must know of a corpus, wherever that is kept."""

    @property
    def folder(self) -> Path | str:
        """Where it is kept."""
        ...

    @property
    def vectors(self) -> Held | None:
        """What it keeps of its passages' meaning."""
        ...

    def __len__(self) -> int:
        """How many distinct passages there are."""
        ...

    def passages(self, passage_ids: Sequence[str]) -> list[Passage]:
        """The passages of those ids, in their order."""
        ...


class Kept(Terms, Encoded, Protocol):
    """One moment of a corpus, open for reading; what its methods raise, those of `store.Corpus` say."""

    def passage(self, passage_id: str) -> Passage:
        """The passage of that id, with one of its sources."""
        ...

    def passages(self, passage_ids: Sequence[str]) -> list[Passage]:
        """The passages of those ids, in their order."""
        ...

    def neighbours(self, passage_id: str) -> Neighbours:
        """The passages before and after one in its document."""
        ...

    def every_passage(self) -> Iterator[Passage]:
        """Every distinct passage."""
        ...

    def documents(self) -> Iterator[IndexedDocument]:
        """Every document, always in the same order."""
        ...

    def document_of(self, passage_id: str) -> IndexedDocument:
        """The document that the passage's source points into."""
        ...

    def text(self, document: IndexedDocument) -> str:
        """The whole extracted text."""
        ...

    def skipped(self) -> list[Skipped]:
        """What was not read when it was last looked at, by path."""
        ...

    @property
    def stats(self) -> Stats:
        """How much there is."""
        ...

    @property
    def contents(self) -> str:
        """A hash of what the indexed files held."""
        ...

    def verify(self) -> None:
        """Reads everything and compares it with what was written."""
        ...

    def stamp(self) -> object:
        """What changes when somebody writes."""
        ...

    def notes(self) -> tuple[str, ...]:
        """What went wrong and was put right since this was last asked."""
        ...
