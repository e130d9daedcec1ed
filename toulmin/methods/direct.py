"""Methods that answer from one retrieval: `vanilla`."""

from __future__ import annotations

from toulmin.data import Answer, Policy, Style
from toulmin.grounding.prompts import AnswerPrompt, Example, Preset
from toulmin.grounding.steps import Program, exchange, show
from toulmin.grounding.verify import verify
from toulmin.methods.telling import concluded, draft_round, drafted, found


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
    """The top `k` passages in one prompt, answered with citations; every claim is then judged (ALCE's VANILLA).

    `examples` are shown to the model first; `inline=False` asks for no citations (the plan paper's One-Retrieval).
    """
    answer = yield from found(question, "vanilla", style, k)
    if not answer.passages:
        return concluded(answer, (), unsupported)
    done = yield from exchange(AnswerPrompt(question, answer.passages, style, examples, prompt, inline))
    answer = drafted(answer, done.value.claims, draft_round(done, style), done.value.invalid)
    if answer.claims:
        yield from show(answer)
    claims = yield from verify(answer.claims, {p.id: p for p in answer.passages}, question, style)
    return concluded(answer, claims, unsupported)
