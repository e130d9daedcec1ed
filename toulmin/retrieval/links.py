"""Passages that the first hits name: the second step to a question that needs two.

"Where was the director of Fortunella born?" finds the page of Fortunella, which names the director; the page of the
director holds hardly a word of the question. So where a hit is titled by words of the question and leaves some of the
question open, the names in it are looked up, and the passages that they title take places at the end of the ranking.

`FIRST`, `SHARE` and `OPEN` were chosen on the train split (`benchmarks/links.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from toulmin.data import Hit, Passage
from toulmin.retrieval.bm25 import query_terms
from toulmin.retrieval.fusion import Ranker
from toulmin.text.facts import facts
from toulmin.text.language import fold, rarity

FIRST = 5  # hits whose names are looked up
SHARE = 0.4  # of the places, at most, that named passages may take
OPEN = 0.95  # a hit that holds more of the question than this, by rarity, leaves nothing open
_MOST_NAMES = 32
_SAME_TITLE = 3  # passages looked at for a name
_BRACKETED = re.compile(r"\s*\([^()]*\)\s*$")
_WORD = re.compile(r"\w+")


class Linked:
    """A ranking whose last places may go to passages that its first hits name; `by_words` looks names up.

    The names of the first `first` hits are looked up, if they leave more than `1 - opens` of the question open; the
    passages take `share` of the places at most.
    """

    def __init__(
        self, ranker: Ranker, by_words: Ranker, *, first: int = FIRST, share: float = SHARE, opens: float = OPEN
    ) -> None:
        self._ranker, self._by_words = ranker, by_words
        self._first, self._share, self._opens = first, share, opens

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """At most `k` hits a query, best first; a named passage has the score of the place that it takes."""
        found = self._ranker.search(queries, k)
        most = int(self._share * k)
        if most < 1:
            return [list(hits) for hits in found]
        named = [
            list(_names(query, hits[: self._first], self._opens)) for query, hits in zip(queries, found, strict=True)
        ]
        titled = self._titled(list(dict.fromkeys(name for names in named for name in names)))
        return [
            _placed(hits, [passage for name in names for passage in titled[name]], k, most)
            for hits, names in zip(found, named, strict=True)
        ]

    def _titled(self, names: Sequence[str]) -> Mapping[str, Sequence[Passage]]:
        """For each name the passages that stand under it."""
        found = self._by_words.search(names, _SAME_TITLE) if names else []
        return {
            name: [hit.passage for hit in hits if title_key(hit.passage.title) == name]
            for name, hits in zip(names, found, strict=True)
        }


def _names(query: str, hits: Sequence[Hit], opens: float) -> Iterator[str]:
    """The names in those of the hits that are about a part of the question and leave another part open."""
    asked = frozenset(query_terms(query))
    whole = sum(map(rarity, asked))
    seen: set[str] = set()
    for hit in hits:
        titled = _title_terms(hit.passage.title)
        if not titled or not titled <= asked:
            continue
        held = asked & (titled | set(query_terms(hit.passage.text)))
        if sum(map(rarity, held)) < opens * whole:
            for name in _named(hit.passage):
                if name not in seen and len(seen) < _MOST_NAMES:
                    seen.add(name)
                    yield name


@lru_cache(maxsize=4_096)
def _named(passage: Passage) -> tuple[str, ...]:
    """The names of two words and more in the passage, as titles are compared; its own title left out."""
    surfaces = (passage.text[fact.start : fact.end] for fact in facts(passage.text) if fact.kind == "name")
    keys = dict.fromkeys(title_key(re.sub(r"['’]s$", "", surface)) for surface in surfaces)
    return tuple(key for key in keys if " " in key and key != title_key(passage.title))


def title_key(title: str) -> str:
    """A title as it is compared: lower case, accents and what stands in brackets at its end left out."""
    return " ".join(_WORD.findall(fold(_BRACKETED.sub("", title) or title)))


@lru_cache(maxsize=4_096)
def _title_terms(title: str) -> frozenset[str]:
    return frozenset(query_terms(_BRACKETED.sub("", title) or title)) if title else frozenset()


def _placed(hits: Sequence[Hit], named: Sequence[Passage], k: int, most: int) -> list[Hit]:
    """The hits, with the first of the named passages brought into the last `most` of the `k` places."""
    kept, tail = list(hits[: k - most]), hits[k - most : k]
    ahead = {hit.passage.id for hit in kept}
    wanted = {passage.id: passage for passage in named if passage.id not in ahead}
    passages = [*list(wanted.values())[:most], *(hit.passage for hit in tail if hit.passage.id not in wanted)]
    scores = [hit.score for hit in tail]
    lowest = hits[-1].score if hits else 0.0
    return kept + [
        Hit(passage, scores[place] if place < len(scores) else lowest)
        for place, passage in enumerate(passages[: k - len(kept)])
    ]
