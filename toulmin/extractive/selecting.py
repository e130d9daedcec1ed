"""Claims made by selection, with exact quotes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from toulmin.data import Citation, Claim
from toulmin.extractive.analysis import Find, Sentence
from toulmin.extractive.evidence import Entry
from toulmin.extractive.survey import Survey, in_reading_order
from toulmin.steps import Span
from toulmin.text.facts import Fact

_ENTITY_SHARE = 0.15  # the least worth of an entity of a list, relative to the best one
_MOST_ENTITIES = 20
_SURE = 0.2  # the confidence from which a reader's span comes before the facts


def draw(survey: Survey, words: int, sample: int, barred: Collection[Sentence] = ()) -> list[Entry]:
    """The `sample`-th selection of about `words` words, in the order chosen.

    Draw 0 is the best. Later ones leave out parts of it, the last sentences first, and fill up with the next best; once
    every part was left out, the same continues without it.
    """
    out = list(barred)
    while sample > 0:
        best = survey.choose(words, out)
        if not best:
            return survey.choose(words, barred)
        parts = 2 ** len(best) - 1
        dropped = min(sample, parts)
        out += [entry.sentence for n, entry in enumerate(reversed(best)) if dropped >> n & 1]
        sample -= dropped
    return survey.choose(words, out) or survey.choose(words, barred)


def prose(chosen: Sequence[Entry]) -> tuple[Claim, ...]:
    return tuple(entry.sentence.claim() for entry in in_reading_order(chosen))


def report_claims(chosen: Sequence[Entry]) -> tuple[Claim, ...]:
    ordered = in_reading_order(chosen)
    return tuple(replace(e.sentence.claim(), section=e.sentence.passage.title or None) for e in ordered)


def entities(survey: Survey, sample: int = 0) -> tuple[Claim, ...]:
    """The entities asked for, best first; later draws leave out the last.

    A reader's sure spans come first; with any, only facts of the kind asked for follow.
    """
    read = [_span_claim(survey, span) for span in survey.spans if span.confidence >= _SURE]
    finds = _of_asked_kind(survey) if read else _answers(survey)
    enough = _ENTITY_SHARE * max((survey.worth[find] for find in finds), default=0.0)
    facts = [_fact_claim(survey, find) for find in finds if survey.worth[find] >= enough]
    claims = _distinct([*read, *facts])[:_MOST_ENTITIES]
    return claims[: len(claims) - sample % len(claims)] if claims else ()


def shortest(survey: Survey, sample: int = 0) -> tuple[Claim, ...]:
    """The `sample`-th best span; without any fact, sentence."""
    read = [_span_claim(survey, survey.span)] if survey.span and survey.span.confidence >= _SURE else []
    claims = _distinct([*read, *(_fact_claim(survey, find) for find in _answers(survey)[: sample + 1])])
    if claims:
        return (claims[sample % len(claims)],)
    ranked = survey.rank_entries((), words=10**6)
    return (ranked[sample % len(ranked)].sentence.claim(),) if ranked else ()


def _span_claim(survey: Survey, span: Span) -> Claim:
    inside = (
        entry.sentence.citation()
        for entry in survey.entries
        if entry.sentence.passage.id == span.passage and entry.sentence.start <= span.quote.start < entry.sentence.end
    )
    return Claim(" ".join(span.quote.text.split()), (next(inside, Citation(span.passage, span.quote)),))


def _answers(survey: Survey) -> list[Find]:
    fact_finds = [find for find in survey.worth if find.kind != "term"]
    return _of_asked_kind(survey) or sorted(fact_finds, key=lambda find: -survey.worth[find])


def _of_asked_kind(survey: Survey) -> list[Find]:
    asked = [find for find in survey.worth if find.kind != "term" and find.kind == survey.asked.kind]
    return sorted(asked, key=lambda find: -survey.worth[find])


def _fact_claim(survey: Survey, find: Find) -> Claim:
    holder = max((e for e in survey.entries if find in e.finds), key=lambda entry: entry.evidence).sentence
    fact = next(fact for fact in holder.facts if (fact.kind, fact.value) == (find.kind, find.value))
    return Claim(_words(holder, fact), (holder.citation(),))


def _words(sentence: Sentence, fact: Fact) -> str:
    text = " ".join(sentence.passage.text[fact.start : fact.end].split())
    return text.removesuffix("'s").removesuffix("’s") if fact.kind == "name" else text


def _distinct(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    by_text: dict[str, Claim] = {}
    for claim in claims:
        by_text.setdefault(claim.text.casefold(), claim)
    return tuple(by_text.values())


def without_citations(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    none: tuple[Citation, ...] = ()
    return tuple(replace(claim, citations=none) for claim in claims)
