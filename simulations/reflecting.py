"""Simulation: a faulty writer as a model with reflection tokens: one fact a segment, and its own word on it.

* It always wishes to search, and for more until all that is known of the question is told in some way.
* What it makes of a fact that it reads in a passage is drawn once: asked again it says the same, for else Self-RAG
  would be given second chances that a single prompt has not. Another passage with the same fact is another draw.
* With no fact in sight it says nothing with probability 1 - rate, once for the question and not for each passage.
* Its critique is as weak as its feedback (`faulty_drafts`): it notices one in three of its unsupported sentences, and
  calls supported ones partially supported at rate / 3. It takes an irrelevant passage for a relevant one at the rate.
  Its last word on utility is always the best.
* Of the tokens of a kind it gives the one that it writes a probability drawn from 1/2 to 1, the others share the rest
  evenly; each word has one drawn likewise, whatever it says: it is as fluent in what it makes up. So what its
  probabilities say beyond the tokens is chance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log

from simulations.answers import answer
from simulations.author import Author, Turn
from simulations.chance import Dice
from simulations.drafts import BLAMED, NOTICED
from simulations.statements import Line, Statement, write_lines
from simulations.truth import holds, plain
from toulmin.data import Passage
from toulmin.prompts.reflection import SEARCH, TOKENS, NextSegment
from toulmin.prompts.replies import TokenLogprob
from toulmin.prompts.types import AnswerPrompt

RELEVANT, IRRELEVANT = TOKENS["relevance"]
SUPPORTED, PARTIALLY, UNSUPPORTED = TOKENS["support"]
END = TOKENS["utility"][-1]

_KINDS = {token: kind for kind in TOKENS.values() for token in kind}
_TOKEN = re.compile("|".join([*map(re.escape, _KINDS), r"\s?[^\s\[]+", r"\s|\["]))
_LEAST = 1 / 2  # the probability of what is written


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
    facts = author.facts_in_sight(prompt.question, (passage,), prompt.style)
    is_relevant = bool(facts) or turn.dice.falls(rate, "taken for relevant")
    relevance = RELEVANT if is_relevant else IRRELEVANT
    statement = _next_statement(author, prompt, passage, turn)
    if statement is None:
        return f"{relevance}{END}"
    text = write_lines([Line(statement.words)], prompt.style)
    return f"{relevance}{text}{_critique(statement, passage, turn)}{_ending(author, prompt, statement)}"


def _next_statement(author: Author, prompt: NextSegment, passage: Passage, turn: Turn) -> Statement | None:
    text = plain(prompt.written)
    facts = author.facts_in_sight(prompt.question, (passage,), prompt.style)
    if not facts and not text:
        stray = author.astray(prompt.question, (passage,), Turn(author.dice.of("segment", prompt.question), turn.rate))
        return stray[0] if stray else None
    statements = (author.recount(item, turn) for item in facts if not item.matter.is_told_in(text))
    return next((statement for statement in statements if statement is not None), None)


def _critique(statement: Statement, passage: Passage, turn: Turn) -> str:
    if holds(passage, statement.sentence):
        return PARTIALLY if turn.dice.falls(turn.rate * BLAMED, "blamed", statement.words) else SUPPORTED
    return UNSUPPORTED if turn.dice.falls(NOTICED, "noticed", statement.words) else SUPPORTED


def _ending(author: Author, prompt: NextSegment, statement: Statement) -> str:
    text = plain(f"{prompt.written} {statement.words}")
    known = author.matters_of(prompt.question, prompt.style)
    is_over = prompt.style == "short" or all(matter.is_told_in(text) for matter in known)
    return END if is_over else SEARCH


def logprobs(author: Author, prompt: NextSegment, text: str) -> tuple[TokenLogprob, ...]:
    """The tokens of the reply, each reflection token with the others of its kind."""
    dice = author.dice.of("sure", prompt.question, prompt.passage.id if prompt.passage else "")
    return tuple(_token_odds(token, dice.of(n)) for n, token in enumerate(_TOKEN.findall(text)))


def _token_odds(token: str, dice: Dice) -> TokenLogprob:
    sure = _LEAST + (1 - _LEAST) * dice.share(token)
    kind: Sequence[str] = _KINDS.get(token, ())
    rest = max(1 - sure, 1e-9) / max(1, len(kind) - 1)
    others = [(other, log(rest)) for other in kind if other != token]
    top = sorted([(token, log(sure)), *others], key=lambda entry: -entry[1])
    return TokenLogprob(token, log(sure), tuple(top))
