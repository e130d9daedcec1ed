"""What every method tells in the same way: what it found, what it drafted, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from toulmin.data import Answer, Claim, Dropped, Passage, Policy, Round, RoundKind, Status, Style, render
from toulmin.errors import BudgetEnded
from toulmin.parsing.citing import Draft
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import Prompt
from toulmin.steps import Exchange, Program, search
from toulmin.verify import apply_policy, smallest_support, verify

SILENCE = "The sources do not say."
REFUSED = "The model refused to answer; whether the sources say it is not known."
EMPTY = "The model's reply was empty; whether the sources say it is not known."


def found(question: str, method: str, style: Style, k: int) -> Program[Answer]:
    """An answer that so far only knows the passages, `k` at most, that a search for the question found."""
    hits = yield from search(question, k)
    passages = tuple({hit.passage.id: hit.passage for hit in hits}.values())
    told = Round("search", read=ids(passages), queries=(question,))
    return Answer(question, style, method, "abstained", passages=passages, rounds=(told,))


def ids(passages: Sequence[Passage]) -> tuple[str, ...]:
    """The ids of the passages."""
    return tuple(passage.id for passage in passages)


def drafted(answer: Answer, claims: Sequence[Claim], told: Round, invalid: int = 0) -> Answer:
    """The answer with these claims in place of its own, one round more, and more invalid citations counted."""
    status: Status = "answered" if claims else "abstained"
    count = answer.invalid_citations + invalid
    return replace(answer, status=status, claims=tuple(claims), rounds=(*answer.rounds, told), invalid_citations=count)


def draft_round(
    done: Exchange[Draft], style: Style, *, kind: RoundKind = "draft", n: int = 1, role: str = "main"
) -> Round:
    """The round of a draft: what the model read and wrote, and the passages that its window could not hold."""
    claims = done.value.claims
    return Round(
        kind,
        n,
        role=role,
        read=read_by(done.prompt),
        text=render(claims, style).text,
        kept=tuple(claim.text for claim in claims),
        dropped=left_out(done),
    )


def read_by(prompt: Prompt[Any]) -> tuple[str, ...]:
    """The ids of the passages that a prompt showed."""
    return ids(getattr(prompt, "passages", ()))


def left_out(done: Exchange[Any]) -> tuple[Dropped, ...]:
    """What a trace says of passages that the model's window could not hold."""
    count = done.reply.omitted
    if not count:
        return ()
    return (Dropped(f"{count} passages from the end of the prompt", "the model's window could not hold them"),)


def unsaid(done: Exchange[Draft]) -> tuple[str, ...]:
    """Why a reply holds no answer where that tells nothing of the sources, as a note."""
    return () if done.value.claims else silence_of(done.reply)


def silence_of(reply: Reply) -> tuple[str, ...]:
    """The note on a reply without an answer that is a refusal or empty; none where the model says that it has none."""
    if reply.value is not None:
        return ()
    if reply.finish == "refused":
        return (REFUSED,)
    return () if reply.text.strip() else (EMPTY,)


def concluded(answer: Answer, claims: Sequence[Claim], policy: Policy, *, verified: bool = True) -> Answer:
    """The final answer: the claims under the policy, and an abstention where none is left.

    `verified=False` leaves out the round of verdicts, for a method that has told them already.
    """
    kept, _ = apply_policy(claims, policy)
    rounds = (*answer.rounds, verdicts_round(claims)) if claims and verified else answer.rounds
    status: Status = "answered" if kept else "abstained"
    is_known = REFUSED not in answer.notes and EMPTY not in answer.notes
    notes = (*answer.notes, *_remarks(answer.invalid_citations, kept, SILENCE if is_known else ""))
    return replace(answer, status=status, claims=tuple(kept), rounds=rounds, notes=notes)


def in_sections(answer: Answer, planned: Sequence[str]) -> Answer:
    """The answer with those of its sections that hold a claim, and a note of the planned ones (titles) that hold none.

    An answer without claims has no such note: why it is empty is told otherwise.
    """
    filled = {claim.section for claim in answer.claims}
    sections = tuple(section for section in answer.sections if section.title in filled)
    empty = [title for title in planned if title not in filled]
    notes = (f"Parts of the plan without text: {', '.join(empty)}.",) if empty and filled else ()
    return replace(answer, sections=sections, notes=(*answer.notes, *notes))


def rescued(draft: Answer, ended: BudgetEnded, policy: Policy) -> Program[Answer]:
    """What stands of a draft when the budget ends: its claims, judged as far as there is time, and a note of it.

    A claim without citations gets the smallest set of the draft's passages that supports it: its method may have left
    citing for later. Raises `ended` where no claim is supported: then nothing could be verified.
    """
    try:
        claims = yield from _judged(draft)
    except BudgetEnded:  # the deadline, after which nothing is judged
        claims = [claim for claim in draft.claims if claim.support is not None]
    if not any(claim.is_supported for claim in claims):
        raise ended
    note = f"{ended} This is what was written by then; the method's further steps were left out."
    answer = concluded(replace(draft, notes=(*draft.notes, note)), claims, policy)
    return in_sections(answer, [section.title for section in answer.sections])


def _judged(draft: Answer) -> Program[list[Claim]]:
    """The claims of a draft, those judged that were not yet."""
    unjudged = [claim for claim in draft.claims if claim.support is None]
    passages = {passage.id: passage for passage in draft.passages}
    cited = yield from verify([c for c in unjudged if c.citations], passages, draft.question, draft.style)
    uncited = [(claim, draft.passages) for claim in unjudged if not claim.citations]
    attributed = yield from smallest_support(uncited, draft.question, draft.style)
    judged = {True: iter(cited), False: iter(attributed)}
    return [next(judged[bool(c.citations)]) if c.support is None else c for c in draft.claims]


def _remarks(invalid: int, kept: Sequence[Claim], silence: str) -> tuple[str, ...]:
    """What a reader should know of the claims that stay; `silence` is said where none does."""
    marks = (f"Citation marks that name no passage that was offered: {invalid}.",) if invalid else ()
    if not kept:
        return (*marks, silence) if silence else marks
    weak = [claim for claim in kept if claim.support is not None and not claim.is_supported]
    return (*marks, f"{len(weak)} of {len(kept)} claims not shown to be supported by the sources.") if weak else marks


def verdicts_round(claims: Sequence[Claim], n: int = 1) -> Round:
    """The verdicts as a round: what holds, and why the rest does not."""
    return Round(
        "verify",
        n,
        kept=tuple(claim.text for claim in claims if claim.is_supported),
        dropped=tuple(Dropped(claim.text, why(claim)) for claim in claims if not claim.is_supported),
    )


def why(claim: Claim) -> str:
    """Why a claim is not supported, in words."""
    if claim.support is None:
        return "not checked"
    return f"{claim.support.label}: {claim.support.reason}" if claim.support.reason else claim.support.label
