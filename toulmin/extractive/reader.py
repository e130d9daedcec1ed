"""A reader without a model: the words of the passages that answer a question, and the chance that they do.

The best matching sentences are searched for spans. A span's chance is the softmax of sums of features, weighted by
`span_weights.tsv`; a logistic regression makes the confidence. How, why and whether questions, and those without a
likely span, get a clause or sentence. `benchmarks/reader.py --fit` fits the weights on train splits. Question words
are English; other questions are read as topics.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from toulmin.data import Passage, Quote
from toulmin.errors import UsageError
from toulmin.extractive.asking import ReaderQuestion, parse_question
from toulmin.extractive.confidence import EXPLAINED, Signs, confidence, signs_of
from toulmin.extractive.ranking import Place, Scored, places, rank_spans
from toulmin.steps import Span

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


class Embedded:
    """Reads by words alone: deterministic, no model, nothing downloaded. Not thread-safe.

    Answers with a confidence below `least` count as none. Raises `UsageError` if `least` is not in 0..1.
    """

    name = "embedded-reader-1"

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
