"""Documents in pieces that each end a passage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from toulmin.data import Document, Passage, Source, content_id
from toulmin.documents.passages import cut
from toulmin.indexing.catalogue import id_of, key_of
from toulmin.stores.contents import damage_error


class Piece(NamedTuple):
    """The text since the previous passage; without its first `lead` characters it is the passage."""

    passage: Passage
    number: int
    lead: int
    text: str

    @property
    def key(self) -> int:
        return key_of(self.passage.id)


class Cut(NamedTuple):
    """A document's pieces, and the text after the last."""

    pieces: list[Piece]
    tail: str


def pieces(document: Document, passage_words: int) -> Cut:
    """Cuts a document into passages of about so many words."""

    def each_piece() -> Iterator[Piece]:
        before = 0
        for number, passage in enumerate(cut(document, passage_words)):
            end = passage.source.end
            yield Piece(passage, number, passage.source.start - before, document.text[before:end])
            before = end

    parts = list(each_piece())
    return Cut(parts, document.text[parts[-1].passage.source.end if parts else 0 :])


def passage_of(
    corpus: str, key: int, title: str, piece: str, lead: int, start: int, *place: str | int | None
) -> Passage:
    """The passage at the end of a stored piece; `place` is its path, url, record and page.

    Raises `IndexDamaged` if the text does not match the content id.
    """
    text, passage_id = piece[lead:], id_of(key)
    if content_id(title, text) != passage_id:
        raise damage_error(corpus, f"the text of passage {passage_id} is not what was indexed")
    return Passage(passage_id, title, text, Source(start, start + len(text), *place))  # type: ignore[arg-type]
