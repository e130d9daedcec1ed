"""Steps that all methods share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from toulmin.data import Answer, Claim, Omission, Passage, Policy, Round, RoundKind, Style, render
from toulmin.errors import BudgetEnded, UsageError, unknown_name
from toulmin.parsing.citing import Draft
from toulmin.parsing.wrapping import without_thinking
from toulmin.prompts.replies import Reply
from toulmin.prompts.structured import fields_of, in_prose
from toulmin.prompts.types import Prompt
from toulmin.steps import Exchange, Program, search
from toulmin.text.language import content_terms, first_of_each
from toulmin.verify import apply_policy, smallest_support, verify, weigh

# ---------------------------------------------------------------- checks of options


def check_whole(least: int, **options: object) -> None:
    """Raises `UsageError` unless each option is a whole number of at least `least`."""
    for name, value in options.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise UsageError(f"The option {name!r} must be a whole number of at least {least}, not {value!r}.")


def check_choice(kind: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise unknown_name(kind, str(name), known)


# ---------------------------------------------------------------- repeated draws of a prompt


class Draws:
    """Numbers the draws of each prompt by each role from 0, so that a cache does not repeat a reply."""

    def __init__(self) -> None:
        self._made: list[tuple[str, Prompt[Any]]] = []  # a list, since the feedback in a prompt cannot be hashed

    def next(self, prompt: Prompt[Any], role: str = "main") -> int:
        self._made.append((role, prompt))
        return self._made.count((role, prompt)) - 1


# ---------------------------------------------------------------- comparison of sentences


_AROUND_WORDS = ".,;:!?…\"'“”‘’«»¿¡()[]*_。，、；：！？؟"


def wording_of(text: str) -> tuple[str, ...]:
    """The words of a text without case and the punctuation around them; "C++" and "-5" keep their signs."""
    return tuple(word for token in text.casefold().split() if (word := token.strip(_AROUND_WORDS)))


def new_claims(claims: Iterable[Claim], known: Iterable[Claim] = ()) -> list[Claim]:
    """The claims in words that no `known` claim has, the first of those in equal words."""
    wordings = {wording_of(claim.text) for claim in known}
    unique = first_of_each(claims, lambda claim: wording_of(claim.text))
    return [claim for claim in unique if wording_of(claim.text) not in wordings]


_NEAR = 0.5  # of the content terms of the shorter sentence


def rewrites(new: str, sentences: Sequence[str]) -> int | None:
    """The index of the first sentence that shares most content terms with the new one.

    None if that is less than half of the terms of the shorter one.
    """
    terms = content_terms(new)
    others = map(content_terms, sentences)
    near = [len(terms & other) / (min(len(terms), len(other)) or 1) for other in others]
    best = max(near, default=0.0)
    return near.index(best) if best >= _NEAR else None


# ---------------------------------------------------------------- rounds and notes


REWRITTEN = "rewritten by what the passages say"
SILENCE = "The sources do not say."
DROPPED = "Nothing that was written is shown to be supported; whether the sources say it is not known."
REFUSED = "The model refused to answer; whether the sources say it is not known."
EMPTY = "The model's reply was empty; whether the sources say it is not known."


def start_answer(question: str, method: str, style: Style, k: int) -> Program[Answer]:
    hits = yield from search(question, k)
    passages = tuple({hit.passage.id: hit.passage for hit in hits}.values())
    entry = Round("search", read=ids(passages), queries=(question,))
    return Answer(question, style, method, "abstained", passages=passages, rounds=(entry,))


def ids(passages: Sequence[Passage]) -> tuple[str, ...]:
    return tuple(passage.id for passage in passages)


def with_claims(answer: Answer, claims: Sequence[Claim], **changes: Any) -> Answer:
    return replace(answer, status="answered" if claims else "abstained", claims=tuple(claims), **changes)


def add_rounds(answer: Answer, *rounds: Round, invalid: int = 0) -> Answer:
    count = answer.invalid_citations + invalid
    return replace(answer, rounds=(*answer.rounds, *rounds), invalid_citations=count)


def add_notes(answer: Answer, *notes: str) -> Answer:
    return replace(answer, notes=(*answer.notes, *notes))


def add_draft(answer: Answer, claims: Sequence[Claim], entry: Round, invalid: int = 0) -> Answer:
    return with_claims(add_rounds(answer, entry, invalid=invalid), claims)


def draft_round(
    done: Exchange[Draft], style: Style, *, kind: RoundKind = "draft", n: int = 1, role: str = "main"
) -> Round:
    text = render(done.value.claims, style).text
    kept = tuple(claim.text for claim in done.value.claims)
    return Round(kind, n, role=role, read=read_by(done.prompt), text=text, kept=kept, dropped=omissions(done))


def reply_round(done: Exchange[Draft], style: Style, *, kind: RoundKind = "draft", n: int = 1) -> Round:
    return replace(draft_round(done, style, kind=kind, n=n), written=_words_of(done, style))


def _words_of(done: Exchange[Draft], style: Style) -> str | None:
    """Without thinking, JSON as prose. None for a model that returns values."""
    if done.reply.value is not None:
        return None
    fields = fields_of(done.reply.text, done.prompt.schema())
    return without_thinking(done.reply.text) if fields is None else in_prose(fields["claims"], style)


def refine_round(done: Exchange[Draft], style: Style, n: int, before: Sequence[Claim]) -> Round:
    entry = reply_round(done, style, kind="refine", n=n)
    gone = (Omission(claim.text, "not in the refined answer") for claim in before if claim.text not in entry.kept)
    return replace(entry, dropped=(*entry.dropped, *gone))


def read_by(prompt: Prompt[Any]) -> tuple[str, ...]:
    return ids(getattr(prompt, "passages", ()))


def omissions(done: Exchange[Any]) -> tuple[Omission, ...]:
    count = done.reply.omitted
    if not count:
        return ()
    return (Omission(f"{count} passages from the end of the prompt", "the model's window could not hold them"),)


def unsaid(done: Exchange[Draft]) -> tuple[str, ...]:
    """`silence_of` a reply without claims."""
    return () if done.value.claims else silence_of(done.reply)


def silence_of(reply: Reply) -> tuple[str, ...]:
    """The note on an empty reply or a refusal, none for an abstention."""
    if reply.value is not None:
        return ()
    if reply.finish in ("refused", "filtered"):
        return (REFUSED,)
    return () if reply.text.strip() else (EMPTY,)


def conclude(answer: Answer, claims: Sequence[Claim], policy: Policy, *, verified: bool = True) -> Answer:
    """The final answer: the claims under the policy, or an abstention. `verified=False` adds no round of verdicts."""
    kept, _ = apply_policy(claims, policy)
    if claims and verified:
        answer = add_rounds(answer, verdicts_round(claims))
    remarks = []
    if answer.invalid_citations:
        remarks.append(f"Citation marks that name no passage that was offered: {answer.invalid_citations}.")
    judged = [claim for claim in kept if claim.support is not None]
    if weak := sum(claim.fails for claim in judged):
        remarks.append(f"{weak} of {len(judged)} claims not shown to be supported by the sources.")
    if not kept and REFUSED not in answer.notes and EMPTY not in answer.notes:
        remarks.append(DROPPED if claims else SILENCE)
    return with_claims(add_notes(answer, *remarks), kept)


def in_sections(answer: Answer, planned: Sequence[str]) -> Answer:
    """Keeps the sections with claims and notes the planned ones without, unless there is no claim at all."""
    filled = {claim.section for claim in answer.claims}
    sections = tuple(section for section in answer.sections if section.title in filled)
    empty = [title for title in planned if title not in filled]
    notes = (f"Parts of the plan without text: {', '.join(empty)}.",) if empty and filled else ()
    return replace(add_notes(answer, *notes), sections=sections)


def rescue_draft(draft: Answer, ended: BudgetEnded, policy: Policy) -> Program[Answer]:
    """Judges and returns a draft when the budget ends, with a note. Raises `ended` if no claim is supported.

    A claim without citations gets the smallest set of the draft's passages that supports it.
    """
    try:
        claims = yield from weigh(_judge_rest(draft))
    except BudgetEnded:  # the deadline, after which nothing is judged
        claims = [claim for claim in draft.claims if claim.support is not None]
    if not any(claim.is_supported for claim in claims):
        raise ended
    note = f"{ended} This is what was written by then; the method's further steps were left out."
    answer = conclude(add_notes(draft, note), claims, policy)
    return in_sections(answer, [section.title for section in answer.sections])


def _judge_rest(draft: Answer) -> Program[list[Claim]]:
    by_id = {passage.id: passage for passage in draft.passages}
    unjudged = [claim for claim in draft.claims if claim.support is None]
    citing = [claim for claim in unjudged if claim.citations]
    bare = [(claim, draft.passages) for claim in unjudged if not claim.citations]
    judged = iter((yield from verify(citing, by_id, draft.question, draft.style)))
    attributed = iter((yield from smallest_support(bare, draft.question, draft.style)))
    return [claim if claim.support else next(judged if claim.citations else attributed) for claim in draft.claims]


def verdicts_round(claims: Sequence[Claim], n: int = 1) -> Round:
    kept = tuple(claim.text for claim in claims if claim.is_supported)
    dropped = tuple(Omission(claim.text, why(claim)) for claim in claims if claim.fails)
    return Round("verify", n, kept=kept, dropped=dropped)


def why(claim: Claim) -> str:
    if claim.support is None:
        return "not checked"
    return f"{claim.support.label}: {claim.support.reason}" if claim.support.reason else claim.support.label
