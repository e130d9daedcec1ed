"""What all methods share: rounds and notes, the end of an answer, checks of options, comparison of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from toulmin.data import Answer, Claim, Dropped, Passage, Policy, Round, RoundKind, Status, Style, render
from toulmin.errors import BudgetEnded, UsageError
from toulmin.methods.assessing import content_terms
from toulmin.parsing.citing import Draft
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import Prompt
from toulmin.steps import Exchange, Program, search
from toulmin.verify import apply_policy, smallest_support, verify

# ---------------------------------------------------------------- checks of options


def check_whole(least: int, **options: object) -> None:
    """Raises `UsageError` unless each option is a whole number of at least `least`."""
    for name, value in options.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise UsageError(f"The option {name!r} must be a whole number of at least {least}, not {value!r}.")


# ---------------------------------------------------------------- the wording of sentences


_AROUND_WORDS = ".,;:!?…\"'“”‘’«»¿¡()[]*_。，、；：！？؟"


def wording_of(text: str) -> tuple[str, ...]:
    """The words of a text for comparison, without case and the punctuation around them.

    Signs with a meaning stay: "C++" is not "C", and "-5" not "5".
    """
    return tuple(word for token in text.casefold().split() if (word := token.strip(_AROUND_WORDS)))


# ---------------------------------------------------------------- which sentence a new one rewrites


REWRITTEN = "rewritten by what the passages say"
_NEAR = 0.5  # of the content terms of the shorter sentence


def rewrites(new: str, sentences: Sequence[str]) -> int | None:
    """The index of the sentence that shares most content terms with the new one, the first of equals.

    None if they share less than half of the shorter one's.
    """
    terms = content_terms(new)
    near = [_nearness(terms, content_terms(sentence)) for sentence in sentences]
    best = max(near, default=0.0)
    return near.index(best) if best >= _NEAR else None


def _nearness(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / (min(len(first), len(second)) or 1)


# ---------------------------------------------------------------- reporting


SILENCE = "The sources do not say."
REFUSED = "The model refused to answer; whether the sources say it is not known."
EMPTY = "The model's reply was empty; whether the sources say it is not known."


def start_answer(question: str, method: str, style: Style, k: int) -> Program[Answer]:
    """An answer that holds only the passages, at most `k`, that a search for the question found."""
    hits = yield from search(question, k)
    passages = tuple({hit.passage.id: hit.passage for hit in hits}.values())
    search_round = Round("search", read=ids(passages), queries=(question,))
    return Answer(question, style, method, "abstained", passages=passages, rounds=(search_round,))


def ids(passages: Sequence[Passage]) -> tuple[str, ...]:
    return tuple(passage.id for passage in passages)


def add_draft(answer: Answer, claims: Sequence[Claim], entry: Round, invalid: int = 0) -> Answer:
    status: Status = "answered" if claims else "abstained"
    count = answer.invalid_citations + invalid
    return replace(answer, status=status, claims=tuple(claims), rounds=(*answer.rounds, entry), invalid_citations=count)


def draft_round(
    done: Exchange[Draft], style: Style, *, kind: RoundKind = "draft", n: int = 1, role: str = "main"
) -> Round:
    claims = done.value.claims
    return Round(
        kind,
        n,
        role=role,
        read=read_by(done.prompt),
        text=render(claims, style).text,
        kept=tuple(claim.text for claim in claims),
        dropped=omissions(done),
    )


def read_by(prompt: Prompt[Any]) -> tuple[str, ...]:
    return ids(getattr(prompt, "passages", ()))


def omissions(done: Exchange[Any]) -> tuple[Dropped, ...]:
    count = done.reply.omitted
    if not count:
        return ()
    return (Dropped(f"{count} passages from the end of the prompt", "the model's window could not hold them"),)


def unsaid(done: Exchange[Draft]) -> tuple[str, ...]:
    """The note on a reply without claims, as by `silence_of`."""
    return () if done.value.claims else silence_of(done.reply)


def silence_of(reply: Reply) -> tuple[str, ...]:
    """The note on an empty reply or a refusal; none if the model says that it has no answer."""
    if reply.value is not None:
        return ()
    if reply.finish == "refused":
        return (REFUSED,)
    return () if reply.text.strip() else (EMPTY,)


def conclude(answer: Answer, claims: Sequence[Claim], policy: Policy, *, verified: bool = True) -> Answer:
    """The final answer: the claims under the policy, an abstention if none is left.

    `verified=False` adds no round of verdicts.
    """
    kept, _ = apply_policy(claims, policy)
    rounds = (*answer.rounds, verdicts_round(claims)) if claims and verified else answer.rounds
    status: Status = "answered" if kept else "abstained"
    is_known = REFUSED not in answer.notes and EMPTY not in answer.notes
    notes = (*answer.notes, *_remarks(answer.invalid_citations, kept, SILENCE if is_known else ""))
    return replace(answer, status=status, claims=tuple(kept), rounds=rounds, notes=notes)


def in_sections(answer: Answer, planned: Sequence[str]) -> Answer:
    """Keeps the sections that hold a claim, with a note of the planned titles that hold none.

    An answer without claims gets no such note.
    """
    filled = {claim.section for claim in answer.claims}
    sections = tuple(section for section in answer.sections if section.title in filled)
    empty = [title for title in planned if title not in filled]
    notes = (f"Parts of the plan without text: {', '.join(empty)}.",) if empty and filled else ()
    return replace(answer, sections=sections, notes=(*answer.notes, *notes))


def rescue_draft(draft: Answer, ended: BudgetEnded, policy: Policy) -> Program[Answer]:
    """Returns a draft's claims when the budget ends, judged as far as there is time, with a note.

    A claim without citations gets the smallest set of the draft's passages that supports it. Raises `ended` if no
    claim is supported.
    """
    try:
        claims = yield from _judge_rest(draft)
    except BudgetEnded:  # the deadline, after which nothing is judged
        claims = [claim for claim in draft.claims if claim.support is not None]
    if not any(claim.is_supported for claim in claims):
        raise ended
    note = f"{ended} This is what was written by then; the method's further steps were left out."
    answer = conclude(replace(draft, notes=(*draft.notes, note)), claims, policy)
    return in_sections(answer, [section.title for section in answer.sections])


def _judge_rest(draft: Answer) -> Program[list[Claim]]:
    unjudged = [claim for claim in draft.claims if claim.support is None]
    passages = {passage.id: passage for passage in draft.passages}
    cited = yield from verify([c for c in unjudged if c.citations], passages, draft.question, draft.style)
    uncited = [(claim, draft.passages) for claim in unjudged if not claim.citations]
    attributed = yield from smallest_support(uncited, draft.question, draft.style)
    judged = {True: iter(cited), False: iter(attributed)}
    return [next(judged[bool(c.citations)]) if c.support is None else c for c in draft.claims]


def _remarks(invalid: int, kept: Sequence[Claim], silence: str) -> tuple[str, ...]:
    marks = (f"Citation marks that name no passage that was offered: {invalid}.",) if invalid else ()
    if not kept:
        return (*marks, silence) if silence else marks
    weak = [claim for claim in kept if claim.support is not None and not claim.is_supported]
    return (*marks, f"{len(weak)} of {len(kept)} claims not shown to be supported by the sources.") if weak else marks


def verdicts_round(claims: Sequence[Claim], n: int = 1) -> Round:
    return Round(
        "verify",
        n,
        kept=tuple(claim.text for claim in claims if claim.is_supported),
        dropped=tuple(Dropped(claim.text, why(claim)) for claim in claims if not claim.is_supported),
    )


def why(claim: Claim) -> str:
    if claim.support is None:
        return "not checked"
    return f"{claim.support.label}: {claim.support.reason}" if claim.support.reason else claim.support.label
