"""What an index stores of a document, prepared by several processes at once.

* Preparing needs only the document, so the index is the same however many processes help.
* Documents return in their order. Until the next one is ready, this process prepares another that nobody has begun,
  or that one itself: a helper is slow where others use the processors.
* Helpers are confined children. If one fails, this process does its work.
"""

from __future__ import annotations

import gc
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from toulmin.data import Document, Heading, Passage
from toulmin.documents.confined import Children
from toulmin.documents.passages import cut
from toulmin.errors import SourceError
from toulmin.indexing.catalogue import compress, key_of
from toulmin.indexing.codes import findable

_CHARACTERS = 100_000  # of the documents that are prepared together
_FEW = 8  # such groups: a file that has no more needs no help
_AHEAD = 24  # groups read ahead


class Piece(NamedTuple):
    """The text since the previous passage; without its first `lead` characters it is the passage."""

    passage: Passage
    number: int
    lead: int
    text: str

    @property
    def key(self) -> int:
        return key_of(self.passage.id)

    @property
    def place(self) -> tuple[int | None, str]:
        return self.passage.source.page, self.passage.source.section


class Cut(NamedTuple):
    """A document's pieces, and the text after the last."""

    pieces: list[Piece]
    tail: str


def pieces(document: Document, passage_words: int) -> Cut:
    """Cuts a document into passages of about so many words."""
    cut_pieces, before = [], 0
    for number, passage in enumerate(cut(document, passage_words)):
        start, end = passage.source.start, passage.source.end
        cut_pieces.append(Piece(passage, number, start - before, document.text[before:end]))
        before = end
    return Cut(cut_pieces, document.text[before:])


class PassageRow(NamedTuple):
    """A passage as the index stores it: `codes` and `text` are packed."""

    key: int
    codes: bytes
    start: int
    lead: int
    page: int | None
    section: str
    text: bytes
    terms: str


class DocumentRows(NamedTuple):
    passages: list[PassageRow]
    tail: str


def prepare(document: Document, passage_words: int) -> DocumentRows:
    cut_pieces, tail = pieces(document, passage_words)
    return DocumentRows(list(map(_prepare_piece, cut_pieces)), tail)


def _prepare_piece(piece: Piece) -> PassageRow:
    terms, codes = findable(piece.passage)
    start, text = piece.passage.source.start, compress(piece.text)
    return PassageRow(piece.key, codes, start, piece.lead, *piece.place, text, terms)


# ---------------------------------------------------------------- in several processes


def prepare_all(
    documents: Iterable[Document], passage_words: int, helpers: Children | None = None
) -> Iterator[tuple[Document, DocumentRows]]:
    """Each document with what is stored of it, in order; helpers join after the first 800,000 characters.

    Reads 2.4 million characters ahead.
    """
    waiting = deque[_Group]()
    for number, group in enumerate(_groups(documents)):
        waiting.append(_Group(group, passage_words, helpers if number >= _FEW else None))
        if len(waiting) > _AHEAD:
            yield from _first(waiting)
    while waiting:
        yield from _first(waiting)


def _groups(documents: Iterable[Document]) -> Iterator[list[Document]]:
    group, size = list[Document](), 0
    for document in documents:
        group.append(document)
        size += len(document.text)
        if size >= _CHARACTERS:
            yield group
            group, size = [], 0
    if group:
        yield group


def _first(waiting: deque[_Group]) -> Iterator[tuple[Document, DocumentRows]]:
    while not waiting[0].is_ready:
        next(filter(_Group.take_back, waiting), waiting[0]).prepare()
    group = waiting.popleft()
    return zip(group.documents, group.results(), strict=True)


class _Group:
    def __init__(self, documents: list[Document], passage_words: int, helpers: Children | None) -> None:
        self.documents, self._words = documents, passage_words
        self._results: list[DocumentRows] | None = None
        self._answer: Future[Mapping[str, Any]] | None = None
        if helpers is not None:
            rows = [(doc.text, doc.title, doc.record, doc.pages, list(map(list, doc.headings))) for doc in documents]
            path, job = Path(documents[0].path or ""), f"{__name__}.prepare_group"
            self._answer = helpers.submit(path, job, passage_words, rows)

    @property
    def is_ready(self) -> bool:
        return self._results is not None or (self._answer is not None and self._answer.done())

    def take_back(self) -> bool:
        """Whether nobody has begun to prepare the documents; no helper will then."""
        return self._results is None and (self._answer is None or self._answer.cancel())

    def prepare(self) -> None:
        self._results = [prepare(document, self._words) for document in self.documents]

    def results(self) -> list[DocumentRows]:
        if self._results is None and self._answer is not None:
            with suppress(SourceError, TypeError):  # TypeError: a text that JSON cannot hold
                return list(map(_unpack, self._answer.result()["prepared"]))
        if self._results is None:
            self.prepare()
        return self._results or []


def prepare_group(path: Path, most: int, passage_words: int, rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """A helper's job: prepares some documents of a file."""
    gc.freeze()  # the collector would walk the table of terms over and over
    documents = (
        Document(text, title, record=record, pages=tuple(pages), headings=tuple(Heading(*row) for row in headings))
        for text, title, record, pages, headings in rows
    )
    return {"prepared": [_pack(prepare(document, passage_words)) for document in documents]}


def _pack(prepared: DocumentRows) -> list[Any]:
    packed = [
        [b64encode(value).decode() if isinstance(value, bytes) else value for value in passage]
        for passage in prepared.passages
    ]
    return [packed, prepared.tail]


def _unpack(packed: Sequence[Any]) -> DocumentRows:
    rows = (PassageRow(*values) for values in packed[0])
    passages = [row._replace(codes=b64decode(row.codes), text=b64decode(row.text)) for row in rows]
    return DocumentRows(passages, packed[1])
