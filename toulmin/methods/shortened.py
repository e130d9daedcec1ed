"""Answers from shortened passages"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toulmin.data import Answer, Citation, Dropped, Passage, Policy, Round, Style
from toulmin.methods.direct import judge_answer, show_draft, with_draft
from toulmin.methods.options import check_whole
from toulmin.methods.reporting import conclude, read_by, start_answer
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt, Example, Extract, Preset, Prompt, Summarise
from toulmin.steps import Exchange, Program, exchange, together


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

    A summary has at most `words` words. Passages that the model calls irrelevant are left out; without any left the
    answer is an abstention. `k` + 1 model calls; CaLM's tables use `k=9`.
    """
    check_whole(1, words=words)
    answer = yield from start_answer(question, "summ", style, k)
    prompts = [Summarise(question, passage, words) for passage in answer.passages]
    return (yield from _from_shortened(answer, prompts, examples, prompt, unsupported))


def snippet(
    question: str,
    *,
    style: Style = "long",
    k: int = 10,
    examples: tuple[Example, ...] = (),
    prompt: Preset = "cited",
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """As `summ`, with a self-contained span extracted from each passage (ALCE's SNIPPET)."""
    answer = yield from start_answer(question, "snippet", style, k)
    prompts = [Extract(question, passage) for passage in answer.passages]
    return (yield from _from_shortened(answer, prompts, examples, prompt, unsupported))


def _from_shortened(
    answer: Answer,
    prompts: Sequence[Prompt[str | None]],
    examples: tuple[Example, ...],
    preset: Preset,
    policy: Policy,
) -> Program[Answer]:
    replies = yield from together([exchange(prompt) for prompt in prompts])
    shorts = _shorts(answer.passages, [done.value for done in replies])
    answer = replace(answer, rounds=(*answer.rounds, *(short.as_round(n) for n, short in enumerate(shorts, start=1))))
    kept = {short.passage.id: short for short in shorts if not short.why}
    if not kept:
        return conclude(answer, (), policy)
    offered = tuple(short.passage for short in kept.values())
    asked = AnswerPrompt(answer.question, offered, answer.style, examples, preset)
    done = yield from exchange(asked)
    answer = with_draft(answer, _cite_originals(done, asked, {id: short.original for id, short in kept.items()}))
    yield from show_draft(answer)
    return (yield from judge_answer(answer, policy))


@dataclass(frozen=True, slots=True)
class _Short:
    """A shortened passage; `why` says why it was left out, empty if it was not."""

    original: Passage
    passage: Passage
    why: str

    def as_round(self, n: int) -> Round:
        kept = () if self.why else (self.passage.text,)
        dropped = (Dropped(self.passage.text or self.original.text, self.why),) if self.why else ()
        return Round("refine", n, role="main", read=(self.original.id,), kept=kept, dropped=dropped)


def _shorts(originals: Sequence[Passage], texts: Sequence[str | None]) -> list[_Short]:
    """Of equal ones only the best ranked stays: a label has one original."""
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
    read = replace(asked, passages=tuple(originals[id] for id in read_by(done.prompt)))
    claims = []
    for claim in done.value.claims:
        cited = dict.fromkeys(originals[id].id for id in claim.cited)  # a search may have found one passage twice
        claims.append(replace(claim, citations=tuple(Citation(id) for id in cited)))
    return Exchange(read, done.reply, replace(done.value, claims=tuple(claims)))
