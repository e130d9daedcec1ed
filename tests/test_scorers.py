"""The scorers in the harness of each evaluation package; `.ci/scorers` installs the three and runs this file."""

from __future__ import annotations

import asyncio
import math
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import toulmin
from toulmin.errors import ModelError, UsageError
from toulmin.testing.grounding import measure, measure_aside

# Read when the packages are imported: none of them reports to its authors from here.
OPT_OUTS = {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "RAGAS_DO_NOT_TRACK": "true", "LANGSMITH_TRACING": "false"}
CONTEXTS = ["The tower is 38 metres tall.", "It was lit for the first time on 3 May 1824."]
TRUE = "The tower is 38 metres tall. It was lit on 3 May 1824."
HALF = "The tower is 48 metres tall. It was lit on 3 May 1824."
TALK = "Sure! I hope this helps!"

# Of the packages and what they import, not of ours.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Whoever asks for another machine fails, and the test with it."""
    attempts: list[object] = []

    def refuse(host: object, *rest: object, **options: object) -> list[object]:
        attempts.append(host)
        raise OSError(f"no test asks for {host}")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield attempts
    assert attempts == []


def package(name: str) -> ModuleType:
    for variable, value in OPT_OUTS.items():
        os.environ[variable] = value
    return pytest.importorskip(name)


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
    assert measure("Kettle Rock Tower is 38 metres tall.", docs=notes, judge="lexical").score == 1.0


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


# ---------------------------------------------------------------- the examples

PAGE = Path(__file__).parent.parent / "docs" / "testing.md"
EXAMPLES = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", EXAMPLES, ids=["inspect", "ragas", "deepeval"])
def test_an_example_of_the_docs_runs(code: str, capsys: pytest.CaptureFixture[str]):
    package(re.findall(r"^from (\w+)", code, re.MULTILINE)[0])
    names: dict[str, object] = {"__name__": "example"}
    exec(code, names)
    shown = re.findall(r"# (\d.*)$", code, re.MULTILINE)
    assert capsys.readouterr().out.split() == shown
    for name in [name for name in names if name.startswith("test_")]:
        names[name]()


# ---------------------------------------------------------------- Inspect


def inspect_log(replies: dict[str, str], folder: Path, **sources: object):
    """The log of an evaluation whose model says for each question what `replies` have for it."""
    inspect_ai = package("inspect_ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from toulmin.testing.inspect_scorer import groundedness

    metadata = {} if sources else {"passages": CONTEXTS}
    samples = [Sample(input=question, id=question, metadata=metadata) for question in replies]
    outputs = [ModelOutput.from_content("mockllm/model", reply) for reply in replies.values()]
    for output in outputs:
        output.usage = ModelUsage()  # else it counts tokens, for which it fetches a table
    task = inspect_ai.Task(dataset=samples, scorer=groundedness(judge="lexical", **sources), name="tower")
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    [log] = inspect_ai.eval(task, model=model, log_dir=str(folder), display="none", max_samples=1, fail_on_error=False)
    return log


def test_inspect_scores_replies_by_the_passages_of_each_sample(tmp_path: Path):
    log = inspect_log({"true": TRUE, "half": HALF}, tmp_path)
    assert log.status == "success"
    assert {sample.id: sample.scores["groundedness"].value for sample in log.samples} == {"true": 1.0, "half": 0.5}
    assert log.results.scores[0].metrics["mean"].value == 0.75


def test_inspect_shows_why_a_claim_fails(tmp_path: Path):
    [sample] = inspect_log({"half": HALF}, tmp_path).samples
    assert "the source says 38, the claim says 48" in sample.scores["groundedness"].explanation
    assert sample.scores["groundedness"].metadata == {"claims": 2, "supported": 1}


def test_inspect_leaves_a_reply_without_a_claim_out_of_the_mean(tmp_path: Path):
    log = inspect_log({"true": TRUE, "talk": TALK}, tmp_path)
    [talk] = [sample for sample in log.samples if sample.id == "talk"]
    assert math.isnan(talk.scores["groundedness"].value)
    assert log.results.scores[0].metrics["mean"].value == 1.0


def test_inspect_scores_replies_by_documents(notes: Path, tmp_path: Path):
    log = inspect_log({"built": "Hannah Pell built Kettle Rock Tower."}, tmp_path / "log", docs=str(notes))
    assert log.samples[0].scores["groundedness"].value == 1.0


def test_inspect_says_what_a_sample_without_passages_lacks(tmp_path: Path):
    package("inspect_ai")
    from toulmin.testing import inspect_scorer

    with pytest.raises(UsageError, match="needs a list of texts as 'passages' in its metadata, but has None"):
        inspect_scorer._texts({}, "passages")


# ---------------------------------------------------------------- Ragas


def ragas_parts():
    package("ragas")
    from ragas import EvaluationDataset, SingleTurnSample, evaluate

    from toulmin.testing.ragas_metric import Groundedness

    def sample(response: str) -> SingleTurnSample:
        return SingleTurnSample(user_input="How tall?", response=response, retrieved_contexts=CONTEXTS)

    return Groundedness(judge="lexical"), sample, EvaluationDataset, evaluate


@pytest.mark.parametrize(("text", "score"), [(TRUE, 1.0), (HALF, 0.5)])
def test_ragas_scores_one_sample(text: str, score: float):
    metric, sample, *_ = ragas_parts()
    assert asyncio.run(metric.single_turn_ascore(sample(text))) == score


def test_ragas_gives_no_number_to_a_response_without_a_claim():
    metric, sample, *_ = ragas_parts()
    assert math.isnan(asyncio.run(metric.single_turn_ascore(sample(TALK))))


def test_ragas_evaluates_a_data_set():
    metric, sample, dataset, evaluate = ragas_parts()
    samples = dataset(samples=[sample(TRUE), sample(HALF)])
    result = evaluate(samples, metrics=[metric], raise_exceptions=True, show_progress=False)
    assert result["groundedness"] == [1.0, 0.5]


# ---------------------------------------------------------------- DeepEval


def deepeval_parts():
    package("deepeval")
    from deepeval.test_case import LLMTestCase

    from toulmin.testing.deepeval_metric import Groundedness

    def case(output: str | None) -> LLMTestCase:
        return LLMTestCase(input="How tall?", actual_output=output, retrieval_context=CONTEXTS)

    return Groundedness, case


@pytest.mark.parametrize(("text", "score", "passes"), [(TRUE, 1.0, True), (HALF, 0.5, False), (TALK, 1.0, True)])
def test_deepeval_measures_a_test_case(text: str, score: float, passes: bool):
    groundedness, case = deepeval_parts()
    metric = groundedness(judge="lexical")
    assert (metric.measure(case(text)), metric.is_successful()) == (score, passes)
    assert (asyncio.run(metric.a_measure(case(text))), metric.is_successful()) == (score, passes)


def test_deepeval_passes_from_the_threshold_on():
    groundedness, case = deepeval_parts()
    metric = groundedness(threshold=0.5, judge="lexical")
    metric.measure(case(HALF))
    assert metric.is_successful()


@pytest.mark.parametrize("run_async", [True, False])
def test_deepeval_asserts_and_gives_the_reason(run_async: bool):
    groundedness, case = deepeval_parts()
    from deepeval import assert_test

    assert_test(case(TRUE), [groundedness(judge="lexical")], run_async=run_async)
    with pytest.raises(AssertionError, match="the source says 38, the claim says 48"):
        assert_test(case(HALF), [groundedness(judge="lexical")], run_async=run_async)


def test_deepeval_evaluates_many_test_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    groundedness, case = deepeval_parts()
    from deepeval import evaluate
    from deepeval.evaluate import DisplayConfig

    monkeypatch.chdir(tmp_path)  # it writes what it measured beside itself
    display = DisplayConfig(print_results=False, show_indicator=False)
    result = evaluate([case(TRUE), case(HALF)], [groundedness(judge="lexical")], display_config=display)
    assert sorted(each.metrics_data[0].score for each in result.test_results) == [0.5, 1.0]


def test_deepeval_says_what_a_test_case_lacks():
    groundedness, case = deepeval_parts()
    from deepeval.errors import MissingTestCaseParamsError

    with pytest.raises(MissingTestCaseParamsError, match="needs 'actual_output' and 'retrieval_context'"):
        groundedness(judge="lexical").measure(case(None))
