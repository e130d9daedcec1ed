"""Answers from ranked passages: whole, by claim, or by passage."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toulmin.data import Citation, Claim, Passage, Style
from toulmin.extractive.analysis import Find, Sentence, analyse
from toulmin.extractive.evidence import Entry, Survey, in_reading_order
from toulmin.extractive.windows import SpanReader
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt, Extract, NextClaim, Summarise
from toulmin.steps import Span
from toulmin.text.language import first_of_each

_ENTITY_SHARE = 0.15  # the least worth of an entity of a list, relative to the best one
_MOST_ENTITIES = 20
_ONE_WINDOW = 1  # words
_LIKELY = 0.5  # the chance of being right from which words of a window are the whole answer
_SINKING = 0.2
_USUAL_PASSAGES = 10
LEAST = 0.5  # the chance of the best window below which the writer is silent


def draw(survey: Survey, words: int, sample: int, barred: Collection[Sentence] = ()) -> list[Entry]:
    """The `sample`-th selection of about `words` words, in the order of choice.

    Draw 0 is the best. Later draws omit parts of it, the last sentences first, and add the next best; once every part
    was omitted, the same continues without it.
    """
    out = list(barred)
    while sample > 0:
        best = survey.choose(words, out)
        if not best:
            return survey.choose(words, barred)
        dropped = min(sample, 2 ** len(best) - 1)
        out += [entry.sentence for n, entry in enumerate(reversed(best)) if dropped >> n & 1]
        sample -= dropped
    return survey.choose(words, out) or survey.choose(words, barred)


def prose(chosen: Sequence[Entry]) -> tuple[Claim, ...]:
    return tuple(entry.sentence.claim() for entry in in_reading_order(chosen))


def entities(survey: Survey, sample: int = 0) -> tuple[Claim, ...]:
    """The entities that answer, best first; later draws omit the last.

    With a reader its likely spans, or the sentences of the best window if there are fewer than two.
    """
    if survey.windows:
        spans = _distinct([_span_claim(survey, span) for span in survey.spans if span.confidence >= _LIKELY])
        return spans[: max(1, len(spans) - sample)] if len(spans) > 1 else prose(draw(survey, _ONE_WINDOW, sample))
    finds = _answers(survey)
    enough = _ENTITY_SHARE * max((survey.worth[find] for find in finds), default=0.0)
    claims = _distinct([_fact_claim(survey, find) for find in finds if survey.worth[find] >= enough])[:_MOST_ENTITIES]
    return claims[: len(claims) - sample % len(claims)] if claims else ()


def shortest(survey: Survey, sample: int = 0) -> tuple[Claim, ...]:
    """The `sample`-th best fact, else sentence; of windows the likely span of the best, else the window."""
    if survey.windows:
        span = survey.windows[min(sample, len(survey.windows) - 1)].span
        if span and span.confidence >= _LIKELY:
            return (_span_claim(survey, span),)
        return prose(draw(survey, _ONE_WINDOW, sample))
    claims = _distinct([_fact_claim(survey, find) for find in _answers(survey)[: sample + 1]])
    if claims:
        return (claims[sample % len(claims)],)
    ranked = survey.rank_entries()
    return (ranked[sample % len(ranked)].sentence.claim(),) if ranked else ()


def _span_claim(survey: Survey, span: Span) -> Claim:
    sentences = (sentence for passage in survey.passages if passage.id == span.passage for sentence in analyse(passage))
    inside = (sentence.citation() for sentence in sentences if sentence.start <= span.quote.start < sentence.end)
    return Claim(" ".join(span.quote.text.split()), (next(inside, Citation(span.passage, span.quote)),))


def _answers(survey: Survey) -> list[Find]:
    # Those of the kind that is asked for, else all; best first.
    finds, kind = sorted(survey.worth, key=lambda find: -survey.worth[find]), survey.parsed.kind
    return [find for find in finds if find.kind == kind] or [find for find in finds if find.kind != "term"]


def _fact_claim(survey: Survey, find: Find) -> Claim:
    holder = max((e for e in survey.entries if find in e.finds), key=lambda entry: entry.evidence).sentence
    fact = next(fact for fact in holder.facts if (fact.kind, fact.value) == (find.kind, find.value))
    return Claim(holder.words_of(fact), (holder.citation(),))


def _distinct(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    return tuple(first_of_each(claims, lambda claim: claim.text.casefold()))


@dataclass(frozen=True, slots=True)
class Manner:
    words: int
    threshold: float
    reader: SpanReader | None = None

    def survey(self, question: str, passages: Sequence[Passage]) -> Survey:
        return Survey(question, passages, self.reader)

    def must_abstain(self, survey: Survey, passages: int) -> bool:
        """By a reader that ranks windows, else by words."""
        if survey.windows and self.threshold > 0:
            return survey.chance < LEAST
        return self.is_off_topic(survey, passages)

    def is_off_topic(self, survey: Survey, passages: int) -> bool:
        """By words alone: the best sentence's share of the question, raised with the number of passages."""
        return float(survey.coverage * max(1, passages) ** _SINKING) < self.threshold


# The value for a prompt; the number chooses among several selections.
Handler = Callable[[Any, Manner, int], Any]


def answer(prompt: AnswerPrompt, manner: Manner, sample: int) -> Draft:
    survey = manner.survey(prompt.question, prompt.passages)
    if manner.must_abstain(survey, len(prompt.passages)):
        return Draft()
    words, is_brief = prompt.words or manner.words, prompt.words is None
    claims = claims_of(survey, prompt.style, words, sample, is_brief=is_brief)
    lists = survey.blocks(words, is_brief=True) if is_brief and prompt.style == "long" and not sample else []
    cut = [
        f"The list in “{each.sentences[0].passage.title}” has {each.more} more items." for each in lists if each.more
    ]
    return Draft(claims if prompt.inline else tuple(replace(each, citations=()) for each in claims), notes=tuple(cut))


def claims_of(survey: Survey, style: Style, words: int, sample: int, *, is_brief: bool = False) -> tuple[Claim, ...]:
    """The claims of the `sample`-th answer; a report has twice the words."""
    if style == "list":
        return entities(survey, sample)
    if style == "short":
        return shortest(survey, sample)
    if style == "report":
        sentences = [entry.sentence for entry in in_reading_order(draw(survey, 2 * words, sample))]
        return tuple(replace(s.claim(), section=s.passage.title or None) for s in sentences)
    return prose(draw(survey, words, sample) if sample else survey.choose(words, is_brief=is_brief))


def next_claim(prompt: NextClaim, manner: Manner, sample: int) -> str | None:
    """The `sample`-th best claim to add to `prompt.written`; None when complete."""
    survey = manner.survey(prompt.question, prompt.passages)
    if not prompt.written.strip() and manner.must_abstain(survey, len(prompt.passages)):
        return None
    if prompt.style == "short":
        return None if prompt.written.strip() else _nth([claim.text for claim in shortest(survey, sample)], 0)
    if prompt.style == "list":
        return _nth([claim.text for claim in entities(survey) if claim.text not in prompt.written], sample)
    written = " ".join(prompt.written.split())
    used_entries = [entry for entry in survey.entries if entry.sentence.text in written]
    foreign = len(written.split()) - sum(entry.sentence.length for entry in used_entries)
    return _nth([e.sentence.text for e in survey.rank_entries(used_entries, manner.words - foreign)], sample)


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
    """The best window, else sentence; None if the passage is irrelevant."""
    survey = manner.survey(prompt.question, (prompt.passage,))
    if _is_irrelevant(survey, manner):
        return None
    ranked = survey.rank_entries()
    best = draw(survey, _ONE_WINDOW, sample) if survey.windows else ranked[sample % max(1, len(ranked)) :][:1]
    return " ".join(claim.text for claim in prose(best)) or None


def _is_irrelevant(survey: Survey, manner: Manner) -> bool:
    return manner.is_off_topic(survey, _USUAL_PASSAGES)
