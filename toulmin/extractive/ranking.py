"""The chance of each candidate span."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise

from toulmin.data import Passage
from toulmin.extractive.asking import STOP_TERMS, ReaderQuestion
from toulmin.extractive.span_features import Features, span_features
from toulmin.extractive.spans import Candidate, Sentence, sentences_of
from toulmin.text.language import terms

_SEARCHED = 5  # sentences that are searched for candidates


def read_weights(table: str) -> dict[str, float]:
    """By feature, from tab-separated rows: a column for any question, one for each form."""
    header, *rows = (line.split("\t") for line in table.splitlines() if line and not line.startswith("#"))
    named = (
        (row[0] if form == "any" else f"{form}: {row[0]}", value)
        for row in rows
        for form, value in zip(header[1:], row[1:], strict=True)
    )
    return {name: float(value) for name, value in named if value}


WEIGHTS = read_weights(resources.files("toulmin.extractive").joinpath("span_weights.tsv").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence as one question sees it: `covered` is its share of the question."""

    passage: Passage
    sentence: Sentence
    covered: float
    features: Features
    score: float


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its chance among all candidates scored with it."""

    place: Place
    candidate: Candidate
    score: float
    chance: float

    @property
    def text(self) -> str:
        return self.place.passage.text[self.candidate.start : self.candidate.end]


def places(question: ReaderQuestion, passages: Sequence[Passage], most: int = _SEARCHED) -> list[Place]:
    """The `most` sentences that match best, best first; each shares a term with the question."""
    all_places = [place for rank, passage in enumerate(passages) for place in _places(question, passage, rank)]
    return sorted(all_places, key=lambda place: -place.score)[:most]


def _places(question: ReaderQuestion, passage: Passage, rank: int) -> Iterator[Place]:
    sentences = sentences_of(passage)
    title = _title_terms(passage.title)
    term_sets = [question.terms_in(sentence.held) for sentence in sentences]
    anywhere = title.union(*term_sets)
    whole = question.share(anywhere)
    if not whole:
        return
    for n, sentence in enumerate(sentences):
        covered = question.share(term_sets[n])
        features = {
            "covered": covered,
            "covered squared": covered**2,
            "with title": question.share(term_sets[n] | title),
            "nearby": question.share(title.union(*term_sets[max(0, n - 1) : n + 2])),
            "passage": whole,
            "neighbours": _neighbours(question, sentence),
            "rank": 1 / (1 + rank),
            "position": math.log1p(n),
        }
        yield Place(passage, sentence, covered, features, score(features))


@lru_cache(maxsize=4096)
def _title_terms(title: str) -> frozenset[str]:
    return frozenset(terms(title)) - STOP_TERMS


def _neighbours(question: ReaderQuestion, sentence: Sentence) -> float:
    if not question.neighbours:
        return 0.0
    line = [term for word in sentence.words if not word.is_function for term in word.terms]
    here = set(pairwise(line))
    return len(question.neighbours & here) / len(question.neighbours)


# ---------------------------------------------------------------- spans


def score(features: Features) -> float:
    return sum(WEIGHTS.get(name, 0.0) * value for name, value in features.items())


def rank_spans(question: ReaderQuestion, best_places: Sequence[Place]) -> list[Scored]:
    """All candidates of these sentences, likeliest first."""
    scores = [
        (place, candidate, place.score + score(features))
        for place in best_places
        for candidate, features in span_features(question, place.sentence)
    ]
    best = max((each for _, _, each in scores), default=0.0)
    chances = [math.exp(each - best) for _, _, each in scores]
    whole = sum(chances) or 1.0
    spans = [Scored(*each, chance / whole) for each, chance in zip(scores, chances, strict=True)]
    return sorted(spans, key=lambda scored: -scored.score)
