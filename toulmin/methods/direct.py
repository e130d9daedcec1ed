"""Methods that ask for an answer once: from memory, from one retrieval, or from shortened passages.

The last steps of every method of one draft are here too. Only the prompts of `summ` and `snippet` hold shortened
texts: the originals are judged, quoted and cited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toulmin.data import Answer, Passage, Policy, Style
from toulmin.methods.reporting import SILENCE, add_draft, conclude, draft_round, read_by, start_answer, unsaid
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt, Example, Preset
from toulmin.steps import Exchange, Program, exchange, show
from toulmin.verify import smallest_support, verify

FROM_MEMORY = "The model wrote this from memory; no claim was checked against a source."
NO_MEMORY = "The model gave no answer from memory; no source was searched."


def closed(
    question: str,
    *,
    style: Style = "long",
    k: int = 5,
    attribute: bool = False,
    prompt: Preset = "cited",
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """Answers from the model's memory (ALCE's closed book, the plan paper's No Retrieval).

    Nothing is searched or checked, as a note says; `support` is None. With `attribute` each claim cites the
    smallest set of the top `k` passages of one later search that supports it.
    """
    done = yield from exchange(AnswerPrompt(question, (), style, (), prompt, inline=False))
    answer = with_draft(Answer(question, style, "closed", "abstained"), done)
    yield from show_draft(answer)
    if not (attribute and answer.claims):
        return _conclude_unsearched(answer, unsupported)
    sources = yield from start_answer(question, "closed", style, k)
    answer = replace(answer, passages=sources.passages, rounds=(*answer.rounds, *sources.rounds))
    return (yield from attribute_answer(answer, answer.passages, unsupported))


def _conclude_unsearched(answer: Answer, policy: Policy) -> Answer:
    draft = replace(answer, notes=(FROM_MEMORY if answer.claims else NO_MEMORY,))
    ended = conclude(draft, answer.claims, policy, verified=False)
    return replace(ended, notes=tuple(note for note in ended.notes if note != SILENCE))


def vanilla(
    question: str,
    *,
    style: Style = "long",
    k: int = 5,
    examples: tuple[Example, ...] = (),
    prompt: Preset = "cited",
    inline: bool = True,
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """Answers with citations from the top `k` passages in one prompt; every claim is then judged (ALCE's VANILLA).

    `inline=False` and the preset `plain` ask for no citations (the plan paper's One-Retrieval): each claim then
    cites the smallest set of passages in the prompt that supports it.
    """
    inline = inline and prompt != "plain"
    answer = yield from start_answer(question, "vanilla", style, k)
    if not answer.passages:
        return conclude(answer, (), unsupported)
    done = yield from exchange(AnswerPrompt(question, answer.passages, style, examples, prompt, inline))
    answer = with_draft(answer, done)
    yield from show_draft(answer)
    if inline:
        return (yield from judge_answer(answer, unsupported))
    read = read_by(done.prompt)
    return (yield from attribute_answer(answer, [p for p in answer.passages if p.id in read], unsupported))


def with_draft(answer: Answer, done: Exchange[Draft]) -> Answer:
    """Adds a draft's claims and round, and a note if the model gave none."""
    base = replace(answer, notes=(*answer.notes, *unsaid(done)))
    return add_draft(base, done.value.claims, draft_round(done, answer.style), done.value.invalid)


def show_draft(answer: Answer) -> Program[None]:
    if answer.claims:
        yield from show(answer)


def judge_answer(answer: Answer, policy: Policy) -> Program[Answer]:
    """Judges each claim by its citations and concludes."""
    passages = {passage.id: passage for passage in answer.passages}
    claims = yield from verify(answer.claims, passages, answer.question, answer.style)
    return conclude(answer, claims, policy)


def attribute_answer(answer: Answer, candidates: Sequence[Passage], policy: Policy) -> Program[Answer]:
    """Gives each claim the smallest set of candidates that supports it and concludes."""
    asked = [(claim, candidates) for claim in answer.claims]
    claims = yield from smallest_support(asked, answer.question, answer.style)
    return conclude(answer, claims, policy)
