"""Simulation: what a faulty writer can say about a question, and how it marks it.

For each fact of a question a writer has three statements: the true one, the same with an altered detail, and one from
memory. Which detail it gets wrong and what it misremembers is fixed for a writer, as a model's beliefs are; only when
it does so is drawn anew with each sample. So its samples repeat its errors, and another model's errors are others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from simulations.chance import Dice
from simulations.slips import alter, another_name, invent
from simulations.truth import Fact, holds, is_legible, plain, with_marks
from toulmin.data import Passage, Style
from toulmin.text.language import sentences, terms


@dataclass(frozen=True, slots=True)
class Statement:
    """What is `words`, in the answer's style, and the `sentence` that a passage must hold to support it."""

    words: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Matter:
    """One fact of a question as one writer would tell it; `n` is its number."""

    n: int
    true: Statement
    altered: Statement | None
    remembered: Statement

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All that the writer may say of it."""
        return tuple(s for s in (self.true, self.altered, self.remembered) if s is not None)

    def is_told_in(self, text: str) -> bool:
        """Whether a text, on one line, tells it in any way."""
        return any(statement.words in text for statement in self.statements)


def matters(question: str, facts: Sequence[Fact], style: Style, dice: Dice) -> tuple[Matter, ...]:
    """The facts as a writer with these dice tells them."""
    return tuple(_matter(n, question, fact, style, dice.of("belief", question, n)) for n, fact in enumerate(facts))


def _matter(n: int, question: str, fact: Fact, style: Style, dice: Dice) -> Matter:
    is_short = style in ("short", "list") and bool(fact.answers)
    words = fact.answers[0] if is_short else fact.text
    wrong, sentence = alter(words, dice), alter(fact.text, dice)
    statement = invent(fact.title or question, dice)
    name = another_name(dice) if is_short else statement
    # A slip that changes how the sentence is read apart would be another fault than the one drawn.
    fits = wrong is not None and sentence is not None and (is_short or is_legible(wrong))
    return Matter(
        n,
        Statement(words, fact.text),
        Statement(wrong, sentence) if fits and wrong and sentence else None,
        Statement(name, statement),
    )


@dataclass(frozen=True, slots=True)
class VisibleFact:
    """A fact as the passages shown tell it: truly, or altered where a summary came out so."""

    matter: Matter
    statement: Statement


def facts_in_sight(known: Sequence[Matter], passages: Sequence[Passage]) -> list[VisibleFact]:
    """The facts that some passage tells, in the order of the first passages that do: a writer reads from the top."""
    places = [
        (place, matter.n, VisibleFact(matter, statement))
        for matter in known
        for place, statement in _first(matter, passages)
    ]
    return [item for _, _, item in sorted(places, key=lambda entry: entry[:2])]


def _first(matter: Matter, passages: Sequence[Passage]) -> Iterator[tuple[int, Statement]]:
    for statement in (matter.true, matter.altered):
        places = [n for n, p in enumerate(passages) if statement is not None and holds(p, statement.sentence)]
        if places and statement is not None:
            yield places[0], statement
            return


def stray(question: str, passages: Sequence[Passage], dice: Dice) -> Statement:
    """What a writer says who has nothing to say: a sentence of a passage with a detail altered, or from memory."""
    if passages and dice.falls(0.5, "altered"):
        passage = dice.pick(passages, "passage")
        for start, end in sentences(passage.text):
            wrong = alter(plain(passage.text[start:end]), dice)
            if wrong is not None and is_legible(wrong):
                return Statement(wrong, wrong)
    statement = invent(question, dice)
    return Statement(statement, statement)


@dataclass(frozen=True, slots=True)
class Line:
    """A statement as it is written, with the labels it cites."""

    words: str
    labels: tuple[int, ...] = ()


def citations(sentence: str, passages: Sequence[Passage], rate: float, dice: Dice) -> tuple[int, ...]:
    """The labels a writer gives: of a passage that holds the sentence, save for faults at `rate`, a third each kind.

    What no passage holds is cited all the same, by the passage that comes nearest in words: models cite fluently
    whatever they write. Where there is no other passage to confuse it with, a right citation stays alone.
    """
    labels = range(1, len(passages) + 1)
    holders = [n for n in labels if holds(passages[n - 1], sentence)]
    others = [n for n in labels if n not in holders]
    if not holders:
        return (_nearest(sentence, passages),) if passages else ()
    kind = dice.share("citation", sentence)
    if kind < rate / 3:
        return (dice.pick(others, "wrong", sentence),) if others else (holders[0],)
    if kind < 2 * rate / 3:
        return ()
    extra = (dice.pick(others, "superfluous", sentence),) if kind < rate and others else ()
    return tuple(sorted((holders[0], *extra)))


def _nearest(sentence: str, passages: Sequence[Passage]) -> int:
    wanted = _pairs(sentence)
    shared = [len(wanted & _pairs(passage.text)) for passage in passages]
    return 1 + shared.index(max(shared))


@lru_cache(maxsize=16_384)
def _pairs(text: str) -> frozenset[tuple[str, str]]:
    return frozenset(pairwise(terms(text)))


def write_lines(lines: Sequence[Line], style: Style, *, inline: bool = True) -> str:
    """The lines as a model writes them: prose, one short answer, or entities between commas."""
    marked = [_mark_line(line, style, inline) for line in lines]
    if style == "list":
        return ", ".join(marked)
    return (marked[0] if marked else "") if style == "short" else " ".join(marked)


def _mark_line(line: Line, style: Style, inline: bool) -> str:
    words = f'"{line.words}"' if style == "list" and "," in line.words else line.words
    return with_marks(words, line.labels if inline else ())
