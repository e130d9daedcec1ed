"""Simulation: how a faulty writer answers: whole, claim by claim, from memory, and from one passage at a time."""

from __future__ import annotations

from collections.abc import Sequence

from simulations.author import ALTERED, Author, Turn, false_claim, is_missed, line
from simulations.statements import Line, Matter, Statement, VisibleFact, citations, write_lines
from simulations.truth import plain
from toulmin.data import Passage
from toulmin.prompts.types import AnswerPrompt, Cite, Extract, NextClaim, Queries, Summarise
from toulmin.text.language import sentences

KNOWN = 1 / 2  # of the facts: those that it could tell without passages
IRRELEVANT = "Not relevant."


def answer(author: Author, prompt: AnswerPrompt, turn: Turn) -> str:
    """An answer with marks; without passages one from memory."""
    if not prompt.passages:
        return write_lines(_from_memory(author, prompt, turn), prompt.style, inline=False)
    lines = _retold(author, prompt, turn) or author.draft(prompt.question, prompt.passages, prompt.style, turn)
    return write_lines(lines, prompt.style, inline=prompt.inline)


def _retold(author: Author, prompt: AnswerPrompt, turn: Turn) -> list[Line]:
    """What a text already written says, drawn together: it is believed, and only its citations are drawn."""
    text = plain(prompt.written)
    matters, long = author.matters_of(prompt.question, prompt.style), author.matters_of(prompt.question, "long")
    statements = (
        fact
        for matter, sentence in zip(matters, long, strict=True)
        for fact, whole in zip(matter.statements, sentence.statements, strict=False)
        if text and (fact.words in text or whole.words in text)
    )
    return [line(statement, prompt.passages, turn) for statement in statements]


def _from_memory(author: Author, prompt: AnswerPrompt, turn: Turn) -> list[Line]:
    known = author.matters_of(prompt.question, prompt.style)
    statements = [_recall(author, matter, prompt.question, turn) for matter in known]
    if not known:
        statements = list(author.astray(prompt.question, (), turn))
    return [Line(statement.words) for statement in statements if statement is not None]


def _recall(author: Author, matter: Matter, question: str, turn: Turn) -> Statement | None:
    """A fact that it knows comes out as one that it reads; in place of one that it does not, at times, anything."""
    if author.dice.falls(KNOWN, "known", question, matter.n):
        return author.recount(VisibleFact(matter, matter.true), turn)
    return false_claim(matter, turn)


# ---------------------------------------------------------------- claim by claim


def next_claim(author: Author, prompt: NextClaim, turn: Turn) -> str:
    """The next of the facts in sight that comes out at all; the end after the last one."""
    text = plain(prompt.written)
    facts = author.facts_in_sight(prompt.question, prompt.passages, prompt.style)
    passed = [place for place, item in enumerate(facts, 1) if item.matter.is_told_in(text)]
    for item in facts[max(passed, default=0) :]:
        statement = author.recount(item, turn)
        if statement is not None:
            return statement.words
    if not facts and not text:
        return "".join(statement.words for statement in author.astray(prompt.question, prompt.passages, turn))
    return "END"


def cite(author: Author, prompt: Cite, turn: Turn) -> str:
    """The marks alone."""
    facts = citations(author.sentence_of(prompt.claim), prompt.passages, turn.rate, turn.dice)
    return "".join(f"[{n}]" for n in facts)


def queries(_author: Author, prompt: Queries, _turn: Turn) -> str:
    """The question again with the claim's words, what the claim says, and what it is about."""
    wanted = [
        asking(prompt.question, prompt.claim),
        f"Is it true that {prompt.claim.rstrip('.')}?",
        f"What is known about {' '.join(_names(prompt.claim)[:3]) or prompt.question.rstrip('?')}?",
    ]
    return "\n".join(f"{n}. {plain(query)}" for n, query in enumerate(wanted[: prompt.n], 1))


def asking(question: str, claim: str) -> str:
    """The question again with the names and numbers of a claim."""
    return f"{question.rstrip('?')} {' '.join(_names(claim)[:4])}?"


def _names(claim: str) -> list[str]:
    words = [word.strip(".,;:()\"'") for word in claim.split()]
    return [word for word in words if word[:1].isupper() or word[:1].isdigit()]


# ---------------------------------------------------------------- one passage at a time


def summarise(author: Author, prompt: Summarise, turn: Turn) -> str:
    """The facts of the passage, some left out, some altered: with one passage alone in view nothing is invented."""
    facts = author.facts_in_sight(prompt.question, (prompt.passage,), "long")
    if not facts:
        return _mistake(prompt.passage, turn)
    summaries = [_summarise(item, turn) for item in facts if not is_missed(item, turn)]
    return _within(summaries, prompt.words) or IRRELEVANT


def _summarise(item: VisibleFact, turn: Turn) -> str:
    alters = turn.dice.falls(turn.rate * ALTERED, "altered", item.matter.n)
    return item.matter.altered.words if alters and item.matter.altered else item.statement.words


def extract(author: Author, prompt: Extract, turn: Turn) -> str:
    """The facts of the passage word for word, some left out."""
    facts = author.facts_in_sight(prompt.question, (prompt.passage,), "long")
    if not facts:
        return _mistake(prompt.passage, turn)
    kept = [item for item in facts if not is_missed(item, turn)]
    return " ".join(item.statement.words for item in kept) or IRRELEVANT


def _mistake(passage: Passage, turn: Turn) -> str:
    spans = sentences(passage.text)
    if not spans or not turn.dice.falls(turn.rate, "taken for relevant"):
        return IRRELEVANT
    return plain(passage.text[spans[0].start : spans[0].end])


def _within(summaries: Sequence[str], words: int) -> str:
    """As many whole statements as fit; the first in any case."""
    kept = list(summaries[:1])
    for text in summaries[1:]:
        if len(" ".join([*kept, text]).split()) <= words:
            kept.append(text)
    return " ".join(kept)
