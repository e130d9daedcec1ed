"""Variant B: the reader's answers"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from toulmin.data import Dropped, Passage, Round, SubQuestion
from toulmin.methods.plan_outcomes import outcome, parts_of
from toulmin.methods.plan_questions import Inquiry
from toulmin.methods.reporting import ids
from toulmin.methods.sentence_wording import wording_of
from toulmin.prompts.types import Finding
from toulmin.steps import Program, Span, read, together


@dataclass(frozen=True, slots=True)
class Reading:
    """A question with the spans found for its parts: `parts[i]` for the i-th, surest first."""

    inquiry: Inquiry
    parts: tuple[tuple[Span, ...], ...]
    threshold: float

    @property
    def kept(self) -> tuple[Span, ...]:
        return tuple(span for part in self.parts for span in part if span.confidence >= self.threshold)

    @property
    def result(self) -> SubQuestion:
        best = [part[0].confidence if part else 0.0 for part in self.parts]
        near = [span for part in self.parts for span in part if span.confidence >= self.threshold / 2]
        passages = dict.fromkeys(span.passage for span in self.kept or near)
        return SubQuestion(self.inquiry.text, outcome(best, self.threshold), tuple(passages))

    @property
    def finding(self) -> Finding:
        answers = {wording_of(span.quote.text): span.quote.text for span in reversed(self.kept)}
        holding = {span.passage for span in self.kept}
        passages = tuple(passage for passage in self.inquiry.passages if passage.id in holding)
        return Finding(self.inquiry.text, tuple(reversed(answers.values())), passages)

    def as_round(self, n: int) -> Round:
        spans = [span for part in self.parts for span in part]
        weak = [span for span in spans if span.confidence < self.threshold]
        why = f"is below the threshold of {self.threshold:.2f}"
        dropped = [Dropped(span.quote.text, f"a confidence of {span.confidence:.2f} {why}") for span in weak]
        if not self.kept:
            dropped.append(Dropped(self.inquiry.text, "not enough information in the passages found for it"))
        return Round(
            "assess",
            n,
            role="reader",
            read=ids(self.inquiry.passages),
            queries=(self.inquiry.text,),
            kept=self.finding.answers,
            dropped=tuple(dropped),
            scores={"confidence": max((span.confidence for span in spans), default=0.0)},
        )


def readings(inquiries: Sequence[Inquiry], threshold: float) -> Program[tuple[Reading, ...]]:
    """Reads each question in each of its passages alone, side by side."""
    asked = [
        (part, passage) for inquiry in inquiries for part in parts_of(inquiry.text) for passage in inquiry.passages
    ]
    spans = iter((yield from together([read(part, (passage,)) for part, passage in asked])))
    results = []
    for inquiry in inquiries:
        parts = [
            _exact_spans([next(spans) for _ in inquiry.passages], inquiry.passages) for _ in parts_of(inquiry.text)
        ]
        results.append(Reading(inquiry, tuple(parts), threshold))
    return tuple(results)


def _exact_spans(spans: Sequence[Span | None], passages: Sequence[Passage]) -> tuple[Span, ...]:
    """A reader that misquotes has found nothing."""
    exact = [
        span
        for span, passage in zip(spans, passages, strict=True)
        if span is not None
        and span.passage == passage.id
        and passage.text[span.quote.start : span.quote.end] == span.quote.text
        and 0 < span.confidence <= 1
        and re.search(r"\w", span.quote.text)
    ]
    return tuple(sorted(exact, key=lambda span: -span.confidence))
