"""What the commands ask of a corpus, wherever it is kept: an index folder, an object store, or a database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from toulmin.data import Passage
from toulmin.retrieval.bm25 import Terms
from toulmin.retrieval.vectors import Encoded

if TYPE_CHECKING:
    from toulmin.documents.loaders import Skipped
    from toulmin.index.store import IndexedDocument, Neighbours, Stats


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
