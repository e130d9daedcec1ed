"""Where cited words stand in a corpus as it is now: in the same passage, elsewhere, or no more in their document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from toulmin.data import Passage, Quote, Source
from toulmin.indexing.corpus import AnyCorpus
from toulmin.retrieval.bm25 import Bm25

_READ, _KEPT = 50, 5  # passages that a search for the words gives; those of the document that say most about them


@dataclass(frozen=True, slots=True)
class Cited:
    """A passage as it was cited, with the words of it that say enough by themselves (None: all of it)."""

    passage: Passage
    quote: Quote | None

    @property
    def words(self) -> str:
        return self.quote.text if self.quote else self.passage.text


@dataclass(frozen=True, slots=True)
class Place:
    """Where it is now. `passages` hold the words or, where those changed, are what the document says that is nearest to
    them, the nearest first.
    """

    state: Literal["current", "moved", "changed", "gone"]
    passages: tuple[Passage, ...] = ()


def find_places(cited: Iterable[Cited], corpus: AnyCorpus) -> Mapping[Cited, Place]:
    """The place of each in a corpus; passages that are there unchanged cost no search."""
    wanted = list(dict.fromkeys(cited))
    there = corpus.passages_by_id(list({each.passage.id for each in wanted}))
    lost = [each for each in wanted if each.passage.id not in there]
    places = {each: _kept(each, there[each.passage.id]) for each in wanted if each.passage.id in there}
    if lost:
        documents = {_key(document.path, document.url, document.record) for document in corpus.documents()}
        rows = Bm25(corpus).search([each.words for each in lost], _READ)
        found = ([hit.passage for hit in row] for row in rows)
        places |= {each: _lost(each, near, documents) for each, near in zip(lost, found, strict=True)}
    return places


def _kept(cited: Cited, now: Passage) -> Place:
    is_here = _key_of(now.source) == _key_of(cited.passage.source) or _name(now.source) == _name(cited.passage.source)
    return Place("current" if is_here else "moved", (now,))


def _lost(cited: Cited, near: Sequence[Passage], documents: set[tuple[str | None, ...]]) -> Place:
    key = _key_of(cited.passage.source)
    of_document = [passage for passage in near if _key_of(passage.source) == key]
    for passage in (*of_document, *near):
        # What a whole passage says may hang on its title.
        is_same = cited.quote is not None or passage.title == cited.passage.title
        if is_same and find_quote(cited.words, passage.text):
            return Place("moved", (passage,))
    return Place("changed", tuple(of_document[:_KEPT])) if key in documents else Place("gone")


def find_quote(words: str, text: str) -> Quote | None:
    """Those words in a text, however it is wrapped."""
    match = re.search(r"\s+".join(map(re.escape, words.split())), text)
    return Quote(match.start(), match.end(), match[0]) if match and match[0] else None


def _key_of(source: Source) -> tuple[str | None, ...]:
    return _key(source.path, source.url, source.record)


def _key(path: str | None, url: str | None, record: str | None) -> tuple[str | None, ...]:
    return path, url, record


def _name(source: Source) -> tuple[str | None, ...]:
    # The same folder may be read under another path, as on another machine.
    return _key(PurePath(source.path).name if source.path else None, source.url, source.record)
