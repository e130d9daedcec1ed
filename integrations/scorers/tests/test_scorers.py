"""The scorers in Inspect, Ragas and DeepEval themselves; each sample's reply is given, and no model is asked."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import deepeval
import inspect_ai
import pytest
import ragas
from conftest import examples_of
from deepeval.errors import MissingTestCaseParamsError
from deepeval.evaluate import DisplayConfig
from deepeval.test_case import LLMTestCase
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from ragas import EvaluationDataset, SingleTurnSample
from toulmin_scorers import deepeval_metric, ragas_metric
from toulmin_scorers.grounding import measure, measure_aside
from toulmin_scorers.inspect_scorer import groundedness

import toulmin
from toulmin import ModelError

CONTEXTS = ["The tower is 38 metres tall.", "It was lit for the first time on 3 May 1824."]
TRUE = "The tower is 38 metres tall. It was lit on 3 May 1824."
HALF = "The tower is 48 metres tall. It was lit on 3 May 1824."
TALK = "Sure! I hope this helps!"


# ---------------------------------------------------------------- what they share


def test_the_score_is_the_share_of_the_claims_that_are_supported():
    assert measure(HALF, passages=CONTEXTS, judge="lexical").score == 0.5


def test_the_reason_names_each_claim_that_fails_and_why():
    assert measure(HALF, passages=CONTEXTS, judge="lexical").reason == (
        "1 of 2 claims are supported.\n"
        "“The tower is 48 metres tall.” (contradicted: the source says 38, the claim says 48)"
    )


@pytest.mark.parametrize("text", ["", "  \n", TALK])
def test_a_text_without_a_claim_has_no_score(text: str):
    grounding = measure(text, passages=CONTEXTS, judge="lexical")
    assert (grounding.score, grounding.reason) == (None, "The text has no claim to judge.")


def test_claims_without_any_passage_are_not_supported():
    assert measure(TRUE, passages=[], judge="lexical").score == 0.0


def test_a_text_is_measured_by_documents_too(notes: Path):
    assert measure("The sea watch H4 was finished in 1759.", docs=notes, judge="lexical").score == 1.0


def test_passages_of_the_callers_own_may_be_among_the_texts():
    passages = [toulmin.Passage.of(CONTEXTS[0], title="Kettle Rock"), CONTEXTS[1]]
    assert measure(TRUE, passages=passages, judge="lexical").score == 1.0


def test_a_judge_that_fails_gives_no_score():
    class Broken:
        name = "broken"

        def judge(self, pairs: object) -> list[object]:
            raise RuntimeError("out of order")

    with pytest.raises(ModelError, match="out of order"):
        measure(TRUE, passages=CONTEXTS, judge=Broken())


def test_many_texts_are_measured_side_by_side_inside_an_event_loop():
    async def main() -> list[float | None]:
        work = [measure_aside(text, passages=CONTEXTS, judge="lexical") for text in (TRUE, HALF, TALK)]
        return [grounding.score for grounding in await asyncio.gather(*work)]

    assert asyncio.run(main()) == [1.0, 0.5, None]


@pytest.mark.parametrize(
    ("code", "printed"),
    examples_of("Inspect", "Ragas", "DeepEval", readme=Path(__file__).parent.parent / "README.md"),
)
def test_an_example_of_the_pages_runs(code: str, printed: str, run_example: Any):
    run_example(code, printed)


# ---------------------------------------------------------------- Inspect

WITH_PASSAGES = {"passages": CONTEXTS}


def inspect_log(replies: dict[str, str], folder: Path, metadata: dict[str, Any], **sources: Any) -> EvalLog:
    """The log of an evaluation whose model says for each question what `replies` have for it."""
    samples = [Sample(input=question, id=question, metadata=metadata) for question in replies]
    outputs = [ModelOutput.from_content("mockllm/model", reply) for reply in replies.values()]
    for output in outputs:
        output.usage = ModelUsage()  # else it counts tokens, for which it fetches a table
    task = inspect_ai.Task(dataset=samples, scorer=groundedness(judge="lexical", **sources), name="tower")
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    [log] = inspect_ai.eval(task, model=model, log_dir=str(folder), display="none", max_samples=1, fail_on_error=False)
    return log


def test_inspect_scores_replies_by_the_passages_of_each_sample(tmp_path: Path):
    log = inspect_log({"true": TRUE, "half": HALF}, tmp_path, WITH_PASSAGES)
    assert log.status == "success"
    assert {sample.id: sample.scores["groundedness"].value for sample in log.samples} == {"true": 1.0, "half": 0.5}
    assert log.results.scores[0].metrics["mean"].value == 0.75


def test_inspect_shows_why_a_claim_fails(tmp_path: Path):
    [sample] = inspect_log({"half": HALF}, tmp_path, WITH_PASSAGES).samples
    assert "the source says 38, the claim says 48" in sample.scores["groundedness"].explanation
    assert sample.scores["groundedness"].metadata == {"claims": 2, "supported": 1}


def test_inspect_leaves_a_reply_without_a_claim_out_of_the_mean(tmp_path: Path):
    log = inspect_log({"true": TRUE, "talk": TALK}, tmp_path, WITH_PASSAGES)
    [talk] = [sample for sample in log.samples if sample.id == "talk"]
    assert math.isnan(talk.scores["groundedness"].value)
    assert log.results.scores[0].metrics["mean"].value == 1.0


def test_inspect_scores_replies_by_documents(notes: Path, tmp_path: Path):
    log = inspect_log({"finished": "The sea watch H4 was finished in 1759."}, tmp_path / "log", {}, docs=str(notes))
    assert log.samples[0].scores["groundedness"].value == 1.0


def test_inspect_says_what_a_sample_without_passages_lacks(tmp_path: Path):
    [sample] = inspect_log({"true": TRUE}, tmp_path, {}).samples
    assert "needs a list of texts as 'passages' in its metadata, but has None" in sample.error.message


# ---------------------------------------------------------------- Ragas


def ragas_sample(response: str) -> SingleTurnSample:
    return SingleTurnSample(user_input="How tall?", response=response, retrieved_contexts=CONTEXTS)


@pytest.mark.parametrize(("text", "score"), [(TRUE, 1.0), (HALF, 0.5)])
def test_ragas_scores_one_sample(text: str, score: float):
    metric = ragas_metric.Groundedness(judge="lexical")
    assert asyncio.run(metric.single_turn_ascore(ragas_sample(text))) == score


def test_ragas_gives_no_number_to_a_response_without_a_claim():
    metric = ragas_metric.Groundedness(judge="lexical")
    assert math.isnan(asyncio.run(metric.single_turn_ascore(ragas_sample(TALK))))


def test_ragas_evaluates_a_data_set():
    samples = EvaluationDataset(samples=[ragas_sample(TRUE), ragas_sample(HALF)])
    metrics = [ragas_metric.Groundedness(judge="lexical")]
    result = ragas.evaluate(samples, metrics=metrics, raise_exceptions=True, show_progress=False)
    assert result["groundedness"] == [1.0, 0.5]


# ---------------------------------------------------------------- DeepEval


def deepeval_case(output: str | None) -> LLMTestCase:
    return LLMTestCase(input="How tall?", actual_output=output, retrieval_context=CONTEXTS)


@pytest.fixture
def metric() -> deepeval_metric.Groundedness:
    return deepeval_metric.Groundedness(judge="lexical")


@pytest.mark.parametrize(("text", "score", "passes"), [(TRUE, 1.0, True), (HALF, 0.5, False), (TALK, 1.0, True)])
def test_deepeval_measures_a_test_case(metric: deepeval_metric.Groundedness, text: str, score: float, passes: bool):
    assert (metric.measure(deepeval_case(text)), metric.is_successful()) == (score, passes)
    assert (asyncio.run(metric.a_measure(deepeval_case(text))), metric.is_successful()) == (score, passes)


def test_deepeval_passes_from_the_threshold_on():
    metric = deepeval_metric.Groundedness(threshold=0.5, judge="lexical")
    metric.measure(deepeval_case(HALF))
    assert metric.is_successful()


@pytest.mark.parametrize("run_async", [True, False])
def test_deepeval_asserts_and_gives_the_reason(metric: deepeval_metric.Groundedness, run_async: bool):
    deepeval.assert_test(deepeval_case(TRUE), [metric], run_async=run_async)
    with pytest.raises(AssertionError, match="the source says 38, the claim says 48"):
        deepeval.assert_test(deepeval_case(HALF), [metric], run_async=run_async)


def test_deepeval_evaluates_many_test_cases(
    metric: deepeval_metric.Groundedness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)  # it writes what it measured beside itself
    display = DisplayConfig(print_results=False, show_indicator=False)
    result = deepeval.evaluate([deepeval_case(TRUE), deepeval_case(HALF)], [metric], display_config=display)
    assert sorted(each.metrics_data[0].score for each in result.test_results) == [0.5, 1.0]


def test_deepeval_says_what_a_test_case_lacks(metric: deepeval_metric.Groundedness):
    with pytest.raises(MissingTestCaseParamsError, match="needs 'actual_output' and 'retrieval_context'"):
        metric.measure(deepeval_case(None))
