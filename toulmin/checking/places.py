"""Finds cited words in the current corpus: in the same passage, elsewhere, or no longer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePath
from typing import Literal, NamedTuple

from toulmin.data import Hit, Passage, Quote, Source
from toulmin.indexing.corpus import IndexedDocument
from toulmin.text.language import sentences

_READ, _KEPT = 50, 5  # hits of a search for the words; hits of their document to keep


class QuoteTarget(NamedTuple):
    """A passage as it was cited, with the decisive words (None: all of it)."""

    passage: Passage
    quote: Quote | None

    @property
    def words(self) -> str:
        return self.quote.text if self.quote else self.passage.text


@dataclass(frozen=True, slots=True)
class Place:
    """`passages` contain the words or, if these changed, are the nearest ones of the document, best first."""

    state: Literal["current", "moved", "changed", "gone"]
    passages: tuple[Passage, ...] = ()


def find_places(
    cited: Iterable[QuoteTarget],
    there: Mapping[str, Passage],
    documents: Callable[[], Iterable[IndexedDocument]],
    rank: Callable[[list[str], int], Sequence[Sequence[Hit]]],
) -> Mapping[QuoteTarget, Place]:
    """The current place of each; passages in `there`, by their ids, are unchanged and need no search."""
    distinct = list(dict.fromkeys(cited))
    lost = [each for each in distinct if each.passage.id not in there]
    places = {each: _kept(each, there[each.passage.id]) for each in distinct if each.passage.id in there}
    if lost:
        homes = [_Home(each.path, each.url, each.record) for each in documents()]
        rows = rank([each.words for each in lost], _READ)
        for each, row in zip(lost, rows, strict=True):
            places[each] = _lost(each, [hit.passage for hit in row], _nearest_home(each.passage.source, homes))
    return places


def _kept(cited: QuoteTarget, now: Passage) -> Place:
    return Place("current" if _name(now.source) == _name(cited.passage.source) else "moved", (now,))


def _lost(cited: QuoteTarget, near: Sequence[Passage], home: _Home | None) -> Place:
    of_document = [p for p in near if _Home(p.source.path, p.source.url, p.source.record) == home]
    for passage in (*of_document, *near):
        # The meaning of a whole passage may depend on its title.
        is_same = cited.quote is not None or passage.title == cited.passage.title
        if is_same and find_quote(cited, passage.text):
            return Place("moved", (passage,))
    return Place("changed", tuple(of_document[:_KEPT])) if home else Place("gone")


def find_quote(cited: QuoteTarget, text: str) -> Quote | None:
    """The cited words in a text, if their sentence is unchanged but for white space."""
    matches = list(re.finditer(_pattern(cited), text))
    bounds = sentences(text) if matches else ()
    starts, ends = {start for start, _ in bounds}, {end for _, end in bounds}
    for match in matches:
        if match.start() in starts and match.end() in ends:
            return Quote(*match.span("words"), match["words"])
    return None


def _pattern(cited: QuoteTarget) -> str:
    text, quote = cited.passage.text, cited.quote
    start, end = (quote.start, quote.end) if quote else (0, len(text))
    spans = [span for span in sentences(text) if span.start < end and start < span.end]
    if not spans:
        return r"(?!)"  # no words: matches nothing
    first, last = spans[0].start, spans[-1].end
    start, end = max(first, start), min(last, end)
    parts = (text[first:start], text[start:end], text[end:last])
    before, words, after = (r"\s+".join(map(re.escape, re.split(r"\s+", part))) for part in parts)
    return f"{before}(?P<words>{words}){after}"


class _Home(NamedTuple):
    path: str | None
    url: str | None
    record: str | None


def _nearest_home(source: Source, homes: Sequence[_Home]) -> _Home | None:
    """The document of that name whose path has the longest equal end: a corpus may have moved."""
    namesakes = [home for home in homes if _name(home) == _name(source)]
    return max(namesakes, key=lambda home: _equal_ends(source.path or "", home.path or ""), default=None)


def _equal_ends(path: str, other: str) -> int:
    ends = zip(reversed(PurePath(path).parts), reversed(PurePath(other).parts), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))


def _name(source: Source | _Home) -> _Home:
    return _Home(PurePath(source.path).name if source.path else None, source.url, source.record)
