"""The tools of the page in Pydantic AI and smolagents. The models are functions; Toulmin's parts are the real ones."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from conftest import examples_of
from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

QUESTION = "When was the sea watch H4 finished?"
FALSE, TRUE = "The sea watch H4 was finished in 1859.", "The sea watch H4 was finished in 1759."
[PYDANTIC_AI] = examples_of("Pydantic AI")
[SMOLAGENTS] = examples_of("smolagents")


@pytest.fixture
def agent(run_example: Any) -> Any:
    return run_example(*PYDANTIC_AI.values)["agent"]


def test_an_agent_reads_the_cited_answer(agent: Any):
    returned: list[str] = []

    def write(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        results = [part.content for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        if not results:
            return ModelResponse([ToolCallPart("ask_notes", {"question": QUESTION})])
        returned.extend(results)
        return ModelResponse([TextPart(TRUE)])

    assert asyncio.run(agent.run(QUESTION, model=FunctionModel(write))).output == TRUE
    assert returned[0].startswith(f"{TRUE[:-1]} [1].")
    assert "[1] The sea watch H4" in returned[0]


def test_a_false_reply_goes_back_to_the_model(agent: Any):
    retries: list[Any] = []

    def write(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        retries.extend(part.content for part in messages[-1].parts if FALSE in str(part.content))
        return ModelResponse([TextPart(TRUE if retries else FALSE)])

    assert asyncio.run(agent.run(QUESTION, model=FunctionModel(write))).output == TRUE
    [retry] = retries
    assert f"The notes do not support these sentences. “{FALSE}”: the source says “{TRUE}”" in retry


def test_the_tool_has_the_schema_that_a_model_needs(agent: Any):
    model = TestModel(call_tools=[], custom_output_text=TRUE)
    asyncio.run(agent.run(QUESTION, model=model))
    [tool] = model.last_model_request_parameters.function_tools
    assert (tool.name, list(tool.parameters_json_schema["properties"])) == ("ask_notes", ["question"])


def test_a_tool_of_smolagents_answers_and_is_silent(run_example: Any):
    tool = run_example(*SMOLAGENTS.values)["ask_notes"]
    assert tool.inputs["question"]["type"] == "string"
    assert tool(question="Who wrote Hamlet?").startswith("The sources do not say.")
