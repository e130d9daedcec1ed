"""What citation metrics judge: the statements of an answer, each with the passages that it cites.

A profile says how an answer falls into statements: `Honest` here, ALCE's own rules in `alce_statements`.
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
# Answers whose claims are no sentences: the question says what they are about.
_NAMES_ONLY: frozenset[Style] = frozenset(("list", "short"))


@dataclass(frozen=True, slots=True)
class Cited:
    """One citation: the number that the text shows, and the passage behind it (None where there is none).

    `premise` is the passage as the judge is to read it, where that is another than `passage`.
    """

    n: int
    passage: Passage | None
    premise: Passage | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that an answer says. With a `flaw` it is not supported, whatever it cites, and nothing is judged.

    `question` is set where the text is no sentence of its own. Citations are in citation order, and may repeat.
    """

    text: str
    citations: tuple[Cited, ...] = ()
    question: str | None = None
    flaw: Flaw | None = None

    def pair(self, citations: Sequence[Cited]) -> Pair:
        """The statement with those of its citations as premises, in their order."""
        premises = [p for cited in citations if (p := cited.premise or cited.passage) is not None]
        return Pair(tuple(premises), self.text, self.question)

    def without(self, cited: Cited) -> Pair:
        """The statement with its other citations; of several equal ones the first is taken away, as ALCE does."""
        others = list(self.citations)
        others.remove(cited)
        return self.pair(others)


@dataclass(frozen=True, slots=True)
class Said:
    """What one answer says.

    `whole` is all of it without citations, the premise of gold claims (None: it says nothing, and no claim is judged).
    `invalid` counts citations that point nowhere and count as wrong. An answer with an `absence` has no citation
    metrics; what failed has no metric at all.
    """

    statements: tuple[Statement, ...] = ()
    whole: str | None = None
    invalid: int = 0
    absence: Absence | None = None


class Profile(Protocol):
    """How answers are read."""

    @property
    def name(self) -> str:
        """What a table calls it."""
        ...

    def said(self, answered: Answered) -> Said:
        """The statements of one answer."""
        ...


class Honest:
    """Claims as they stand in the answer, all of their citations judged (metrics, section 5).

    A citation that points nowhere counts in the precision's denominator as wrong and leaves the others alone. An
    abstention says nothing that could be wrong: it has no citation metrics, and entails no gold claim. An empty text
    that nobody declared an abstention scores 0.
    """

    name = "honest"

    def said(self, answered: Answered) -> Said:
        """The statements of one answer."""
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
    """All claims without citations: entities between commas, sections a paragraph each, sentences in a line."""
    if answer.style == "list":
        return ", ".join(claim.text for claim in answer.claims)
    paragraphs: list[list[Claim]] = []
    for claim in answer.claims:
        if not paragraphs or paragraphs[-1][-1].section != claim.section:
            paragraphs.append([])
        paragraphs[-1].append(claim)
    return "\n".join(" ".join(claim.text for claim in paragraph) for paragraph in paragraphs)
