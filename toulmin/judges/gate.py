"""Hard rules before the regression, whatever the coverage.

A claim is rejected if no source contains one of its numbers, dates or names, if the sources cover little of it, or if a
short answer has words of no source. It is contradicted if it changes a fact of a sentence that it nearly copies. Both
rank below accepted claims, and verbatim copies are accepted. A doubted claim is never labelled supported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from enum import Enum
from typing import NamedTuple

from toulmin.judges import facts
from toulmin.judges.coverage import Coverage, Reading, Sentence, Source
from toulmin.steps import ABSENT
from toulmin.text.language import STOPWORDS
from toulmin.text.names import Fact

# ---------------------------------------------------------------- what a near copy changed


def _fact_change(beside: facts.Comparison) -> str | None:
    for block in beside.blocks if beside.content >= facts.LEAST_CONTENT else ():
        there = list(facts.facts_in(beside.source, block.b_start, block.b_end))
        for shown, fact in facts.facts_in(beside.claim, block.a_start, block.a_end):
            alike = [each for each in there if (each[1].kind == "name") == (fact.kind == "name")]
            rivals = (words for words, each in alike if not facts.agree(each, fact))
            if (rival := next(rivals, None)) is not None and not _is_in_source(fact, there, beside):
                return f"the source says {rival}, the claim says {shown}"
    return None


def _is_in_source(fact: Fact, there: list[tuple[str, Fact]], beside: facts.Comparison) -> bool:
    """Whether the source has the fact here, or anywhere if other blocks differ."""
    is_here = any(facts.agree(fact, other, beside.title) for _, other in there)
    return is_here or (len(beside.blocks) > 1 and facts.says(beside.source, fact))


# ---------------------------------------------------------------- the rulings


# The support from which a claim counts as supported: within 0.005 of the best balanced accuracy on the train splits.
SUPPORTED = 0.50
CEILING = 0.2  # support of rejected claims is below this, of others above
LEAST_COVERED = 0.35  # below this share of the claim's weighted terms, the sources are about something else
SIMILAR = 0.1  # near copies count if their share is within this of the nearest
LONGEST = 300  # units of the longest sentence that is aligned: the time is quadratic


class Ruling(Enum):
    """The range of support that the gate allows."""

    ACCEPTED = (CEILING, 1.0)
    DOUBTED = (CEILING, SUPPORTED - 0.01)
    REJECTED = (0.0, CEILING)
    CONTRADICTED = (0.0, CEILING / 2)


class Gate(NamedTuple):
    ruling: Ruling
    reason: str | None = None

    def support(self, share: float) -> float:
        low, high = self.ruling.value
        return low + (high - low) * share


def rule(claim: Reading, coverage: Coverage, sources: Sequence[Source], *, is_answer: bool) -> Gate:
    """For `is_answer`, the sources must contain every content word."""
    if not any(source.text.sentences for source in sources):
        return Gate(Ruling.REJECTED, "there are no sources")
    if not any(sentence.keys for sentence in claim.sentences):
        return Gate(Ruling.REJECTED, "the claim has no words")
    if is_verbatim(claim, sources):
        return Gate(Ruling.ACCEPTED)
    if changed := next(filter(None, (_sentence_change(sentence, sources) for sentence in claim.sentences)), None):
        return Gate(Ruling.CONTRADICTED, changed)
    absent = facts.absence(claim, sources)
    sure = absent.sure or (_absent_words(claim, sources) if is_answer else ())
    if sure:
        return Gate(Ruling.REJECTED, absence_reason(sure))
    if coverage.whole < LEAST_COVERED:
        return Gate(Ruling.REJECTED, "the sources do not speak of this")
    if absent.doubtful:
        return Gate(Ruling.DOUBTED, absence_reason(absent.doubtful))
    return Gate(Ruling.ACCEPTED)


def is_verbatim(claim: Reading, sources: Sequence[Source]) -> bool:
    """Whether the sources contain each sentence word for word."""
    return all(any(_states(source, sentence) for source in sources) for sentence in claim.stated)


def _states(source: Source, sentence: str) -> bool:
    lead = " ".join(source.title.text.split()) + ": "
    return sentence in source.text.stated or sentence.removeprefix(lead) in source.text.stated


def absence_reason(absent: Sequence[str]) -> str:
    verb = "is" if len(set(absent)) == 1 else "are"
    return f"{' and '.join(dict.fromkeys(absent))} {verb} {ABSENT}"


def _absent_words(claim: Reading, sources: Sequence[Source]) -> list[str]:
    readings = [reading for source in sources for reading in source if reading.sentences]
    return [
        shown
        for sentence in claim.sentences
        for at, (key, shown) in enumerate(zip(sentence.keys, sentence.shown, strict=True))
        if at not in sentence.facts and key not in STOPWORDS and not facts.has_term(key, readings)
    ]


def _sentence_change(claim_sentence: Sentence, sources: Sequence[Source]) -> str | None:
    """The first change against the sentences nearest to the largest share; None if one of them agrees."""
    copies: list[tuple[float, str | None]] = []
    for source in sources:
        title = source.title.where.keys() | {key for sentence in source.title.sentences for key in sentence.units}
        copies += [(beside.share, _fact_change(beside)) for beside in _near_copies(claim_sentence, source.text, title)]
    nearest = max((share for share, _ in copies), default=0.0)
    reasons = [reason for share, reason in copies if share >= nearest - SIMILAR]
    return None if None in reasons else next(iter(reasons), None)


def _near_copies(claim: Sentence, text: Reading, title: Set[str]) -> Iterator[facts.Comparison]:
    loose = claim.units - title
    for sentence in text.sentences:
        is_short = max(len(claim.keys), len(sentence.keys)) <= LONGEST
        if is_short and len(loose & sentence.units) >= (facts.NEAR_COPY - 0.2) * len(loose):
            beside = facts.compare(claim, sentence, title)
            if beside.share >= facts.NEAR_COPY:
                yield beside
