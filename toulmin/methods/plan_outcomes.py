"""What became of a plan's questions: answered, partly, or unanswerable.

A question of several parts ("When and where was she born?", two questions in one) is answered when all of them are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toulmin.data import Claim, Outcome, SubQuestion
from toulmin.language import STOPWORDS, rarity, stem, terms
from toulmin.methods.plan_questions import Inquiry

# Ours, for variant A, which has no reader: the share of a question's words that a claim must take up.
ADDRESSED = 0.5

_WH = r"(?:who|whom|whose|what|which|when|where|why|how(?: (?:many|much|long|old|far|often))?)"
_TWO_HEADS = re.compile(rf"(?P<one>{_WH}) (?:and|or) (?P<two>{_WH}) (?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_NEXT = re.compile(rf"(?<=[?？])\s*(?=\S)|,? (?:and|or) (?={_WH}\b)", re.IGNORECASE)
_STOPS = frozenset(map(stem, STOPWORDS))


def parts_of(question: str) -> tuple[str, ...]:
    """The questions that a question joins; most are one."""
    heads = _TWO_HEADS.fullmatch(question.strip())
    if heads:
        return (f"{heads['one']} {heads['rest']}", f"{heads['two']} {heads['rest']}")
    return tuple(part for piece in _NEXT.split(question) if re.search(r"\w", part := piece.strip())) or (question,)


def outcome(best: Sequence[float], threshold: float) -> Outcome:
    """The outcome of a question whose parts are answered with these confidences, 0 where there is no answer."""
    if all(confidence >= threshold for confidence in best):
        return "answered"
    return "partly" if any(confidence >= threshold / 2 for confidence in best) else "unanswerable"


def told_by(claims: Sequence[Claim], inquiry: Inquiry, topic: str) -> SubQuestion:
    """What the supported claims that rest on the question's own passages make of it.

    A part of the question counts as far as one such claim takes up its telling words beside the topic's, weighted by
    rarity: from `ADDRESSED` on it is answered.
    """
    found = {passage.id for passage in inquiry.passages}
    resting = [claim for claim in claims if claim.is_supported and found & set(claim.cited)]
    said = [set(terms(claim.text)) for claim in resting]
    asked = [_telling(part, topic) for part in parts_of(inquiry.text)]
    best = [max((_share(part, one) for one in said), default=0.0) for part in asked]
    result = outcome(best, ADDRESSED)
    if result == "unanswerable":
        return SubQuestion(inquiry.text, result)
    useful = (
        claim
        for claim, one in zip(resting, said, strict=True)
        if any(_share(part, one) >= ADDRESSED / 2 for part in asked)
    )
    return SubQuestion(inquiry.text, result, tuple(dict.fromkeys(id for c in useful for id in c.cited if id in found)))


def _telling(question: str, topic: str) -> frozenset[str]:
    """The terms that a question is asked by; the topic's own only where there are no others."""
    asked = frozenset(terms(question)) - _STOPS
    return asked - set(terms(topic)) or asked


def _share(asked: frozenset[str], said: set[str]) -> float:
    whole = sum(map(rarity, asked))
    return sum(map(rarity, asked & said)) / whole if whole else 0.0
