"""The chance that an answer span is right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from operator import mul
from typing import NamedTuple

from toulmin.data import Passage
from toulmin.extractive.asking import Form, ReaderQuestion
from toulmin.extractive.ranking import Place, Scored
from toulmin.extractive.spans import Kind
from toulmin.text.facts import Fact, facts
from toulmin.text.language import terms, words
from toulmin.text.oppositions import is_negator
from toulmin.text.overlap import normalise, token_f1

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
    known = {fact.value for fact in _facts(passage.text)} | {fact.value for fact in _facts(passage.title)}
    asked_of = {fact.value for fact in _facts(text)}
    vocabulary = frozenset(terms(f"{passage.title} {passage.text}"))
    return (
        sum(not (v in known or vocabulary.issuperset(terms(v))) for v in asked_of) / len(asked_of) if asked_of else 0.0
    )


@lru_cache(maxsize=2048)
def _facts(text: str) -> tuple[Fact, ...]:
    return facts(text)


def _denies(text: str) -> bool:
    return any(is_negator(text[start:end].lower()) for start, end in words(text))
