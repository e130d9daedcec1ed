"""Simulation: what a faulty writer makes of drafts: it corrects, judges, refines and chooses among them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from simulations.author import Author, Turn, join_claims, line
from simulations.statements import Line, Statement, write_lines
from simulations.truth import plain, supports
from toulmin.data import Claim, Passage
from toulmin.prompts.types import Correct, Feedback, JudgeClaim, MostConsistent, Refine
from toulmin.text.language import terms

NOTICED, NOTICED_IF_LOW = 1 / 3, 2 / 3  # of its faulty claims, when asked, and when told that the score is low
BLAMED = 1 / 3  # of the rate: good claims that it finds fault with

_NUMBERED = re.compile(r"\b(?:sentence|claim|statement|entity)\s+(\d{1,3})\b", re.IGNORECASE)
_INCOMPLETE = re.compile(r"\b(?:incomplete|miss(?:es|ing)|leaves out|omits)\b", re.IGNORECASE)


def correct(author: Author, prompt: Correct, turn: Turn) -> str:
    """The draft as it stands with what the passages hold beside it; without a draft an answer."""
    kept = [_recite(author, claim, prompt.passages, turn) for claim in prompt.draft]
    if kept:
        added = _additions(author, prompt, prompt.draft, turn)
    else:
        added = author.draft(prompt.question, prompt.passages, prompt.style, turn)
    text = write_lines([*kept, *added], prompt.style)
    if prompt.style == "list":
        return f"The passages were read again for entities that the draft lacks.\nFinal Answer: {text}"
    return f"Corrected Answer: {text}"


def _recite(author: Author, claim: Claim, passages: Sequence[Passage], turn: Turn) -> Line:
    """The claim with its citations; where it cited something and none of it is shown, it is cited anew."""
    labels = tuple(n for n, passage in enumerate(passages, 1) if passage.id in claim.cited)
    if labels or not claim.cited:
        return Line(claim.text, labels)
    return line(Statement(claim.text, author.sentence_of(claim.text)), passages, turn)


def _additions(author: Author, prompt: Correct | Refine, claims: Sequence[Claim], turn: Turn) -> list[Line]:
    """The facts in sight that the claims do not tell in any way, with faults drawn anew."""
    text = join_claims(claims)
    facts = author.facts_in_sight(prompt.question, prompt.passages, prompt.style)
    return author.lines([item for item in facts if not item.matter.is_told_in(text)], prompt.passages, turn)


def refine(author: Author, prompt: Refine, turn: Turn) -> str:
    """The claims that the feedback names drawn anew, the others as they stand, and what it calls missing added."""
    remarks = plain(" ".join(prompt.feedback.values()))
    numbers = {int(n) for n in _NUMBERED.findall(remarks)}
    lines: list[Line] = []
    for n, claim in enumerate(prompt.claims, 1):
        is_blamed = n in numbers or f'"{plain(claim.text)}"' in remarks
        lines += _redone(author, claim, prompt, turn) if is_blamed else [_recite(author, claim, prompt.passages, turn)]
    if _INCOMPLETE.search(remarks):
        lines += _additions(author, prompt, prompt.claims, turn)
    return write_lines(lines, prompt.style)


def _redone(author: Author, claim: Claim, prompt: Refine, turn: Turn) -> list[Line]:
    """What stands in the place of a claim that was found fault with: its fact drawn anew, or nothing."""
    facts = author.facts_in_sight(prompt.question, prompt.passages, prompt.style)
    items = [item for item in facts if item.matter.is_told_in(plain(claim.text))]
    return author.lines(items[:1], prompt.passages, turn)


# ---------------------------------------------------------------- judgements


def feedback(author: Author, prompt: Feedback, turn: Turn) -> str:
    """A line for each aspect that is scored, or one for the whole answer."""
    targets = dict(prompt.targets)
    low = {name for name, score in prompt.scores if score < targets.get(name, 0.0)}
    names = [name for name, _ in prompt.scores] or ["answer"]
    return "\n".join(f"{name}: {_remarks(author, prompt, name, name in low, turn)}" for name in names)


def _remarks(author: Author, prompt: Feedback, aspect: str, is_low: bool, turn: Turn) -> str:
    noticed = NOTICED_IF_LOW if is_low else NOTICED
    dice = turn.dice.of(aspect)
    facts = [
        f"Sentence {n} is not borne out by what it cites."
        for n, claim in enumerate(prompt.claims, 1)
        if dice.falls(turn.rate * BLAMED if _is_right(author, claim, prompt) else noticed, n)
    ]
    if _is_incomplete(author, prompt) and dice.falls(noticed, "missing"):
        facts.append("The answer is incomplete: the passages say more.")
    return " ".join(facts) or "This is good as it is."


def _is_right(author: Author, claim: Claim, prompt: Feedback) -> bool:
    """Whether the claim cites, and all that it cites supports it."""
    shown = {passage.id: passage for passage in prompt.passages}
    facts = author.facts_of(prompt.question)
    right = [supports(shown[id], claim.text, facts) for id in claim.cited if id in shown]
    return bool(right) and all(right)


def _is_incomplete(author: Author, prompt: Feedback) -> bool:
    """Whether the passages hold a fact that the claims do not tell, neither in a sentence nor in short."""
    text = join_claims(prompt.claims)
    short = author.matters_of(prompt.question, "short")
    facts = [item.matter for item in author.facts_in_sight(prompt.question, prompt.passages, "long")]
    return any(not matter.is_told_in(text) and not short[matter.n].is_told_in(text) for matter in facts)


def most_consistent(_author: Author, prompt: MostConsistent, turn: Turn) -> str:
    """The candidate that shares most words with the others, or at the rate any."""
    if not prompt.candidates:
        return "None."
    bags = [frozenset(terms(join_claims(claims))) for claims in prompt.candidates]
    agreement = [sum(_alike(bag, other) for other in bags) for bag in bags]
    best = agreement.index(max(agreement))
    goes_astray = turn.dice.falls(turn.rate, "astray")
    return f"Answer {1 + (turn.dice.pick(range(len(bags)), 'any') if goes_astray else best)}"


def _alike(bag: frozenset[str], other: frozenset[str]) -> float:
    """The share of words in common; two abstentions agree."""
    return len(bag & other) / len(bag | other) if bag or other else 1.0


def judge(author: Author, prompt: JudgeClaim, turn: Turn) -> str:
    """The truth, or at the rate the opposite."""
    right = any(supports(p, prompt.claim, author.facts_of(prompt.question)) for p in prompt.passages)
    return "Supported." if right != turn.dice.falls(turn.rate, "verdict") else "Unsupported."
