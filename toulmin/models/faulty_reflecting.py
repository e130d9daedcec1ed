"""Simulation: a faulty writer as a model with reflection tokens: one fact a segment, and its own word on it.

* It always wishes to search, and for more until all that is known of the question is told in some way.
* What it makes of a fact that it reads in a passage is drawn once: asked again it says the same, for else Self-RAG
  would be given second chances that a single prompt has not. Another passage with the same fact is another draw.
* With no fact in sight it says nothing with probability 1 - rate, once for the question and not for each passage.
* Its critique is as weak as its feedback (`faulty_drafts`): it notices one in three of its unsupported sentences, and
  calls supported ones partially supported at rate / 3. It takes an irrelevant passage for a relevant one at the rate.
  Its last word on utility is always the best.
"""

from __future__ import annotations

from toulmin.data import Passage
from toulmin.grounding.prompts import AnswerPrompt
from toulmin.grounding.reflection import SEARCH, TOKENS, NextSegment
from toulmin.models.faulty_answers import answer
from toulmin.models.faulty_author import Author, Turn
from toulmin.models.faulty_drafts import BLAMED, NOTICED
from toulmin.models.faulty_statements import Line, Statement, written
from toulmin.models.faulty_truth import holds, plain

RELEVANT, IRRELEVANT = TOKENS["relevance"]
SUPPORTED, PARTIALLY, UNSUPPORTED = TOKENS["support"]
END = TOKENS["utility"][-1]


def next_segment(author: Author, prompt: NextSegment, turn: Turn) -> str:
    """The next fact of the passage with the tokens around it; without words where it tells none."""
    if prompt.passage is not None:
        return _from_passage(author, prompt, prompt.passage, turn.rate)
    return (
        f"{answer(author, AnswerPrompt(prompt.question, (), prompt.style), turn)}{END}"
        if prompt.from_memory
        else SEARCH
    )


def _from_passage(author: Author, prompt: NextSegment, passage: Passage, rate: float) -> str:
    turn = Turn(author.dice.of("segment", prompt.question, passage.id), rate)
    found = author.seen(prompt.question, (passage,), prompt.style)
    is_relevant = bool(found) or turn.dice.falls(rate, "taken for relevant")
    relevance = RELEVANT if is_relevant else IRRELEVANT
    said = _said(author, prompt, passage, turn)
    if said is None:
        return f"{relevance}{END}"
    text = written([Line(said.said)], prompt.style)
    return f"{relevance}{text}{_critique(said, passage, turn)}{_ending(author, prompt, said)}"


def _said(author: Author, prompt: NextSegment, passage: Passage, turn: Turn) -> Statement | None:
    text = plain(prompt.written)
    found = author.seen(prompt.question, (passage,), prompt.style)
    if not found and not text:
        stray = author.astray(prompt.question, (passage,), Turn(author.dice.of("segment", prompt.question), turn.rate))
        return stray[0] if stray else None
    told = (author.told(item, turn) for item in found if not item.matter.is_told_in(text))
    return next((statement for statement in told if statement is not None), None)


def _critique(said: Statement, passage: Passage, turn: Turn) -> str:
    if holds(passage, said.sentence):
        return PARTIALLY if turn.dice.falls(turn.rate * BLAMED, "blamed", said.said) else SUPPORTED
    return UNSUPPORTED if turn.dice.falls(NOTICED, "noticed", said.said) else SUPPORTED


def _ending(author: Author, prompt: NextSegment, said: Statement) -> str:
    text = plain(f"{prompt.written} {said.said}")
    known = author.matters_of(prompt.question, prompt.style)
    is_over = prompt.style == "short" or all(matter.is_told_in(text) for matter in known)
    return END if is_over else SEARCH
