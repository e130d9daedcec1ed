"""Answers from ranked passages: whole, by claim, or by passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toulmin.data import Claim, Passage, Style
from toulmin.extractive.meaning import Meaning, SpanReader
from toulmin.extractive.selecting import draw, entities, prose, report_claims, shortest, without_citations
from toulmin.extractive.survey import Survey
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt, Extract, NextClaim, Summarise

_UNLIMITED = 10**6  # words
_SINKING = 0.2
_USUAL_PASSAGES = 10
# A reader adds READING * (log odds that the passages answer - USUAL_ODDS) to the best sentence's share of the question.
# Fitted on CLAPnq with the reader that ships; for another, fit them with benchmarks/fit_silence.py.
READING, USUAL_ODDS = 0.101, 2.25


@dataclass(frozen=True, slots=True)
class Manner:
    """How the writer answers: `words` is the mean length of a long answer; below `threshold` it abstains."""

    words: int
    threshold: float
    meaning: Meaning | None = None
    reader: SpanReader | None = None

    def survey(self, question: str, passages: Sequence[Passage]) -> Survey:
        return Survey(question, passages, self.meaning, self.reader)

    def must_abstain(self, survey: Survey, passages: int) -> bool:
        """Whether the writer abstains. A reader's odds raise or lower the coverage that is enough."""
        odds = survey.span.odds if survey.span else None
        if self.threshold == 0 or odds is None:
            return self.is_off_topic(survey, passages)
        return self.effective_coverage(survey, passages) + READING * (odds - USUAL_ODDS) < self.threshold

    def is_off_topic(self, survey: Survey, passages: int) -> bool:
        """Like `must_abstain`, by words alone."""
        return self.effective_coverage(survey, passages) < self.threshold

    def effective_coverage(self, survey: Survey, passages: int) -> float:
        """The best sentence's share of the question, raised with the number of passages."""
        ease: float = max(1, passages) ** _SINKING
        return survey.coverage * ease


def answer(prompt: AnswerPrompt, manner: Manner, sample: int) -> Draft:
    """The claims that answer; none if the writer abstains."""
    survey = manner.survey(prompt.question, prompt.passages)
    if manner.must_abstain(survey, len(prompt.passages)):
        return Draft()
    claims = claims_of(survey, prompt.style, manner.words, sample)
    return Draft(claims if prompt.inline else without_citations(claims))


def claims_of(survey: Survey, style: Style, words: int, sample: int) -> tuple[Claim, ...]:
    """The `sample`-th answer; a report has twice the words."""
    if style == "list":
        return entities(survey, sample)
    if style == "short":
        return shortest(survey, sample)
    if style == "report":
        return report_claims(draw(survey, 2 * words, sample))
    return prose(draw(survey, words, sample))


def next_claim(prompt: NextClaim, manner: Manner, sample: int) -> str | None:
    """The claim that adds most to `prompt.written`, or the `sample`-th best; None when complete."""
    survey = manner.survey(prompt.question, prompt.passages)
    if not prompt.written.strip() and manner.must_abstain(survey, len(prompt.passages)):
        return None
    if prompt.style in ("list", "short"):
        return _next_span(survey, prompt, sample)
    written = " ".join(prompt.written.split())
    used_entries = [entry for entry in survey.entries if entry.sentence.text in written]
    foreign = len(written.split()) - sum(entry.sentence.length for entry in used_entries)
    return _nth([e.sentence.standalone for e in survey.rank_entries(used_entries, manner.words - foreign)], sample)


def _next_span(survey: Survey, prompt: NextClaim, sample: int) -> str | None:
    if prompt.style == "short":
        return None if prompt.written.strip() else _nth([claim.text for claim in shortest(survey, sample)], 0)
    return _nth([claim.text for claim in entities(survey) if claim.text not in prompt.written], sample)


def _nth(texts: Sequence[str], n: int) -> str | None:
    return texts[n] if n < len(texts) else None


def summary(prompt: Summarise, manner: Manner, sample: int) -> str | None:
    """The best sentences within `prompt.words`; None if the passage is irrelevant."""
    survey = manner.survey(prompt.question, (prompt.passage,))
    if _is_irrelevant(survey, manner):
        return None
    short = [entry for entry in draw(survey, prompt.words, sample) if entry.sentence.length <= prompt.words]
    return " ".join(claim.text for claim in prose(short)) or None


def extract(prompt: Extract, manner: Manner, sample: int) -> str | None:
    """The best sentence, standalone; None if the passage is irrelevant."""
    survey = manner.survey(prompt.question, (prompt.passage,))
    ranked = survey.rank_entries((), _UNLIMITED)
    if _is_irrelevant(survey, manner) or not ranked:
        return None
    return ranked[sample % len(ranked)].sentence.standalone


def _is_irrelevant(survey: Survey, manner: Manner) -> bool:
    return manner.is_off_topic(survey, _USUAL_PASSAGES)
