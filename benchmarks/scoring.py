"""An answer held against what the simulation knows: no judge, and no word of what the method thought of itself.

Per question, 0 to 1:

* citation recall: share of the claims that a passage they cite truly supports; precision: share of the citations that
  truly support their claim (nothing here needs two passages together); F1 of the two;
* correctness, as the papers count it, whatever is cited: whether some true claim holds the gold answer; where the
  evidence holds none (long, a few multihop), the share of the facts that are told truly;
* an abstention scores 0 throughout where the question can be answered, and 1 where it cannot; an answer to a question
  that has none is incorrect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gold import Question, is_in

from simulations.truth import plain, supports
from toulmin.data import Answer, Claim, Passage


@dataclass(frozen=True)
class Score:
    """What one answer was worth and what it cost; of its `claims`, `agreed` were judged as the truth has them."""

    recall: float
    precision: float
    f1: float
    correctness: float
    claims: int
    agreed: int
    abstained: bool
    failed: bool
    calls: Mapping[str, int]
    tokens: int
    pairs: int


def score(question: Question, answer: Answer) -> Score:
    abstained = not answer.claims
    recall, precision = _citations(question, answer)
    if abstained:
        recall = precision = correct = float(not question.is_answerable and answer.status != "failed")
    else:
        correct = _correctness(question, answer)
    usage = answer.usage
    return Score(
        recall,
        precision,
        2 * recall * precision / (recall + precision) if recall + precision else 0.0,
        correct,
        len(answer.claims),
        sum(
            claim.is_supported == any(rows)
            for claim, rows in zip(answer.claims, _support(question, answer), strict=True)
        ),
        abstained,
        answer.status == "failed",
        dict(usage.calls),
        sum(tokens.input + tokens.output for tokens in usage.tokens.values()),
        usage.judge_pairs,
    )


def _support(question: Question, answer: Answer) -> list[list[bool]]:
    """For each claim, whether each passage that it cites truly supports it."""
    by_id = {passage.id: passage for passage in answer.passages}
    return [[supports(by_id[id], claim.text, question.facts) for id in claim.cited] for claim in answer.claims]


def _citations(question: Question, answer: Answer) -> tuple[float, float]:
    """Recall and precision of an answer's citations; 0 where there are none."""
    rows = _support(question, answer)
    return share([any(row) for row in rows]), share([right for row in rows for right in row])


def share(rows: list[bool]) -> float:
    return sum(rows) / len(rows) if rows else 0.0


def _correctness(question: Question, answer: Answer) -> float:
    true = [claim for claim in answer.claims if _is_true(claim, question, answer.passages)]
    slots = [alias for fact in question.facts for alias in fact.answers]
    if slots:
        return float(any(is_in(alias, claim.text) for claim in true for alias in slots))
    return share([any(fact.text in plain(claim.text) for claim in true) for fact in question.facts])


def _is_true(claim: Claim, question: Question, passages: tuple[Passage, ...]) -> bool:
    """Whether it is a fact of the question, or some passage that was read says it."""
    is_fact = any(plain(claim.text) in (fact.text, *fact.answers) for fact in question.facts)
    return is_fact or any(supports(passage, claim.text, question.facts) for passage in passages)
