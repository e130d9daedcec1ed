"""Adds passages that the first hits name, for questions that need two steps.

"Where was the director of Fortunella born?" finds the page of Fortunella, which names the director, whose page shares
hardly a word with the question. If a hit's title consists of question words, but the hit lacks a part of the question,
the names in it are looked up as titles; those passages take the last places.

`FIRST`, `SHARE` and `OPEN` were chosen on the train split (`benchmarks/links.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat

from toulmin.data import Hit, Passage
from toulmin.retrieval.bm25 import query_terms
from toulmin.retrieval.fusion import Ranker
from toulmin.text.language import fold, rarity
from toulmin.text.names import facts

FIRST = 5  # hits whose names are looked up
SHARE = 0.4  # of the places, the most that named passages may take
OPEN = 0.95  # a hit that covers more of the question than this, weighted by rarity, leaves nothing open
_MOST_NAMES = 24
_SAME_TITLE = 3  # passages searched for a name
_BRACKETED = re.compile(r"(?<!\s)\s*\([^()]*\)\s*$")
_WORD = re.compile(r"\w+")


class LinkRanker:
    """`titles` looks up the names in the `first` hits that cover less than `opens` of the question; named passages take
    at most `share` of the places.
    """

    def __init__(
        self, ranker: Ranker, titles: Ranker, *, first: int = FIRST, share: float = SHARE, opens: float = OPEN
    ) -> None:
        self._ranker, self._titles = ranker, titles
        self._first, self._share, self._opens = first, share, opens

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """A named passage gets the score of its place."""
        rankings = self._ranker.search(queries, k)
        most = int(self._share * k)
        if most < 1:
            return [list(hits) for hits in rankings]
        named = [_names(query, hits[: self._first], self._opens) for query, hits in zip(queries, rankings, strict=True)]
        titled = self._passages_by_title(list(dict.fromkeys(name for names in named for name in names)))
        return [
            _insert_passages(hits, [passage for name in names for passage in titled[name]], k, most)
            for hits, names in zip(rankings, named, strict=True)
        ]

    def _passages_by_title(self, names: Sequence[str]) -> Mapping[str, Sequence[Passage]]:
        rankings = self._titles.search(names, _SAME_TITLE) if names else []
        return {
            name: [hit.passage for hit in hits if title_key(hit.passage.title) == name]
            for name, hits in zip(names, rankings, strict=True)
        }


def _names(query: str, hits: Sequence[Hit], opens: float) -> list[str]:
    asked = frozenset(query_terms(query))
    whole = sum(map(rarity, asked))
    names: dict[str, None] = {}
    for hit in hits:
        titled = _title_terms(hit.passage.title)
        if not titled or not titled <= asked:
            continue
        if sum(map(rarity, asked & (titled | set(query_terms(hit.passage.text))))) < opens * whole:
            names |= dict.fromkeys(_names_in(hit.passage))
    return list(names)[:_MOST_NAMES]


@lru_cache(maxsize=4_096)
def _names_in(passage: Passage) -> tuple[str, ...]:
    """Title keys of two or more words, without its own title."""
    surfaces = (passage.text[fact.start : fact.end] for fact in facts(passage.text) if fact.kind == "name")
    keys = dict.fromkeys(title_key(re.sub(r"['’]s$", "", surface)) for surface in surfaces)
    return tuple(key for key in keys if " " in key and key != title_key(passage.title))


def title_key(title: str) -> str:
    """In lower case, without accents, punctuation and a final parenthesis."""
    return " ".join(_WORD.findall(fold(_BRACKETED.sub("", title) or title)))


@lru_cache(maxsize=4_096)
def _title_terms(title: str) -> frozenset[str]:
    return frozenset(query_terms(_BRACKETED.sub("", title) or title)) if title else frozenset()


def _insert_passages(hits: Sequence[Hit], named: Sequence[Passage], k: int, most: int) -> list[Hit]:
    kept, tail = list(hits[: k - most]), hits[k - most : k]
    ahead = {hit.passage.id for hit in kept}
    wanted = {passage.id: passage for passage in named if passage.id not in ahead}
    passages = [*list(wanted.values())[:most], *(hit.passage for hit in tail if hit.passage.id not in wanted)]
    scores = chain((hit.score for hit in tail), repeat(hits[-1].score if hits else 0.0))
    return kept + [Hit(passage, score) for passage, score in zip(passages[: k - len(kept)], scores, strict=False)]
