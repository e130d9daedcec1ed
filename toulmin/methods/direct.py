"""Methods that answer from one retrieval: `vanilla`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toulmin.data import Answer, Claim, Dropped, Passage, Policy, Round, Status, Style, render
from toulmin.grounding.prompts import AnswerPrompt, Example, Preset
from toulmin.grounding.steps import Program, generate, search, show
from toulmin.grounding.verify import apply_policy, verify

SILENCE = "The sources do not say."


def vanilla(
    question: str,
    *,
    style: Style = "long",
    k: int = 5,
    examples: tuple[Example, ...] = (),
    preset: Preset = "cited",
    inline: bool = True,
    unsupported: Policy = "keep",
) -> Program[Answer]:
    """The top `k` passages in one prompt, answered with citations; every claim is then judged (ALCE's VANILLA).

    `examples` are shown to the model first; `inline=False` asks for no citations (the plan paper's One-Retrieval).
    """
    passages, answer = yield from _retrieved(question, style, k)
    if not passages:
        return concluded(answer, (), unsupported)
    draft = yield from generate(AnswerPrompt(question, passages, style, examples, preset, inline))
    answer = _drafted(answer, draft.claims, draft.invalid)
    if draft.claims:
        yield from show(answer)
    claims = yield from verify(draft.claims, {p.id: p for p in passages}, question, style)
    return concluded(answer, claims, unsupported)


def _retrieved(question: str, style: Style, k: int) -> Program[tuple[tuple[Passage, ...], Answer]]:
    """The passages found, and an answer that so far only knows that they were read."""
    hits = yield from search(question, k)
    passages = tuple(hit.passage for hit in hits)
    found = Round("search", read=tuple(p.id for p in passages), queries=(question,))
    return passages, Answer(question, style, "vanilla", "abstained", passages=passages, rounds=(found,))


def _drafted(answer: Answer, claims: tuple[Claim, ...], invalid: int) -> Answer:
    drafted = Round(
        "draft",
        role="main",
        read=tuple(p.id for p in answer.passages),
        text=render(claims, answer.style).text,
        kept=tuple(claim.text for claim in claims),
    )
    return replace(
        answer,
        status="answered" if claims else "abstained",
        claims=claims,
        rounds=(*answer.rounds, drafted),
        invalid_citations=invalid,
    )


def concluded(answer: Answer, claims: Sequence[Claim], policy: Policy) -> Answer:
    """The final answer: the judged claims under the policy, and an abstention where none is left."""
    kept, _ = apply_policy(claims, policy)
    rounds = answer.rounds
    if claims:
        rounds = (*rounds, _verified(claims))
    notes = answer.notes
    if answer.invalid_citations:
        notes = (*notes, f"Citation marks that name no passage that was offered: {answer.invalid_citations}.")
    if not kept:
        notes = (*notes, SILENCE)
    elif weak := [claim for claim in kept if claim.support is not None and not claim.is_supported]:
        notes = (*notes, f"{len(weak)} of {len(kept)} claims not shown to be supported by the sources.")
    status: Status = "answered" if kept else "abstained"
    return replace(answer, status=status, claims=tuple(kept), rounds=rounds, notes=notes)


def _verified(claims: Sequence[Claim]) -> Round:
    """The verdicts as a round: what holds, and why the rest does not."""
    return Round(
        "verify",
        kept=tuple(claim.text for claim in claims if claim.is_supported),
        dropped=tuple(Dropped(claim.text, _why(claim)) for claim in claims if not claim.is_supported),
    )


def _why(claim: Claim) -> str:
    if claim.support is None:
        return "not checked"
    return f"{claim.support.label}: {claim.support.reason}" if claim.support.reason else claim.support.label
