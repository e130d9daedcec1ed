"""A metric of Ragas: the share of a response's claims that its retrieved contexts support."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ragas.dataset_schema import SingleTurnSample
from ragas.metrics.base import MetricType, SingleTurnMetric

from toulmin_scorers.grounding import measure_aside


def _columns() -> dict[MetricType, set[str]]:
    return {MetricType.SINGLE_TURN: {"response", "retrieved_contexts"}}


@dataclass
class Groundedness(SingleTurnMetric):
    """Needs no language model. A response without a claim scores NaN, as in Ragas' faithfulness."""

    name: str = "groundedness"
    judge: Any = None
    settings: Any = None
    _required_columns: dict[MetricType, set[str]] = field(default_factory=_columns)

    def init(self, run_config: Any) -> None:
        pass  # Ragas hands its models their limits here

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: Any) -> float:
        contexts = sample.retrieved_contexts or []
        grounding = await measure_aside(
            sample.response or "", passages=contexts, judge=self.judge, settings=self.settings
        )
        return float("nan") if grounding.score is None else grounding.score
