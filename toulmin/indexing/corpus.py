"""What every corpus offers, wherever it is stored."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from toulmin.data import Answer, Citation, Heading, Metadata, Passage, Source, id_of_passage
from toulmin.documents.metadata import Candidate, from_json, remarks_in, select
from toulmin.documents.passages import page_at, sections
from toulmin.errors import IndexDamaged, SourceError
from toulmin.indexing.catalogue import damage_error, id_of
from toulmin.runtime.encoder import Vectors

if TYPE_CHECKING:
    from toulmin.documents.loaders import SkippedFile
    from toulmin.indexing.vector_files import Label


class Neighbours(NamedTuple):
    before: Passage | None
    after: Passage | None


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document without its text; `number` is valid within this index, `digest` is the SHA-256 of its file.
    `headings` are JSON.
    """

    number: int
    title: str
    path: str | None
    url: str | None
    record: str | None
    pages: tuple[int, ...]
    headings: str
    passages: int
    metadata: Metadata
    digest: str = ""
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, row: Sequence[Any], digest: str) -> IndexedDocument:
        """From a row of the fields, with pages and metadata as JSON."""
        number, title, path, url, record, pages, headings, passages, about = row
        whole = tuple(json.loads(pages)) if pages != "[]" else ()
        described = from_json(about), digest, remarks_in(about)
        return cls(number, title, path, url, record, whole, headings, passages, *described)

    def place_at(self, start: int) -> tuple[int | None, str]:
        """The page and the headings over an offset of its text."""
        headings = [Heading(*heading) for heading in json.loads(self.headings)]
        return page_at(start, self.pages), next(sections(headings, self.title, [start]))


@dataclass(frozen=True, slots=True)
class Stats:
    """`passages` and `terms` count each distinct passage once, with weighted titles."""

    files: int
    documents: int
    passages: int
    terms: int
    passage_words: int


class PassageVectors(Protocol):
    @property
    def label(self) -> Label: ...

    @property
    def is_scanned(self) -> bool:
        """Whether a query is compared with every vector."""

    def rank(self, rows: Vectors, k: int) -> list[list[tuple[str, float]]]:
        """The ids and inner products of about the `k` nearest to each row, best first."""


class AnyCorpus(ABC):
    """One moment of a corpus, open for reading. Close it, or use it in a `with`.

    Methods that take a passage id raise SourceError for an unknown one; broken data raises IndexDamaged.
    """

    folder: Path | str
    distinct: int  # passages
    terms: int  # in them
    vectors: PassageVectors | None  # None for a corpus without them
    opened_at: object  # the stamp of what is open here, or an older one
    written_at: str = ""  # UTC, as in ISO 8601, if known
    whole: Self | None = None  # the corpus of which this one searches some documents only
    limit_note: str = ""  # which, in words

    def __len__(self) -> int:
        """Counts distinct passages."""
        return self.distinct

    @property
    def average_terms(self) -> float:
        return self.terms / max(1, self.distinct)

    def passage(self, passage_id: str) -> Passage:
        return self.passages([passage_id])[0]

    def passages(self, passage_ids: Sequence[str]) -> list[Passage]:
        by_id = self.passages_by_id(passage_ids)
        for passage_id in passage_ids:
            if passage_id not in by_id:
                raise SourceError(f"There is no passage {passage_id!r} in {self.folder}; ids come from a search there.")
        return [by_id[passage_id] for passage_id in passage_ids]

    def limit(self, only: Sequence[str]) -> Self:
        """The same moment, searched only in documents that pass every filter; how rare a word is, the whole decides.

        Raises `UsageError` for a wrong filter, and if no document passes.
        """
        view = copy(self)
        documents, view.limit_note = self.select(only)
        view.whole = self
        view._restrict(documents)
        return view

    def select(self, only: Sequence[str]) -> tuple[list[IndexedDocument], str]:
        documents = list(self.documents())
        described = [Candidate(each.path or "", each.title, each.metadata) for each in documents]
        places, note = select(described, only)
        return [documents[place] for place in places], note

    @abstractmethod
    def _restrict(self, documents: Sequence[IndexedDocument]) -> None:
        """Makes `candidates` and `vectors` return passages of these documents only, with these as their sources."""

    @abstractmethod
    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """How many distinct passages contain each term."""

    @abstractmethod
    def candidates(self, query_terms: Sequence[str], limit: int, *, every: bool = False) -> Sequence[tuple[int, bytes]]:
        """The keys and packed terms of at most `limit` passages with any of the terms, the likely best first.

        With `every` only those with all terms are wanted; others may come too.
        """

    @abstractmethod
    def passages_by_id(self, passage_ids: Sequence[str]) -> Mapping[str, Passage]:
        """The existing ones, each with its first source."""

    def passage_from(self, key: int, title: str, piece: str, lead: int, start: int, *place: Any) -> Passage:
        """The passage at the end of a stored piece; `place` is its path, url, record, page, section, digest, and its
        document's metadata as JSON.

        Raises `IndexDamaged` if the text does not match the content id.
        """
        text, known_as = piece[lead:], id_of(key)
        source = Source(start, start + len(text), *(*place[:-1], from_json(place[-1])))
        if id_of_passage(title, text, source.section) != known_as:
            raise self.damage_error(f"the text of passage {known_as} is not what was indexed")
        return Passage(known_as, title, text, source)

    def damage_error(self, what: str) -> IndexDamaged:
        return damage_error(self.folder, what)

    @abstractmethod
    def neighbours(self, passage_id: str) -> Neighbours: ...

    @abstractmethod
    def every_passage(self) -> Iterator[Passage]: ...

    @abstractmethod
    def documents(self) -> Iterator[IndexedDocument]:
        """Every document, always in the same order."""

    @abstractmethod
    def passages_of(self, document: IndexedDocument) -> list[Passage]:
        """In their order, with this document as their source."""

    @abstractmethod
    def document_of(self, passage_id: str) -> IndexedDocument: ...

    def outline_of(self, passage_id: str) -> IndexedDocument:
        """Its document, perhaps without a number."""
        return self.document_of(passage_id)

    @abstractmethod
    def digest_of(self, path: str) -> str:
        """The SHA-256, in hex, of the file at a path; empty for none."""

    def change_of(self, path: str) -> str | None:
        """For a file that is no longer as it was read "was changed" or "is gone"; a shared corpus does not know."""
        return None

    def with_places(self, answer: Answer) -> Answer:
        """The answer with the page and the headings of what it cites, as far as that is of this corpus."""
        own = self.passages_by_id([passage.id for passage in answer.cited])
        documents = {each.id: self.outline_of(each.id) for each in answer.cited if own.get(each.id) == each}

        def place(citation: Citation) -> Citation:
            if citation.passage not in documents:
                return citation
            start = own[citation.passage].source.start + (citation.quote.start if citation.quote else 0)
            page, section = documents[citation.passage].place_at(start)
            return replace(citation, page=page, section=section)

        claims = (replace(claim, citations=tuple(map(place, claim.citations))) for claim in answer.claims)
        return replace(answer, claims=tuple(claims))

    @abstractmethod
    def text(self, document: IndexedDocument) -> str:
        """The extracted text, into which the offsets of passages point."""

    @abstractmethod
    def skipped(self) -> list[SkippedFile]:
        """The files that the last update could not read, by path."""

    @property
    @abstractmethod
    def stats(self) -> Stats: ...

    @property
    @abstractmethod
    def contents(self) -> str:
        """SHA-256, in hex, of the indexed files' contents, whatever their paths and order."""

    @abstractmethod
    def verify(self) -> None:
        """Compares everything with what was written. Raises IndexDamaged."""

    @abstractmethod
    def stamp(self) -> object:
        """A value that changes with every write."""

    def document(self, number: int) -> IndexedDocument:
        """Raises SourceError if there is none."""
        for document in self.documents():
            if document.number == number:
                return document
        raise self.unknown_document(number)

    def unknown_document(self, number: int) -> SourceError:
        return SourceError(f"There is no document {number} in {self.folder}; take one from `documents`.")

    def notes(self) -> tuple[str, ...]:
        """What an answer must say of this state of the index, once."""
        return ()

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
