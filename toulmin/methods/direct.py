"""Methods with one draft: from memory, from one search, or from shortened passages; and steps that others share.

`summ` and `snippet` shorten texts only for the prompt: the originals are judged, quoted and cited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from toulmin.data import Answer, Omission, Passage, Policy, Round, Style
from toulmin.methods import reporting
from toulmin.parsing.citing import Draft, with_citations
from toulmin.prompts.types import AnswerPrompt, Example, Extract, Preset, Prompt, Summarise
from toulmin.steps import Exchange, Program, exchange, show, together
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

    Nothing is searched or checked, and a note says so. With `attribute` each claim cites the smallest set of the top
    `k` passages of one later search that supports it.
    """
    done = yield from exchange(AnswerPrompt(question, (), style, (), prompt, inline=False))
    answer = with_draft(Answer(question, style, "closed", "abstained"), done)
    yield from show_draft(answer)
    if not (attribute and answer.claims):
        answer = replace(answer, notes=(FROM_MEMORY if answer.claims else NO_MEMORY,))
        return without_silence(reporting.conclude(answer, answer.claims, unsupported, verified=False))
    sources = yield from reporting.start_answer(question, "closed", style, k)
    answer = replace(reporting.add_rounds(answer, *sources.rounds), passages=sources.passages)
    return (yield from attribute_answer(answer, answer.passages, unsupported))


def without_silence(answer: Answer) -> Answer:
    return replace(
        answer, notes=tuple(note for note in answer.notes if note not in (reporting.SILENCE, reporting.DROPPED))
    )


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

    With `inline=False` or the preset `plain` the model cites nothing (the plan paper's One-Retrieval): each claim then
    cites the smallest supporting set of these passages.
    """
    inline = inline and prompt != "plain"
    answer = yield from write_draft("vanilla", AnswerPrompt(question, (), style, examples, prompt, inline), k)
    if inline:
        return (yield from judge_answer(answer, unsupported))
    return (yield from attribute_answer(answer, passages_read(answer), unsupported))


def write_draft(method: str, prompt: AnswerPrompt, k: int) -> Program[Answer]:
    """Has the model answer from the top `k` passages of a search, if any."""
    answer = yield from reporting.start_answer(prompt.question, method, prompt.style, k)
    if answer.passages:
        done = yield from exchange(replace(prompt, passages=answer.passages))
        answer = with_draft(answer, done)
        yield from show_draft(answer)
    return answer


def passages_read(answer: Answer) -> tuple[Passage, ...]:
    return tuple(passage for passage in answer.passages if passage.id in answer.rounds[-1].read)


def with_draft(answer: Answer, done: Exchange[Draft]) -> Answer:
    base = reporting.add_notes(answer, *reporting.unsaid(done))
    return reporting.add_draft(base, done.value.claims, reporting.reply_round(done, answer.style), done.value.invalid)


def show_draft(answer: Answer) -> Program[None]:
    if answer.claims:
        yield from show(answer)


def judge_answer(answer: Answer, policy: Policy) -> Program[Answer]:
    claims = yield from verify(answer.claims, {p.id: p for p in answer.passages}, answer.question, answer.style)
    return reporting.conclude(answer, claims, policy)


def attribute_answer(answer: Answer, candidates: Sequence[Passage], policy: Policy) -> Program[Answer]:
    asked = [(claim, candidates) for claim in answer.claims]
    return reporting.conclude(answer, (yield from smallest_support(asked, answer.question, answer.style)), policy)


# ---------------------------------------------------------------- answers from shortened passages


def summ(
    question: str,
    *,
    style: Style = "long",
    k: int = 10,
    words: int = 50,
    examples: tuple[Example, ...] = (),
    prompt: Preset = "cited",
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """Summarises each of the top `k` passages for the question, then answers as `vanilla` does (ALCE's SUMM).

    A summary has at most `words` words. Passages that the model calls irrelevant are left out. `k` + 1 model calls;
    CaLM's tables use `k=9`.
    """
    reporting.check_whole(1, words=words)
    asked = AnswerPrompt(question, (), style, examples, prompt, shortened="summary")
    return (yield from _from_shortened("summ", asked, k, partial(Summarise, question, words=words), unsupported))


def snippet(
    question: str,
    *,
    style: Style = "long",
    k: int = 10,
    examples: tuple[Example, ...] = (),
    prompt: Preset = "cited",
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """As `summ`, with a self-contained span of each passage (ALCE's SNIPPET)."""
    asked = AnswerPrompt(question, (), style, examples, prompt, shortened="extraction")
    return (yield from _from_shortened("snippet", asked, k, partial(Extract, question), unsupported))


def _from_shortened(
    method: str, asked: AnswerPrompt, k: int, shorten: Callable[[Passage], Prompt[str | None]], policy: Policy
) -> Program[Answer]:
    answer = yield from reporting.start_answer(asked.question, method, asked.style, k)
    replies = yield from together([exchange(shorten(passage)) for passage in answer.passages])
    shorts = _shorts(answer.passages, [done.value for done in replies])
    answer = reporting.add_rounds(answer, *(short.as_round(n) for n, short in enumerate(shorts, start=1)))
    kept = {short.passage.id: short for short in shorts if not short.why}
    if not kept:
        return reporting.conclude(answer, (), policy)
    asked = replace(asked, passages=tuple(short.passage for short in kept.values()))
    done = yield from exchange(asked)
    answer = with_draft(answer, _cite_originals(done, asked, {id: short.original for id, short in kept.items()}))
    yield from show_draft(answer)
    return (yield from judge_answer(answer, policy))


@dataclass(frozen=True, slots=True)
class _Short:
    """A shortened passage; `why` it was left out, if so."""

    original: Passage
    passage: Passage
    why: str

    def as_round(self, n: int) -> Round:
        kept = () if self.why else (self.passage.text,)
        dropped = (Omission(self.passage.text or self.original.text, self.why),) if self.why else ()
        return Round("refine", n, role="main", read=(self.original.id,), kept=kept, dropped=dropped)


def _shorts(originals: Sequence[Passage], texts: Sequence[str | None]) -> list[_Short]:
    """Of equal texts only the best ranked stays, because a label has one original."""
    known: set[str] = set()
    shorts = []
    for original, text in zip(originals, texts, strict=True):
        passage = Passage.of((text or "").strip(), original.title)
        why = "irrelevant to the question, says the model" if not passage.text else ""
        if passage.id in known:
            why = "a better ranked passage was shortened to the same words"
        if not why:
            known.add(passage.id)
        shorts.append(_Short(original, passage, why))
    return shorts


def _cite_originals(done: Exchange[Draft], asked: AnswerPrompt, originals: Mapping[str, Passage]) -> Exchange[Draft]:
    read = replace(asked, passages=tuple(originals[id] for id in reporting.read_by(done.prompt)))
    # A search may have found one passage twice, which is cited once.
    claims = tuple(with_citations(claim, (originals[id].id for id in claim.cited)) for claim in done.value.claims)
    return Exchange(read, done.reply, replace(done.value, claims=claims))
