"""The evidence of sentences, and the choice of those that say most about a question.

A sentence's features are its coverage of the question's terms, weighted by rarity, its position, its facts, and
with an encoder its cosine with the question. Its *evidence*, the chance that it answers, is the softmax of their
weighted sum. Its *finds*, facts and terms that the question lacks, share the evidence. A chosen sentence earns only
new finds; the choice ends when none is likely enough to add one. Weights and constants were chosen on train splits
(`benchmarks/fit_evidence.py`, `benchmarks/writer.py --train`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import mul
from typing import NamedTuple

from toulmin.data import Passage
from toulmin.extractive.analysis import Find, Sentence, analyse, title_terms
from toulmin.extractive.meaning import Meaning
from toulmin.extractive.question import Question
from toulmin.text.language import rarity

_LOCAL = 0.3  # power of a term's rarity among these sentences; its rarity in the language has power 1
_PROMISING = 30  # sentences whose facts are read: the best by words
_COMPARED = 12  # of these, the ones that are encoded: the best by words and facts; about 7 ms each
_IN_TITLE = 0.5  # weight, for abstention, of a term of the title: a sentence need not repeat its subject


class Features(NamedTuple):
    """Shares are of the question's terms, by weight."""

    coverage: float  # the square of the share in it or its title
    nearby: float  # the share in its title, it and the adjacent sentences
    passage: float  # the share in its passage, relative to the best passage
    title: float  # the share in its title
    subject: float  # 1 if the title has no other terms
    rank: float  # 1 / the rank of its passage, from 1
    position: float  # the logarithm of its place in the passage, from 1
    soundness: float  # the logarithm
    dates: float = 0.0  # the logarithm of 1 + the number of its new dates
    expected: float = 0.0  # the logarithm of 1 + the number of its new facts of the kind asked for
    likely: float = 0.0  # 1 if one of them has the form asked for: a person for "who"
    meaning: float = 0.0  # the cosine with the question, if there is an encoder; the mean if not encoded


WEIGHTS = Features(
    coverage=2.30,
    nearby=1.63,
    passage=1.89,
    title=1.32,
    subject=0.94,
    rank=1.31,
    position=-0.74,
    soundness=0.48,
    dates=0.36,
    expected=0.76,
    likely=1.18,
)
WITH_MEANING = Features(
    coverage=0.41,
    nearby=0.74,
    passage=1.64,
    title=0.60,
    subject=0.41,
    rank=0.77,
    position=-0.51,
    soundness=0.69,
    dates=0.46,
    expected=0.91,
    likely=0.81,
    meaning=8.50,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A sentence as one question sees it; `rank` is its passage's, from 0.

    `covered` is the share of the question in it, without the title. `finds` are its facts and terms that the question
    lacks. `place` is its index among the entries, `near` its cosines with others by index, if it was encoded.
    """

    sentence: Sentence
    rank: int
    covered: float
    features: Features
    finds: tuple[Find, ...]
    evidence: float
    place: int = 0
    near: Mapping[int, float] = field(default_factory=dict)


class _Place(NamedTuple):
    sentence: Sentence
    rank: int
    covered: float
    features: Features


@dataclass(frozen=True, slots=True)
class _Look:
    rank: int
    sentences: tuple[Sentence, ...]
    held: tuple[frozenset[str], ...]
    title: frozenset[str]
    is_subject: bool

    @classmethod
    def at(cls, passage: Passage, rank: int, asked: frozenset[str]) -> _Look:
        sentences, title = analyse(passage), title_terms(passage.title)
        term_sets = tuple(asked & sentence.terms for sentence in sentences)
        return cls(rank, sentences, term_sets, asked & title, bool(title) and title <= asked)

    @property
    def anywhere(self) -> frozenset[str]:
        return self.title.union(*self.held)

    def places(self, asked: frozenset[str], weights: Mapping[str, float], best: float) -> Iterator[_Place]:
        anywhere, whole = self.anywhere, sum(weights.values())
        if not anywhere:
            return
        passage, title = _sum(weights, anywhere) / best, _sum(weights, self.title) / whole
        wanted = {term: rarity(term) * (_IN_TITLE if term in self.title else 1.0) for term in asked}
        wanted_whole = sum(wanted.values())
        for n, sentence in enumerate(self.sentences):
            features = Features(
                coverage=(_sum(weights, self.title | self.held[n]) / whole) ** 2,
                nearby=_sum(weights, self.title.union(*self.held[max(0, n - 1) : n + 2])) / whole,
                passage=passage,
                title=title,
                subject=float(self.is_subject),
                rank=1 / (1 + self.rank),
                position=math.log1p(n),
                soundness=math.log(sentence.soundness),
            )
            yield _Place(sentence, self.rank, _sum(wanted, self.held[n]) / wanted_whole, features)


def gather(
    question: Question, passages: Sequence[Passage], most: int = _PROMISING, meaning: Meaning | None = None
) -> list[Entry]:
    """The `most` best sentences by words, in the passages' order; equal ones once."""
    looks = [_Look.at(passage, rank, question.terms) for rank, passage in enumerate(passages)]
    weights = _weights(question.terms, looks)
    best = max((_sum(weights, look.anywhere) for look in looks), default=0.0) or 1.0
    places: dict[str, _Place] = {}
    for place in (place for look in looks for place in look.places(question.terms, weights, best)):
        places.setdefault(place.sentence.text, place)
    scores = {text: _score(place.features, WEIGHTS) for text, place in places.items()}
    promising = set(sorted(scores, key=lambda text: -scores[text])[:most])
    return _entries(question, [place for text, place in places.items() if text in promising], meaning)


def _entries(question: Question, places: Sequence[_Place], meaning: Meaning | None) -> list[Entry]:
    finds = [tuple(find for find in p.sentence.finds if not find.terms <= question.terms) for p in places]
    feature_rows = [_with_facts(place, question, new_finds) for place, new_finds in zip(places, finds, strict=True)]
    near: Mapping[int, Mapping[int, float]] = {}
    if meaning is not None:
        feature_rows, near = _add_meaning(question, places, feature_rows, meaning)
    weights = WEIGHTS if meaning is None else WITH_MEANING
    scores = [_score(features, weights) for features in feature_rows]
    best = max(scores, default=0.0)
    chances = [math.exp(score - best) for score in scores]
    whole = sum(chances)
    return [
        Entry(place.sentence, place.rank, place.covered, features, new_finds, chance / whole, n, near.get(n, {}))
        for n, (place, features, new_finds, chance) in enumerate(zip(places, feature_rows, finds, chances, strict=True))
    ]


def _add_meaning(
    question: Question, places: Sequence[_Place], feature_rows: Sequence[Features], meaning: Meaning
) -> tuple[list[Features], dict[int, dict[int, float]]]:
    """The features with cosines, and the cosines of the encoded sentences with each other.

    Others get the mean cosine, so they remain evidence for their finds.
    """
    scores = [_score(features, WEIGHTS) for features in feature_rows]
    read = sorted(sorted(range(len(places)), key=lambda n: -scores[n])[:_COMPARED])
    texts = [(places[n].sentence.passage.title, places[n].sentence.text) for n in read]
    asked, each = meaning.nearness(question.text, texts)
    cosines = dict(zip(read, asked, strict=True))
    usual = sum(asked) / len(asked) if asked else 0.0
    near = {n: dict(zip(read, row, strict=True)) for n, row in zip(read, each, strict=True)}
    return [features._replace(meaning=cosines.get(n, usual)) for n, features in enumerate(feature_rows)], near


def _with_facts(place: _Place, question: Question, finds: Sequence[Find]) -> Features:
    dates = sum(find.kind == "date" for find in finds)
    expected = sum(find.kind == question.kind for find in finds)
    likely = any(question.is_answered_by(find, place.sentence) for find in finds)
    return place.features._replace(dates=math.log1p(dates), expected=math.log1p(expected), likely=float(likely))


def _score(features: Features, weights: Features) -> float:
    score: float = sum(map(mul, weights, features))
    return score


def _weights(asked: frozenset[str], looks: Sequence[_Look]) -> dict[str, float]:
    count = Counter(term for look in looks for term_set in look.held for term in term_set | look.title)
    total = sum(len(look.sentences) for look in looks)
    return {term: rarity(term) * math.log(1 + total / (1 + count[term])) ** _LOCAL for term in asked}


def _sum(weights: Mapping[str, float], terms: frozenset[str]) -> float:
    return sum(map(weights.__getitem__, terms))
