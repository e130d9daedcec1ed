"""Passages that may give a question's answer."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from toulmin.data import Passage
from toulmin.datasets.synthetic_question import Asked
from toulmin.datasets.synthetic_statements import squeeze
from toulmin.text.facts import facts
from toulmin.text.figures import figures
from toulmin.text.language import STOPWORDS, sentences, stem, terms

_STOP = STOPWORDS | frozenset(map(stem, STOPWORDS))

# Terms that express a verb, by their beginnings.
_KINDRED = {
    "bear": ("born", "birth", "nativ"),
    "die": ("die", "death", "dead", "kill", "murder", "assassin", "execut"),
    "found": ("found", "establish", "creat", "start", "form", "set", "launch"),
    "establish": ("found", "establish", "creat", "start", "form", "set", "launch"),
    "form": ("found", "establish", "creat", "start", "form", "set"),
    "create": ("found", "establish", "creat", "start", "form", "invent"),
    "build": ("built", "build", "construct", "erect", "complet"),
    "construct": ("built", "build", "construct", "erect", "complet"),
    "erect": ("built", "build", "construct", "erect", "complet"),
    "write": ("writ", "wrote", "author", "novel", "penn"),
    "by": ("writ", "wrote", "author", "by", "record"),
    "release": ("releas", "issu", "premier", "publish", "air"),
    "publish": ("releas", "issu", "publish", "print"),
    "win": ("win", "won", "champion", "victor"),
    "become": ("becam", "becom", "was", "elect", "appoint"),
    "be": ("is", "was", "are"),
}


def relation_terms(relation: str) -> tuple[str, ...]:
    """Beginnings of terms that express the question's verb."""
    return _KINDRED.get(relation, (stem(relation)[:6],))


@lru_cache(maxsize=50_000)
def _telling(text: str) -> tuple[str, ...]:
    all_terms = tuple(dict.fromkeys(terms(text)))
    return tuple(term for term in all_terms if term not in _STOP) or all_terms


def document_of(passage: Passage) -> tuple[str | None, ...]:
    source = passage.source
    place = (source.path, source.url, source.record)
    return place if any(place) else (passage.title or passage.id,)


class Tellers:
    """Finds the passages that may give a question's answer: those to withhold so that it has none.

    Such a passage holds, in title and text, at least half of the subject's telling words (of a person also the last
    name alone) and the answer: a date of the same year, a number of the same value, or a telling word of a name.
    Passages of the same document need only hold the answer: they may say "it". One passage too many does no harm, one
    too few leaves an answer.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._terms = [frozenset(terms(f"{passage.title} {passage.text}")) for passage in passages]
        self._holding: dict[str, list[int]] = defaultdict(list)
        for at, passage_terms in enumerate(self._terms):
            for term in passage_terms:
                self._holding[term].append(at)
        self._documents: dict[tuple[str | None, ...], list[int]] = defaultdict(list)
        for at, passage in enumerate(passages):
            self._documents[document_of(passage)].append(at)

    def tellers(self, asked: Asked) -> tuple[str, ...]:
        """Ids of the passages that may give the answer, gold first."""
        gold = asked.statement.passage
        near = {*self._about(asked), *self._documents[document_of(gold)]}
        ids = (self._passages[at].id for at in sorted(near) if self.holds_answer(at, asked))
        return tuple(dict.fromkeys((gold.id, *ids)))

    def copies(self, asked: Asked) -> tuple[str, ...]:
        """Ids of the passages with the same sentence, gold first."""
        gold, span = asked.statement.passage, asked.statement.span
        sentence = gold.text[span.start : span.end]
        same = [at for at in self.holding(_telling(sentence)) if squeeze(sentence) in squeeze(self._passages[at].text)]
        return tuple(dict.fromkeys((gold.id, *(self._passages[at].id for at in same))))

    def holding(self, wanted: Iterable[str]) -> list[int]:
        """Positions of the passages that hold all these terms, ascending."""
        wanted = list(wanted)
        rarest = min(wanted, key=lambda term: len(self._holding.get(term, ())), default=None)
        if rarest is None:
            return []
        return [at for at in self._holding.get(rarest, ()) if self._terms[at].issuperset(wanted)]

    def _about(self, asked: Asked) -> list[int]:
        telling = _telling(asked.subject)
        counted = Counter(at for term in telling for at in self._holding.get(term, ()))
        least = (len(telling) + 1) // 2
        positions = {at for at, count in counted.items() if count >= least}
        return sorted(positions | set(self._holding.get(telling[-1], ()) if asked.sort == "person" and telling else ()))

    def holds_answer(self, at: int, asked: Asked) -> bool:
        if asked.kind in ("date", "number"):
            return not _values(asked.answers[0], asked.kind).isdisjoint(self._values(at, asked.kind))
        shared = [term for term in _telling(asked.answers[0]) if term in self._terms[at]]
        return len(shared) * 2 >= len(_telling(asked.answers[0])) if asked.rule == "definition" else bool(shared)

    def _values(self, at: int, kind: str) -> frozenset[str]:
        passage = self._passages[at]
        return _values(f"{passage.title}. {passage.text}", kind)

    def is_disputed(self, asked: Asked) -> bool:
        """Whether a passage says another date, number or "by", with the same verb."""
        for at in self.holding(_telling(asked.subject)):
            text = self._passages[at].text
            for start, end in sentences(text):
                if self._disputes(text[start:end], asked):
                    return True
        return False

    def _disputes(self, sentence: str, asked: Asked) -> bool:
        sentence_terms = set(terms(sentence))
        if not _begins(sentence_terms, relation_terms(asked.relation)):
            return False
        if asked.kind in ("date", "number"):
            values = _values(sentence, asked.kind)
            return bool(values) and values.isdisjoint(_values(asked.answers[0], asked.kind))
        if asked.kind == "person" and not sentence_terms.isdisjoint(_telling(asked.subject)):
            return (
                not sentence_terms.issuperset(_telling(asked.answers[0]))
                and re.search(r"\bby [A-Z]", sentence) is not None
            )
        return False

    def is_answerable_for(self, subject: str, asked: Asked) -> bool:
        """Whether a passage might answer the question for another subject."""
        telling = _telling(subject)
        wanted = relation_terms(asked.relation)
        for at in self.holding(telling):
            if _begins(self._terms[at], wanted) or self.holds_answer(at, asked):
                return True
            if asked.kind in ("date", "number") and self._has_figure_beside(at, telling, asked.kind):
                return True
        return False

    def _has_figure_beside(self, at: int, telling: Sequence[str], kind: str) -> bool:
        text = self._passages[at].text
        pieces = (text[start:end] for start, end in sentences(text))
        return any(_values(piece, kind) and not set(telling).isdisjoint(terms(piece)) for piece in pieces)


def _begins(text_terms: Iterable[str], beginnings: tuple[str, ...]) -> bool:
    short = tuple(word for word in beginnings if len(word) > 3)
    exact = {word for word in beginnings if len(word) <= 3}
    return any(term in exact or (short and term.startswith(short)) for term in text_terms)


@lru_cache(maxsize=20_000)
def _values(text: str, kind: str) -> frozenset[str]:
    fact_set = {fact for fact in (*figures(text), *facts(text)) if fact.kind != "name"}
    if kind == "date":
        return frozenset(fact.value[:4] for fact in fact_set if fact.kind == "date" and fact.value[:4].isdigit())
    return frozenset(fact.value for fact in fact_set)
