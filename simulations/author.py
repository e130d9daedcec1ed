"""Simulation: a faulty writer's own mind: what it knows, what it sees, and how a fact comes out when it is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from simulations.chance import Dice
from simulations.statements import Line, Matter, Statement, VisibleFact, citations, facts_in_sight, matters, stray
from simulations.truth import Fact, plain
from toulmin.data import Claim, Passage, Style

MISSED = 1 / 2  # of the rate: facts left out
ALTERED = 1 / 2  # of the unsupported claims: those that alter a detail; the others are from memory


@dataclass(frozen=True, slots=True)
class Turn:
    """One request to the writer: its draws, and the rate of faults that its passages bring out."""

    dice: Dice
    rate: float


class Author:
    """A writer with these beliefs (`dice`) and all gold `facts` by question."""

    def __init__(self, facts: Mapping[str, Sequence[Fact]], dice: Dice) -> None:
        self.facts, self.dice = facts, dice
        self._known: dict[tuple[str, Style], tuple[Matter, ...]] = {}
        self._sentences = {answer: fact.text for known in facts.values() for fact in known for answer in fact.answers}

    def facts_of(self, question: str | None) -> Sequence[Fact]:
        """The gold facts; none for a question that nobody told it of."""
        return self.facts.get(question or "", ())

    def matters_of(self, question: str, style: Style) -> tuple[Matter, ...]:
        """What it can say of the question in that style, for each of its facts."""
        key = question, style
        if key not in self._known:
            self._known[key] = matters(question, self.facts_of(question), style, self.dice)
        return self._known[key]

    def sentence_of(self, claim: str) -> str:
        """What a passage must hold to support the claim: its own words, or those behind a short answer."""
        return plain(self._sentences.get(claim, claim))

    def facts_in_sight(self, question: str, passages: Sequence[Passage], style: Style) -> list[VisibleFact]:
        """The facts in sight, in the order in which they are read."""
        return facts_in_sight(self.matters_of(question, style), passages)

    def recount(self, item: VisibleFact, turn: Turn) -> Statement | None:
        """The fact as it comes out: told, left out, or with an unsupported claim in its place."""
        if is_missed(item, turn):
            return None
        return false_claim(item.matter, turn) or item.statement

    def lines(self, facts: Iterable[VisibleFact], passages: Sequence[Passage], turn: Turn) -> list[Line]:
        """The facts as they come out, cited."""
        statements = [self.recount(item, turn) for item in facts]
        return [line(statement, passages, turn) for statement in statements if statement is not None]

    def astray(self, question: str, passages: Sequence[Passage], turn: Turn) -> list[Statement]:
        """What it says with no fact in sight: mostly nothing."""
        if not turn.dice.falls(turn.rate, "astray"):
            return []
        return [stray(question, passages, self.dice.of("belief", question))]

    def draft(self, question: str, passages: Sequence[Passage], style: Style, turn: Turn) -> list[Line]:
        """An answer from the passages alone."""
        facts = self.facts_in_sight(question, passages, style)
        if facts:
            return self.lines(facts, passages, turn)
        return [line(statement, passages, turn) for statement in self.astray(question, passages, turn)]


def is_missed(item: VisibleFact, turn: Turn) -> bool:
    """Whether the fact is left out."""
    return turn.dice.falls(turn.rate * MISSED, "missed", item.matter.n)


def false_claim(matter: Matter, turn: Turn) -> Statement | None:
    """An unsupported claim in the place of the fact; None where the draw is for the truth."""
    dice = turn.dice.of("fact", matter.n)
    if not dice.falls(turn.rate, "unsupported"):
        return None
    return matter.altered if matter.altered and dice.falls(ALTERED, "altered") else matter.remembered


def line(statement: Statement, passages: Sequence[Passage], turn: Turn) -> Line:
    """The statement with its citations, as faulty as this turn has them."""
    return Line(statement.words, citations(statement.sentence, passages, turn.rate, turn.dice))


def join_claims(claims: Sequence[Claim]) -> str:
    """The words of the claims on one line."""
    return plain(" ".join(claim.text for claim in claims))
