"""A reader without a model: the exact words of the passages that answer a question, and how sure that is.

The sentences that bear most on the question are searched for names, dates, figures and groups of nouns, which `ranking`
weighs against each other. Questions that ask how, why or whether get a clause or a sentence, as do those where no short
answer stands out. The confidence is a logistic regression over what the ranking shows, calibrated on train splits as
the chance that the words answer: `benchmarks/reader.py --fit` prints its coefficients and the weights of the ranking.

Texts are compared word by word and never interpreted. Question words are English; in other languages a sentence is
what is read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul
from typing import NamedTuple

from toulmin.data import Passage, Quote
from toulmin.grounding.facts import Fact, facts
from toulmin.grounding.overlap import normalised, token_f1
from toulmin.grounding.steps import Span
from toulmin.judges.asking import Form, Question, asked
from toulmin.judges.oppositions import is_negator
from toulmin.judges.ranking import Place, Scored, places, ranked
from toulmin.judges.spans import Kind
from toulmin.language import terms, words


class Signs(NamedTuple):
    """What the confidence rests on; shares are of the question's terms, by their rarity."""

    constant: float = 1.0
    chance: float = 0.0  # the logarithm, of all spans that say the same
    agreed: float = 0.0  # the mean F1 of its words with those of the likeliest spans, by their chance
    lead: float = 0.0  # of the best span's score on the next one's
    covered: float = 0.0  # the share that the sentence holds
    titled: float = 0.0  # that it or its title holds
    nearby: float = 0.0  # that they or the sentences beside it hold
    passage: float = 0.0  # that its passage holds
    neighbours: float = 0.0  # the share of the question's neighbouring terms that are neighbours in the sentence
    missing: float = 0.0  # the rarest term that the sentence lacks, as a part of the rarest
    fits: float = 0.0  # 1 if the span is of the kind asked for: a date for "when"
    whole: float = 0.0  # 1 if a clause or sentence is given
    unknown: float = 0.0  # the share of the question's names and figures that the passage lacks
    denied: float = 0.0  # 1 if one of question and sentence denies something and the other does not
    explained: float = 0.0  # 1 if the question asks how, why or whether
    passages: float = 0.0  # the logarithm of their number


COEFFICIENTS = Signs(
    constant=-2.41,
    chance=-0.14,
    agreed=4.16,
    lead=-0.05,
    covered=-0.68,
    titled=1.37,
    nearby=1.53,
    passage=-1.90,
    neighbours=-0.15,
    missing=0.00,
    fits=0.28,
    whole=1.53,
    unknown=-0.37,
    denied=-0.58,
    explained=-0.23,
    passages=-0.27,
)
LEAST = 0.08  # the confidence below which passages do not say
_STANDS_OUT = 0.12  # the chance from which a span is preferred to its sentence
_EXPLAINED: frozenset[Form] = frozenset(("how", "why", "whether"))  # asked of by a clause, not by a name
_CAUSE = re.compile(r"\b(?:because|due to|in order to|so that|as a result of|owing to)\b", re.IGNORECASE)
_FITS: dict[Form, Kind] = {"who": "name", "where": "name", "when": "date", "count": "number"}
_LIKELIEST = 12  # spans
_LEAST_CHANCE = 1e-6
_LONGEST = 2000  # characters of a span: a "sentence" beyond it is a table or a text without stops


@dataclass(frozen=True, slots=True)
class Found:
    """What a reader would say: `text` at `start` to `end` of the passage, and what its confidence rests on."""

    passage: Passage
    start: int
    end: int
    signs: Signs

    @property
    def text(self) -> str:
        """The words as they stand."""
        return self.passage.text[self.start : self.end]

    @property
    def confidence(self) -> float:
        """The chance that the words answer the question, 0 to 1."""
        score: float = sum(map(mul, COEFFICIENTS, self.signs))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


class Embedded:
    """Reads by words alone: deterministic, no model, nothing downloaded. Not to be used from several threads at once.

    An answer with a confidence below `least` (0 to 1) counts as none.
    """

    name = "embedded-reader-1"

    def __init__(self, least: float = LEAST) -> None:
        self._least = least

    def read(self, questions: Sequence[tuple[str, Sequence[Passage]]]) -> list[Span | None]:
        """The span for each question, or None where its passages do not say."""
        return [self._span(find(question, passages)) for question, passages in questions]

    def _span(self, found: Found | None) -> Span | None:
        if found is None or found.confidence < self._least:
            return None
        return Span(found.passage.id, Quote(found.start, found.end, found.text), found.confidence)


def find(text: str, passages: Sequence[Passage]) -> Found | None:
    """The likeliest answer, however unlikely; None where no sentence shares a word with the question."""
    question = asked(text)
    best = places(question, passages)
    if not best:
        return None
    spans = ranked(question, best)
    if spans and question.form not in _EXPLAINED and spans[0].chance >= _STANDS_OUT:
        top = spans[0]
        start, end = top.candidate.start, top.candidate.end
        return Found(top.place.passage, start, end, _signs(question, top.place, spans, len(passages)))
    place = best[0]
    start, end = _clause(question, place)
    signs = _signs(question, place, spans, len(passages))._replace(whole=1.0, fits=0.0)
    return Found(place.passage, start, end, signs)


def _clause(question: Question, place: Place) -> tuple[int, int]:
    """The sentence, or of an answer to "why" what follows its "because"."""
    start, end = place.sentence.start, place.sentence.end
    cause = _CAUSE.search(place.passage.text, start, end) if question.form == "why" else None
    start = cause.start() if cause else start
    return start, min(end, start + _LONGEST)


def _signs(question: Question, place: Place, spans: Sequence[Scored], passages: int) -> Signs:
    scores = [span.score for span in spans[:2]]
    sentence = place.passage.text[place.sentence.start : place.sentence.end]
    return Signs(
        chance=math.log(max(_together(spans), _LEAST_CHANCE)),
        agreed=_agreed(spans[:_LIKELIEST]),
        lead=scores[0] - scores[-1] if scores else 0.0,
        covered=place.covered,
        titled=place.features["with title"],
        nearby=place.features["nearby"],
        passage=place.features["passage"],
        neighbours=place.features["neighbours"],
        missing=_missing(question, place),
        fits=float(bool(spans) and _FITS.get(question.form) == spans[0].candidate.kind),
        unknown=_unknown(question.text, place.passage),
        denied=float(_denies(question.text) != _denies(sentence)),
        explained=float(question.form in _EXPLAINED),
        passages=math.log(passages),
    )


def _together(spans: Sequence[Scored]) -> float:
    """The chance of all spans that say what the first one says, wherever they stand."""
    if not spans:
        return 0.0
    said = normalised(spans[0].text)
    return sum(span.chance for span in spans if normalised(span.text) == said)


def _agreed(spans: Sequence[Scored]) -> float:
    return sum(span.chance * token_f1(spans[0].text, span.text) for span in spans)


def _unknown(text: str, passage: Passage) -> float:
    known = {fact.value for fact in _facts(passage.text)} | {fact.value for fact in _facts(passage.title)}
    asked_of = {fact.value for fact in _facts(text)}
    held = frozenset(terms(f"{passage.title} {passage.text}"))
    return sum(not (v in known or held.issuperset(terms(v))) for v in asked_of) / len(asked_of) if asked_of else 0.0


@lru_cache(maxsize=2048)
def _facts(text: str) -> tuple[Fact, ...]:
    return facts(text)


def _denies(text: str) -> bool:
    return any(is_negator(text[start:end].lower()) for start, end in words(text))


def _missing(question: Question, place: Place) -> float:
    """The weight of the most telling term that neither the sentence nor its title holds, as a part of the most."""
    held = place.sentence.held
    lacking = [weight for term, weight in question.weights.items() if term not in held]
    return max(lacking, default=0.0) / (max(question.weights.values(), default=1.0) or 1.0)
