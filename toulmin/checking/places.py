"""Where cited words stand in a corpus as it is now: in the same passage, elsewhere, or no more in their document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, NamedTuple

from toulmin.data import Hit, Passage, Quote, Source
from toulmin.text.language import sentences

if TYPE_CHECKING:
    from toulmin.indexing.corpus import IndexedDocument

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


def find_places(
    cited: Iterable[Cited],
    there: Mapping[str, Passage],
    documents: Callable[[], Iterable[IndexedDocument]],
    rank: Callable[[list[str], int], Sequence[Sequence[Hit]]],
) -> Mapping[Cited, Place]:
    """The place of each in a corpus; those of the passages that are `there` unchanged, by their ids, cost no search."""
    wanted = list(dict.fromkeys(cited))
    lost = [each for each in wanted if each.passage.id not in there]
    places = {each: _kept(each, there[each.passage.id]) for each in wanted if each.passage.id in there}
    if lost:
        homes = _Homes(documents())
        rows = rank([each.words for each in lost], _READ)
        for each, row in zip(lost, rows, strict=True):
            places[each] = _lost(each, [hit.passage for hit in row], homes.home(each.passage.source))
    return places


def _kept(cited: Cited, now: Passage) -> Place:
    was = cited.passage.source
    is_here = _home(now.source) == _home(was) or _name(now.source) == _name(was)
    return Place("current" if is_here else "moved", (now,))


def _lost(cited: Cited, near: Sequence[Passage], home: _Home | None) -> Place:
    of_document = [passage for passage in near if _home(passage.source) == home]
    for passage in (*of_document, *near):
        # What a whole passage says may hang on its title.
        is_same = cited.quote is not None or passage.title == cited.passage.title
        if is_same and find_quote(cited, passage.text):
            return Place("moved", (passage,))
    return Place("changed", tuple(of_document[:_KEPT])) if home else Place("gone")


def find_quote(cited: Cited, text: str) -> Quote | None:
    """The cited words in a text, however it is wrapped, where nothing was added to their sentence or taken from it."""
    matches = list(re.finditer(_pattern(cited), text))
    bounds = sentences(text) if matches else ()
    starts, ends = {start for start, _ in bounds}, {end for _, end in bounds}
    for match in matches:
        if match.start() in starts and match.end() in ends:
            return Quote(*match.span("words"), match["words"])
    return None


def _pattern(cited: Cited) -> str:
    """The cited words between what is before and after them in their sentence."""
    text, quote = cited.passage.text, cited.quote
    start, end = (quote.start, quote.end) if quote else (0, len(text))
    spans = [span for span in sentences(text) if span.start < end and start < span.end]
    if not spans:
        return r"(?!)"  # no words, which are nowhere
    first, last = spans[0].start, spans[-1].end
    start, end = max(first, start), min(last, end)
    parts = (text[first:start], text[start:end], text[end:last])
    before, words, after = (r"\s+".join(map(re.escape, re.split(r"\s+", part))) for part in parts)
    return f"{before}(?P<words>{words}){after}"


class _Home(NamedTuple):
    """What tells documents apart."""

    path: str | None
    url: str | None
    record: str | None


class _Homes:
    """The documents of a corpus, also of one that lies at another path than when it was cited."""

    def __init__(self, documents: Iterable[IndexedDocument]) -> None:
        self._by_name: dict[_Home, list[_Home]] = {}
        for document in documents:
            home = _Home(document.path, document.url, document.record)
            self._by_name.setdefault(_name(home), []).append(home)

    def home(self, source: Source) -> _Home | None:
        """The document of that name whose path ends most alike; None where there is none."""
        parts = PurePath(source.path or "").parts
        return max(self._by_name.get(_name(source), ()), key=lambda home: _alike(parts, home), default=None)


def _alike(parts: Sequence[str], home: _Home) -> int:
    ends = zip(reversed(parts), reversed(PurePath(home.path or "").parts), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))


def _home(source: Source) -> _Home:
    return _Home(source.path, source.url, source.record)


def _name(source: Source | _Home) -> _Home:
    return _Home(PurePath(source.path).name if source.path else None, source.url, source.record)
