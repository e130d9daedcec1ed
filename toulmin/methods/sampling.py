"""Methods that sample one model several times: `rerank` and `usc` keep one answer, `self-refine` rewrites it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Literal

from toulmin.data import Answer, Claim, Policy, Round, Style
from toulmin.errors import UsageError
from toulmin.methods import reporting
from toulmin.methods.direct import judge_answer, show_draft, write_draft
from toulmin.parsing.citing import Draft
from toulmin.prompts.types import AnswerPrompt, Example, Feedback, MostConsistent, Preset, Refine
from toulmin.steps import Exchange, Pair, Program, entail, exchange, together
from toulmin.verify import hypothesis

Drafts = tuple[Exchange[Draft], ...]
Premises = Literal["cited", "all"]


def rerank(
    question: str,
    *,
    style: Style = "long",
    k: int = 5,
    n: int = 4,
    temperature: float = 1.0,
    by: Premises = "cited",
    examples: tuple[Example, ...] = (),
    prompt: Preset = "cited",
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """Draws `n` samples of `vanilla` and keeps the one with the best citation recall (ALCE's RERANK).

    Recall is the share of claims supported by their citations (`by="cited"`, the VTG paper, Appendix A) or by all
    passages shown (`by="all"`, ALCE's tool). A claim without citations and a sample without claims count 0. The first
    of equals wins, even at 0, where ALCE's tool returns an empty text. `n` model calls, one judge request.
    """
    asked = AnswerPrompt(question, (), style, examples, prompt)
    answer, drafts = yield from _draw_samples("rerank", asked, k, n, temperature)
    if not drafts:
        return reporting.conclude(answer, (), unsupported)
    recalls = yield from _recalls(drafts, answer, by)
    answer = _choose(answer, drafts, recalls.index(max(recalls)), [{"citation_recall": recall} for recall in recalls])
    yield from show_draft(answer)
    return (yield from judge_answer(answer, unsupported))


def usc(
    question: str,
    *,
    style: Style = "long",
    k: int = 5,
    n: int = 9,
    temperature: float = 1.0,
    examples: tuple[Example, ...] = (),
    prompt: Preset = "cited",
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """Draws `n` samples of `vanilla`; the model chooses the most consistent (CaLM 5.4: universal self-consistency).

    Abstentions are candidates. `n` + 1 model calls, `n` if all samples are equal.
    """
    asked = AnswerPrompt(question, (), style, examples, prompt)
    answer, drafts = yield from _draw_samples("usc", asked, k, n, temperature)
    if not drafts:
        return reporting.conclude(answer, (), unsupported)
    candidates = tuple(draft.value.claims for draft in drafts)
    if len(set(candidates)) == 1:
        answer = _choose(answer, drafts, 0)
    else:
        choice = yield from exchange(MostConsistent(question, candidates))
        answer = _choose(answer, drafts, choice.value)
        answer = reporting.add_rounds(answer, Round("assess", role="main", text=choice.reply.text))
    yield from show_draft(answer)
    return (yield from judge_answer(answer, unsupported))


def _draw_samples(
    method: str, asked: AnswerPrompt, k: int, n: int, temperature: float
) -> Program[tuple[Answer, Drafts]]:
    """The start of an answer, and its drafts, none if the search finds nothing."""
    reporting.check_whole(1, n=n)
    if not 0 <= temperature < inf:
        raise UsageError(f"temperature: expected 0 or more, not {temperature}.")
    answer = yield from reporting.start_answer(asked.question, method, asked.style, k)
    prompt = replace(asked, passages=answer.passages)
    samples = range(n if answer.passages else 0)
    return answer, (yield from together([exchange(prompt, sample=i, temperature=temperature) for i in samples]))


def _recalls(drafts: Drafts, answer: Answer, by: Premises) -> Program[list[float]]:
    passages = {passage.id: passage for passage in answer.passages}

    def pair_for(claim: Claim, draft: Exchange[Draft]) -> Pair:
        pair = hypothesis(claim, passages, answer.question, answer.style)
        shown = tuple(passages[id] for id in reporting.read_by(draft.prompt))
        return pair if by == "cited" else replace(pair, premises=shown)

    pairs = [pair_for(claim, draft) for draft in drafts for claim in draft.value.claims if claim.citations]
    verdicts = iter((yield from entail(pairs)))
    supported = [sum(bool(claim.citations) and next(verdicts).entails for claim in d.value.claims) for d in drafts]
    return [count / (len(draft.value.claims) or 1) for count, draft in zip(supported, drafts, strict=True)]


def _choose(answer: Answer, drafts: Drafts, best: int, scores: Sequence[dict[str, float]] | None = None) -> Answer:
    """Only the chosen sample's invalid marks count."""
    entries = [reporting.reply_round(draft, answer.style, n=n) for n, draft in enumerate(drafts, start=1)]
    rounds = [replace(e, scores=scores[i] if scores else None, chosen=i == best) for i, e in enumerate(entries)]
    kept = drafts[best].value
    return reporting.with_claims(reporting.add_rounds(answer, *rounds), kept.claims, invalid_citations=kept.invalid)


# ---------------------------------------------------------------- `self-refine`: feedback without any metric


def self_refine(
    question: str,
    *,
    style: Style = "long",
    k: int = 5,
    max_rounds: int = 2,
    examples: tuple[Example, ...] = (),
    prompt: Preset = "expert",
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """Has the model criticise and rewrite its own answer `max_rounds` times; the last one is returned.

    The control of the A2R paper ("intrinsic"): feedback without scores; only the last answer is judged. At most 1 + 2 x
    `max_rounds` model calls.
    """
    reporting.check_whole(0, max_rounds=max_rounds)
    answer = yield from write_draft("self-refine", AnswerPrompt(question, (), style, examples, prompt), k)
    for n in range(1, max_rounds + 1):
        if not answer.claims:
            break
        advice = yield from exchange(Feedback(question, answer.passages, answer.claims, (), ()))
        entry = Round("assess", n, role="main", read=reporting.read_by(advice.prompt), text=advice.reply.text)
        answer = reporting.add_rounds(answer, entry)
        done = yield from exchange(Refine(question, answer.passages, answer.claims, advice.value, style))
        # Only the marks of the answer returned count as invalid.
        before = replace(answer, invalid_citations=0)
        entry = reporting.refine_round(done, style, n, answer.claims)
        answer = reporting.add_draft(before, done.value.claims, entry, done.value.invalid)
        yield from show_draft(answer)
    return (yield from judge_answer(answer, unsupported))
