"""A metric of DeepEval: the share of an output's claims that its retrieval context supports."""

from __future__ import annotations

from typing import Any

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from toulmin_scorers.grounding import Grounding, measure, measure_aside


class Groundedness(BaseMetric):  # type: ignore[no-untyped-call]  # its `__init_subclass__` has no types
    """Passes from `threshold` on; needs no language model.

    An output without a claim scores 1, as in DeepEval's faithfulness.
    """

    threshold: float
    error: str | None

    def __init__(self, threshold: float = 1.0, judge: Any = None, settings: Any = None) -> None:
        # DeepEval copies a metric by the names of these parameters, so each is kept under its own.
        self.threshold = threshold
        self.judge = judge
        self.settings = settings

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        return self._conclude(measure(**self._question(test_case)))

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        return self._conclude(await measure_aside(**self._question(test_case)))

    def is_successful(self) -> bool:
        self.success = self.error is None and self.score is not None and self.score >= self.threshold
        return self.success

    @property
    def __name__(self) -> str:
        return "Groundedness"

    def _question(self, test_case: LLMTestCase) -> dict[str, Any]:
        if test_case.actual_output is None or test_case.retrieval_context is None:
            self.error = "Groundedness needs 'actual_output' and 'retrieval_context' of a test case, but one is None."
            raise MissingTestCaseParamsError(self.error)
        texts = [getattr(text, "context", text) for text in test_case.retrieval_context]
        return {"text": test_case.actual_output, "passages": texts, "judge": self.judge, "settings": self.settings}

    def _conclude(self, grounding: Grounding) -> float:
        self.error = None
        self.score = 1.0 if grounding.score is None else grounding.score
        self.reason = grounding.reason
        self.is_successful()
        return self.score
