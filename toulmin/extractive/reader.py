"""A reader without a model: the exact words of the passages that answer a question, and how sure that is.

The sentences that bear most on the question are searched for names, dates, figures and groups of nouns, which `ranking`
weighs against each other. Questions that ask how, why or whether get a clause or a sentence, as do those where no short
answer stands out. The confidence is the chance that the words answer; it and the ranking were fitted on train splits
(`benchmarks/reader.py --fit`).

Texts are compared word by word and never interpreted. Question words are English; a question of another language is
read like one that names a topic.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from toulmin.data import Passage, Quote
from toulmin.errors import UsageError
from toulmin.extractive.asking import Question, asked
from toulmin.extractive.confidence import EXPLAINED, Signs, confidence, signs_of
from toulmin.extractive.ranking import Place, Scored, places, ranked
from toulmin.steps import Span

LEAST = 0.08  # the confidence below which passages do not say
_STANDS_OUT = 0.12  # the chance from which a span is preferred to its sentence
_CAUSE = re.compile(r"\b(?:because|due to|in order to|so that|as a result of|owing to)\b", re.IGNORECASE)
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
        return confidence(self.signs)


class Embedded:
    """Reads by words alone: deterministic, no model, nothing downloaded. Not to be used from several threads at once.

    An answer with a confidence below `least` counts as none; raises `UsageError` if that is not in 0..1.
    """

    name = "embedded-reader-1"

    def __init__(self, least: float = LEAST) -> None:
        if not 0 <= least <= 1:
            raise UsageError(f"The least confidence of a reader lies in 0..1, not {least!r}.")
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
    if spans and question.form not in EXPLAINED and spans[0].chance >= _STANDS_OUT:
        top = _with_unit(spans)
        start, end = top.candidate.start, top.candidate.end
        return Found(top.place.passage, start, end, signs_of(question, top.place, spans, len(passages)))
    place = best[0]
    start, end = _clause(question, place)
    signs = signs_of(question, place, spans, len(passages))._replace(whole=1.0, fits=0.0)
    return Found(place.passage, start, end, signs)


def _with_unit(spans: Sequence[Scored]) -> Scored:
    """The first span, or where it is a bare number the one that holds the unit behind it too: "38 metres"."""
    top = spans[0]
    bare = top.candidate
    if bare.unit != "things":
        return top
    longer = (s for s in spans if s.place is top.place and s.candidate[:2] == (bare.first, bare.last + 1))
    return next((span for span in longer if span.candidate.unit != "things"), top)


def _clause(question: Question, place: Place) -> tuple[int, int]:
    """The sentence, or of an answer to "why" what follows its "because"."""
    start, end = place.sentence.start, place.sentence.end
    cause = _CAUSE.search(place.passage.text, start, end) if question.form == "why" else None
    start = cause.start() if cause else start
    return start, min(end, start + _LONGEST)
