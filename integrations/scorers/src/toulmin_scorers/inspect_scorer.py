"""A scorer of Inspect (`inspect_ai`): the share of a reply's claims that its sources support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from toulmin import UsageError
from toulmin_scorers.grounding import measure_aside


@scorer(metrics=[mean(), stderr()])
def groundedness(
    docs: str | Sequence[str] | None = None,
    *,
    index: str | None = None,
    passages: str = "passages",
    judge: Any = None,
    settings: Any = None,
) -> Scorer:
    """Scores a reply from 0 to 1 by `docs` or `index`, else by the texts under `passages` in the sample's metadata.

    A reply without a claim scores NaN, which Inspect leaves out of the mean.
    """

    async def score(state: TaskState, target: Target) -> Score:
        texts = None if docs is not None or index is not None else _texts(state.metadata, passages)
        reply = state.output.completion
        grounding = await measure_aside(reply, passages=texts, docs=docs, index=index, judge=judge, settings=settings)
        return Score(
            value=float("nan") if grounding.score is None else grounding.score,
            answer=reply,
            explanation=grounding.reason,
            metadata={"claims": len(grounding.claims), "supported": grounding.supported},
        )

    return score


def _texts(metadata: dict[str, Any], key: str) -> Sequence[str]:
    texts = metadata.get(key)
    if not isinstance(texts, list | tuple):
        raise UsageError(
            f"A sample needs a list of texts as {key!r} in its metadata, but has {texts!r}; put the passages there, or"
            " give the scorer docs=... or index=..."
        )
    return texts
