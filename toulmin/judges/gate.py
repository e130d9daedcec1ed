"""Hard rules before the regression: what forbids support, whatever the coverage.

A claim is rejected if a number, date or name is in no source, if the sources cover little of it, or if a short
answer has words that no source has; contradicted if it nearly copies a sentence but changes a fact or reverses it.
Both rank below all accepted claims; verbatim copies are accepted. A doubted claim keeps its rank but is never
labelled supported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from toulmin.judges.anchors import floating_figures, loose_facts
from toulmin.judges.comparison import NEAR_COPY, compare
from toulmin.judges.conflicts import conflict
from toulmin.judges.coverage import Coverage, Source
from toulmin.judges.missing import has_term, missing
from toulmin.judges.reading import Reading, Sentence
from toulmin.judges.reversals import find_reversal
from toulmin.text.language import STOPWORDS

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


@dataclass(frozen=True, slots=True)
class Gate:
    ruling: Ruling
    reason: str | None = None

    def support(self, share: float) -> float:
        """The probability at this share of the allowed range."""
        low, high = self.ruling.value
        return low + (high - low) * share


def rule(claim: Reading, coverage: Coverage, sources: Sequence[Source], *, is_answer: bool) -> Gate:
    """With `is_answer`, every content word must be in the sources."""
    if not any(source.text.sentences for source in sources):
        return Gate(Ruling.REJECTED, "there are no sources")
    if not any(sentence.keys for sentence in claim.sentences):
        return Gate(Ruling.REJECTED, "the claim has no words")
    if _is_verbatim(claim, sources):
        return Gate(Ruling.ACCEPTED)
    if changed := _change(claim, sources):
        return Gate(Ruling.CONTRADICTED, changed)
    readings = [reading for source in sources for reading in source if reading.sentences]
    absent = missing(claim, readings)
    sure = absent.sure or (_absent_words(claim, readings) if is_answer else ())
    if sure:
        return Gate(Ruling.REJECTED, _absence(sure))
    if coverage.whole < LEAST_COVERED:
        return Gate(Ruling.REJECTED, "the sources do not speak of this")
    if absent.doubtful:
        return Gate(Ruling.DOUBTED, _absence(absent.doubtful))
    if floating := floating_figures(claim, sources):
        return Gate(Ruling.DOUBTED, f"{_with_verb(floating)} in the sources, but not with what the claim says of it")
    if len(sources) > 1 and (apart := loose_facts(claim, sources)):
        return Gate(Ruling.DOUBTED, f"no one passage says this of {' and '.join(dict.fromkeys(apart))}")
    return Gate(Ruling.ACCEPTED)


def _is_verbatim(claim: Reading, sources: Sequence[Source]) -> bool:
    return all(any(_states(source, sentence) for source in sources) for sentence in claim.stated)


def _states(source: Source, sentence: str) -> bool:
    lead = " ".join(source.title.text.split()) + ": "
    return sentence in source.text.stated or sentence.removeprefix(lead) in source.text.stated


def _absence(absent: Sequence[str]) -> str:
    return f"{_with_verb(absent)} not in the sources"


def _with_verb(words: Sequence[str]) -> str:
    return f"{' and '.join(dict.fromkeys(words))} {'is' if len(set(words)) == 1 else 'are'}"


def _absent_words(claim: Reading, readings: Sequence[Reading]) -> list[str]:
    return [
        shown
        for sentence in claim.sentences
        for at, (key, shown) in enumerate(zip(sentence.keys, sentence.shown, strict=True))
        if at not in sentence.facts and key not in STOPWORDS and not has_term(key, readings)
    ]


def _change(claim: Reading, sources: Sequence[Source]) -> str | None:
    return next((reason for sentence in claim.sentences if (reason := _sentence_change(sentence, sources))), None)


def _sentence_change(claim_sentence: Sentence, sources: Sequence[Source]) -> str | None:
    """What changed against the sentences most like it; None if one of them agrees."""
    copied: list[tuple[float, str | None]] = []
    reversals: list[tuple[float, str | None]] = []
    for source in sources:
        title = source.title.where.keys() | {key for sentence in source.title.sentences for key in sentence.held}
        loose = claim_sentence.held - title
        for sentence in source.text.sentences:
            if len(loose & sentence.held) >= (NEAR_COPY - 0.2) * len(loose) and _is_short(claim_sentence, sentence):
                beside = compare(claim_sentence, sentence, title)
                if beside.share >= NEAR_COPY:
                    copied.append((beside.share, conflict(beside)))
            reversals.append(find_reversal(claim_sentence, sentence, title))
    return _common_reason(copied, SIMILAR) or (_common_reason(reversals, 0.0) if not copied else None)


def _common_reason(comparisons: Sequence[tuple[float, str | None]], within: float) -> str | None:
    """The first reason of those nearest to the top share, if all have one."""
    nearest = max((share for share, _ in comparisons), default=0.0)
    reasons = [reason for share, reason in comparisons if share >= nearest - within]
    return None if None in reasons else next(iter(reasons), None)


def _is_short(*both: Sentence) -> bool:
    return all(len(sentence.keys) <= LONGEST for sentence in both)
