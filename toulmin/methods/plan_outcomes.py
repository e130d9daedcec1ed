"""How far claims answer the questions"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from toulmin.data import Claim, Outcome, SubQuestion
from toulmin.methods.plan_questions import Inquiry
from toulmin.text.facts import Kind as FactKind
from toulmin.text.facts import facts
from toulmin.text.language import STOPWORDS, rarity, stem, terms

# For variant A, which has no reader, and ours: the share of a question's words that a claim must take up.
ADDRESSED = 0.5

_WH = r"(?:who|whom|whose|what|which|when|where|why|how(?: (?:many|much|long|old|far|often))?)"
_TWO_HEADS = re.compile(rf"(?P<one>{_WH}) (?:and|or) (?P<two>{_WH}) (?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_NEXT = re.compile(rf"(?<=[?？؟])\s*(?=\S)|,? (?:and|or) (?={_WH}\b)", re.IGNORECASE)
_MOST_PARTS = 4  # a question that seems to have more is not split
# The kinds of fact that an answer must add to the question's own words.
_WANTED: tuple[tuple[re.Pattern[str], frozenset[FactKind]], ...] = (
    (re.compile(r"(?:when|(?:in|on|since) (?:what|which) (?:year|date|day)|what year)\b", re.I), frozenset({"date"})),
    (re.compile(r"how (?:many|much|long|old|far|often)\b", re.I), frozenset({"number", "date"})),
    (re.compile(r"(?:by |to |with )?(?:who|whom|whose)\b|(?:from )?where\b", re.I), frozenset({"name"})),
)
_STOPS = frozenset(map(stem, STOPWORDS))


def parts_of(question: str) -> tuple[str, ...]:
    heads = _TWO_HEADS.fullmatch(question.strip())
    if heads:
        return (f"{heads['one']} {heads['rest']}", f"{heads['two']} {heads['rest']}")
    parts = tuple(part for piece in _NEXT.split(question) if re.search(r"\w", part := piece.strip()))
    return parts if 1 < len(parts) <= _MOST_PARTS else (question,)


def outcome(best: Sequence[float], threshold: float) -> Outcome:
    """The outcome for parts answered with these confidences, 0 without an answer."""
    if all(confidence >= threshold for confidence in best):
        return "answered"
    return "partly" if any(confidence >= threshold / 2 for confidence in best) else "unanswerable"


def question_outcomes(inquiries: Sequence[Inquiry], topic: str, claims: Sequence[Claim]) -> tuple[SubQuestion, ...]:
    """How far the supported claims that cite each question's own passages answer it.

    A part is answered once such a claim takes up a share `ADDRESSED` of its words beyond the topic's, weighted by
    rarity; without the kind of fact asked for (a date for "when"), only in part.
    """
    supported = [claim for claim in claims if claim.is_supported]
    return tuple(_question_outcome(supported, inquiry, topic) for inquiry in inquiries)


def _question_outcome(supported: Sequence[Claim], inquiry: Inquiry, topic: str) -> SubQuestion:
    sources = {passage.id for passage in inquiry.passages}
    resting = [claim for claim in supported if sources & set(claim.cited)]
    parts = parts_of(inquiry.text)
    shares = [[_share(part, claim.text, topic) for part in parts] for claim in resting]
    result = outcome([max((row[n] for row in shares), default=0.0) for n in range(len(parts))], ADDRESSED)
    least = ADDRESSED if result == "answered" else ADDRESSED / 2
    useful = [claim for claim, row in zip(resting, shares, strict=True) if max(row) >= least]
    cited = dict.fromkeys(id for claim in useful for id in claim.cited if id in sources)
    return SubQuestion(inquiry.text, result, tuple(cited))


def _share(question: str, claim: str, topic: str) -> float:
    asked = _terms(question) - _STOPS
    asked = asked - _terms(topic) or asked
    whole = sum(map(rarity, asked))
    share = sum(map(rarity, asked & _terms(claim))) / whole if whole else 0.0
    return share if share <= ADDRESSED / 2 or _holds_what_is_wanted(question, claim) else ADDRESSED / 2


@lru_cache(maxsize=4_096)
def _terms(text: str) -> frozenset[str]:
    """Cached: every claim is compared with every question."""
    return frozenset(terms(text))


def _holds_what_is_wanted(question: str, claim: str) -> bool:
    wanted = next((kinds for pattern, kinds in _WANTED if pattern.match(question)), None)
    known = {fact.value for fact in facts(question)}
    return wanted is None or any(fact.kind in wanted and fact.value not in known for fact in facts(claim))
