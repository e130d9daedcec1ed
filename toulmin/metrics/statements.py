"""What metrics read: an answer's text, and its statements with the passages they cite.

A profile cuts an answer into statements: `Honest` by claims, `Alce` like ALCE's evaluator (Gao et al. 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from toulmin.data import Answer, Claim, Passage, Style, citation_numbers
from toulmin.metrics.answered import Answered
from toulmin.metrics.written import NOTHING_WRITTEN
from toulmin.steps import Pair

Flaw = Literal["uncited", "out_of_range"]
Absence = Literal["empty", "abstained", "failed"]
# Styles whose claims are not sentences: a judge needs the question with them.
_NAMES_ONLY: frozenset[Style] = frozenset(("list", "short"))


@dataclass(frozen=True, slots=True)
class Cited:
    """The number in the text, and its passage, None if there is none.

    `premise` is what the judge reads, if that differs.
    """

    n: int
    passage: Passage | None
    premise: Passage | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that an answer says; with a `flaw` it is unsupported and not judged.

    `question` is set if the text is no sentence. Citations may repeat.
    """

    text: str
    citations: tuple[Cited, ...] = ()
    question: str | None = None
    flaw: Flaw | None = None

    def pair(self, citations: Sequence[Cited]) -> Pair:
        premises = [p for cited in citations if (p := cited.premise or cited.passage) is not None]
        return Pair(tuple(premises), self.text, self.question)

    def without(self, cited: Cited) -> Pair:
        """The other citations; of equal ones the first is removed, as in ALCE."""
        others = list(self.citations)
        others.remove(cited)
        return self.pair(others)


@dataclass(frozen=True, slots=True)
class Said:
    """`whole` is the text without citations, the premise of gold claims (None: not judged). `invalid` counts
    citations without a passage, which are wrong. With an `absence` there are no citation metrics; what failed
    has no metrics.
    """

    statements: tuple[Statement, ...] = ()
    whole: str | None = None
    invalid: int = 0
    absence: Absence | None = None


class Profile(Protocol):
    """How answers are read."""

    @property
    def name(self) -> str:
        """Its name in tables."""
        ...

    def said(self, answered: Answered) -> Said:
        """The statements of one answer."""
        ...


class Honest:
    """Claims with all of their citations judged.

    A citation without a passage counts as wrong in the precision. An abstention has no citation metrics and entails
    no gold claim. Empty texts without an abstention score 0.
    """

    name = "honest"

    def said(self, answered: Answered) -> Said:
        answer = answered.answer
        if answered.is_failed:
            return Said(absence="failed")
        if answer.status == "abstained":
            return Said(absence=None if NOTHING_WRITTEN in answer.notes else "abstained")
        numbers = citation_numbers(answer.claims)
        passages = {passage.id: passage for passage in reversed(answer.passages)}
        question = answer.question if answer.style in _NAMES_ONLY else None
        statements = []
        for claim in answer.claims:
            citations = tuple(Cited(numbers[id], passages[id]) for id in claim.cited)
            statements.append(Statement(claim.text, citations, question, None if citations else "uncited"))
        return Said(tuple(statements), whole_text(answer), answer.invalid_citations)


def whole_text(answer: Answer) -> str:
    """Claims without citations: entities between commas, a paragraph a section."""
    if answer.style == "list":
        return ", ".join(claim.text for claim in answer.claims)
    paragraphs: list[list[Claim]] = []
    for claim in answer.claims:
        if not paragraphs or paragraphs[-1][-1].section != claim.section:
            paragraphs.append([])
        paragraphs[-1].append(claim)
    return "\n".join(" ".join(claim.text for claim in paragraph) for paragraph in paragraphs)
