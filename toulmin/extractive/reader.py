"""A reader without a model: the words of the passages that answer a question, and the chance that they do.

The best matching sentences are searched for spans. A span's chance is the softmax of sums of features, weighted by
`span_weights.tsv`; a logistic regression makes the confidence. How, why and whether questions, and those without a
likely span, get a clause or sentence. `training/fit_reader.py` fits the weights on train splits. Question words
are English; other questions are read as topics.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from operator import mul
from typing import NamedTuple

from toulmin.data import Passage, Quote
from toulmin.errors import UsageError
from toulmin.extractive.question import Form, ReaderQuestion, parse_question
from toulmin.extractive.spans import Candidate, Features, Kind, Sentence, sentences_of, span_features
from toulmin.steps import Span
from toulmin.text.language import content_terms, terms, words
from toulmin.text.names import facts
from toulmin.text.oppositions import is_negator
from toulmin.text.overlap import normalise, token_f1

# ---------------------------------------------------------------- the chance of each candidate span


_SEARCHED = 5  # sentences that are searched for candidates
_facts = lru_cache(maxsize=2048)(facts)
_title_terms = lru_cache(maxsize=4096)(content_terms)


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
    term_sets = [question.terms_in(sentence.terms) for sentence in sentences]
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


def _neighbours(question: ReaderQuestion, sentence: Sentence) -> float:
    line = [term for word in sentence.words if not word.is_function for term in word.terms]
    return len(question.neighbours & set(pairwise(line))) / max(1, len(question.neighbours))


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


# ---------------------------------------------------------------- the chance that an answer span is right


EXPLAINED: frozenset[Form] = frozenset(("how", "why", "whether"))  # answered by a clause, not by a name
_FITS: dict[Form, Kind] = {"who": "name", "where": "name", "when": "date", "count": "number"}
_LIKELIEST = 12  # spans
_LEAST_CHANCE = 1e-6


class Signs(NamedTuple):
    """The regression's features; shares are of the question's terms, by rarity."""

    constant: float = 1.0
    chance: float = 0.0  # the log chance of all spans with the same words
    agreed: float = 0.0  # the mean token F1 with the likeliest spans, weighted by their chance
    covered: float = 0.0  # the share in the sentence
    titled: float = 0.0  # in the sentence or its title
    nearby: float = 0.0  # in these or the adjacent sentences
    passage: float = 0.0  # in the passage
    neighbours: float = 0.0  # the share of the question's adjacent terms that are adjacent in the sentence
    fits: float = 0.0  # 1 if the span is of the kind asked for: a date for "when"
    whole: float = 0.0  # 1 if a clause or sentence is given
    unknown: float = 0.0  # the share of the question's names and figures that the passage lacks
    denied: float = 0.0  # 1 if only the question or only the sentence denies something
    explained: float = 0.0  # 1 if the question asks how, why or whether
    passages: float = 0.0  # the logarithm of their number


COEFFICIENTS = Signs(
    constant=-2.36,
    chance=-0.14,
    agreed=4.23,
    covered=-0.69,
    titled=1.13,
    nearby=1.74,
    passage=-2.00,
    neighbours=-0.11,
    fits=0.16,
    whole=1.52,
    unknown=-0.41,
    denied=-0.62,
    explained=-0.19,
    passages=-0.25,
)


def confidence(signs: Signs) -> float:
    """The chance that the words answer, 0 to 1."""
    score: float = sum(map(mul, COEFFICIENTS, signs))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def signs_of(question: ReaderQuestion, place: Place, spans: Sequence[Scored], passages: int) -> Signs:
    """The features of the first span, or of the sentence at `place`; `passages` is a count."""
    sentence = place.passage.text[place.sentence.start : place.sentence.end]
    return Signs(
        chance=math.log(max(_total_chance(spans), _LEAST_CHANCE)),
        agreed=_agreement(spans[:_LIKELIEST]),
        covered=place.covered,
        titled=place.features["with title"],
        nearby=place.features["nearby"],
        passage=place.features["passage"],
        neighbours=place.features["neighbours"],
        fits=float(bool(spans) and _FITS.get(question.form) == spans[0].candidate.kind),
        unknown=_unknown(question.text, place.passage),
        denied=float(_denies(question.text) != _denies(sentence)),
        explained=float(question.form in EXPLAINED),
        passages=math.log(passages),
    )


def _total_chance(spans: Sequence[Scored]) -> float:
    if not spans:
        return 0.0
    wording = normalise(spans[0].text)
    return sum(span.chance for span in spans if normalise(span.text) == wording)


def _agreement(spans: Sequence[Scored]) -> float:
    return sum(span.chance * token_f1(spans[0].text, span.text) for span in spans)


def _unknown(text: str, passage: Passage) -> float:
    known = {fact.value for part in (passage.text, passage.title) for fact in _facts(part)}
    wanted = {fact.value for fact in _facts(text)} - known
    vocabulary = frozenset(terms(f"{passage.title} {passage.text}"))
    absent = [value for value in wanted if not vocabulary.issuperset(terms(value))]
    return len(absent) / max(1, len({fact.value for fact in _facts(text)}))


def _denies(text: str) -> bool:
    return any(is_negator(text[start:end].lower()) for start, end in words(text))


# ---------------------------------------------------------------- the reader


LEAST = 0.08  # the confidence below which the passages do not answer
_STANDS_OUT = 0.12  # the chance from which a span is preferred to its sentence
_CAUSE = re.compile(r"\b(?:because|due to|in order to|so that|as a result of|owing to)\b", re.IGNORECASE)
_LONGEST = 2000  # characters of a span: a longer "sentence" is a table or a text without full stops


@dataclass(frozen=True, slots=True)
class BestSpan:
    """The answer `passage.text[start:end]`, with the features of its confidence."""

    passage: Passage
    start: int
    end: int
    signs: Signs

    @property
    def text(self) -> str:
        return self.passage.text[self.start : self.end]

    @property
    def confidence(self) -> float:
        return confidence(self.signs)


class LexicalReader:
    """Reads by words alone: deterministic, no model, nothing downloaded. Not thread-safe.

    Answers with a confidence below `least` count as none. Raises `UsageError` if `least` is not in 0..1.
    """

    name = "lexical-reader-1"

    def __init__(self, least: float = LEAST) -> None:
        if not 0 <= least <= 1:
            raise UsageError(f"The least confidence of a reader lies in 0..1, not {least!r}.")
        self._least = least

    def read(self, questions: Sequence[tuple[str, Sequence[Passage]]]) -> list[Span | None]:
        return [self._span(find(question, passages)) for question, passages in questions]

    def _span(self, answer: BestSpan | None) -> Span | None:
        if answer is None or answer.confidence < self._least:
            return None
        return Span(answer.passage.id, Quote(answer.start, answer.end, answer.text), answer.confidence)


def find(text: str, passages: Sequence[Passage]) -> BestSpan | None:
    """The likeliest answer, however unlikely; None if no sentence shares a word."""
    question = parse_question(text)
    best = places(question, passages)
    if not best:
        return None
    spans = rank_spans(question, best)
    if spans and question.form not in EXPLAINED and spans[0].chance >= _STANDS_OUT:
        top = _with_unit(spans)
        start, end = top.candidate.start, top.candidate.end
        return BestSpan(top.place.passage, start, end, signs_of(question, top.place, spans, len(passages)))
    place = best[0]
    start, end = _clause(question, place)
    signs = signs_of(question, place, spans, len(passages))._replace(whole=1.0, fits=0.0)
    return BestSpan(place.passage, start, end, signs)


def _with_unit(spans: Sequence[Scored]) -> Scored:
    """The first span; for a bare number, the one with its unit ("38 metres")."""
    top = spans[0]
    bare = top.candidate
    if bare.unit != "things":
        return top
    longer = (s for s in spans if s.place is top.place and s.candidate[:2] == (bare.first, bare.last + 1))
    return next((span for span in longer if span.candidate.unit != "things"), top)


def _clause(question: ReaderQuestion, place: Place) -> tuple[int, int]:
    start, end = place.sentence.start, place.sentence.end
    cause = _CAUSE.search(place.passage.text, start, end) if question.form == "why" else None
    start = cause.start() if cause else start
    return start, min(end, start + _LONGEST)
