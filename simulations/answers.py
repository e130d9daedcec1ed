"""Simulation: how a faulty writer answers: whole, claim by claim, from memory, and from one passage at a time."""

from __future__ import annotations

from collections.abc import Sequence

from simulations.author import ALTERED, Author, Turn, is_missed, line, unsupported
from simulations.statements import Line, Matter, Seen, Statement, citations, written
from simulations.truth import plain
from toulmin.data import Passage
from toulmin.prompts.types import AnswerPrompt, Cite, Extract, NextClaim, Queries, Summarise
from toulmin.text.language import sentences

KNOWN = 1 / 2  # of the facts: those that it could tell without passages
IRRELEVANT = "Not relevant."


def answer(author: Author, prompt: AnswerPrompt, turn: Turn) -> str:
    """An answer with marks; without passages one from memory."""
    if not prompt.passages:
        return written(_from_memory(author, prompt, turn), prompt.style, inline=False)
    lines = _retold(author, prompt, turn) or author.drafted(prompt.question, prompt.passages, prompt.style, turn)
    return written(lines, prompt.style, inline=prompt.inline)


def _retold(author: Author, prompt: AnswerPrompt, turn: Turn) -> list[Line]:
    """What a text already written says, drawn together: it is believed, and only its citations are drawn."""
    text = plain(prompt.written)
    own, long = author.matters_of(prompt.question, prompt.style), author.matters_of(prompt.question, "long")
    told = (
        said
        for matter, sentence in zip(own, long, strict=True)
        for said, whole in zip(matter.statements, sentence.statements, strict=False)
        if text and (said.said in text or whole.said in text)
    )
    return [line(statement, prompt.passages, turn) for statement in told]


def _from_memory(author: Author, prompt: AnswerPrompt, turn: Turn) -> list[Line]:
    known = author.matters_of(prompt.question, prompt.style)
    told = [_recalled(author, matter, prompt.question, turn) for matter in known]
    if not known:
        told = list(author.astray(prompt.question, (), turn))
    return [Line(statement.said) for statement in told if statement is not None]


def _recalled(author: Author, matter: Matter, question: str, turn: Turn) -> Statement | None:
    """A fact that it knows comes out as one that it reads; in place of one that it does not, at times, anything."""
    if author.dice.falls(KNOWN, "known", question, matter.n):
        return author.told(Seen(matter, matter.true), turn)
    return unsupported(matter, turn)


# ---------------------------------------------------------------- claim by claim


def next_claim(author: Author, prompt: NextClaim, turn: Turn) -> str:
    """The next of the facts in sight that comes out at all; the end after the last one."""
    text = plain(prompt.written)
    found = author.seen(prompt.question, prompt.passages, prompt.style)
    passed = [place for place, item in enumerate(found, 1) if item.matter.is_told_in(text)]
    for item in found[max(passed, default=0) :]:
        statement = author.told(item, turn)
        if statement is not None:
            return statement.said
    if not found and not text:
        return "".join(statement.said for statement in author.astray(prompt.question, prompt.passages, turn))
    return "END"


def cite(author: Author, prompt: Cite, turn: Turn) -> str:
    """The marks alone."""
    found = citations(author.sentence_of(prompt.claim), prompt.passages, turn.rate, turn.dice)
    return "".join(f"[{n}]" for n in found)


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
    found = author.seen(prompt.question, (prompt.passage,), "long")
    if not found:
        return _taken_for_relevant(prompt.passage, turn)
    said = [_summed_up(item, turn) for item in found if not is_missed(item, turn)]
    return _within(said, prompt.words) or IRRELEVANT


def _summed_up(item: Seen, turn: Turn) -> str:
    alters = turn.dice.falls(turn.rate * ALTERED, "altered", item.matter.n)
    return item.matter.altered.said if alters and item.matter.altered else item.statement.said


def extract(author: Author, prompt: Extract, turn: Turn) -> str:
    """The facts of the passage word for word, some left out."""
    found = author.seen(prompt.question, (prompt.passage,), "long")
    if not found:
        return _taken_for_relevant(prompt.passage, turn)
    kept = [item for item in found if not is_missed(item, turn)]
    return " ".join(item.statement.said for item in kept) or IRRELEVANT


def _taken_for_relevant(passage: Passage, turn: Turn) -> str:
    spans = sentences(passage.text)
    if not spans or not turn.dice.falls(turn.rate, "taken for relevant"):
        return IRRELEVANT
    return plain(passage.text[spans[0].start : spans[0].end])


def _within(said: Sequence[str], words: int) -> str:
    """As many whole statements as fit; the first in any case."""
    kept = list(said[:1])
    for text in said[1:]:
        if len(" ".join([*kept, text]).split()) <= words:
            kept.append(text)
    return " ".join(kept)
