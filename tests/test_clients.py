"""The clients of OpenAI's API and what they get; `.ci/clients` installs them, starts a server and runs this file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.skipif("TOULMIN_CLIENTS" not in os.environ, reason="needs a server: run `bash .ci/clients`")

pydantic = pytest.importorskip("pydantic")
QUESTION, SILENT = "How accurate was the sea watch H4?", "How long is the Nile?"
REASON = "The sources do not say."
TALK = [("user", QUESTION), ("assistant", "Very."), ("user", "Who made it?")]


class Words(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    exact: str


class Citation(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    passage: str
    selector: Words


class Fact(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    text: str
    citations: list[Citation]


class Facts(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    """What a caller reads of the Answer document."""

    status: str
    text: str
    claims: list[Fact]


DOCUMENT: Any = {"type": "json_object"}


def sentences(text: str) -> int:
    return text.count("].")


def check_facts(facts: Any) -> None:
    assert sentences(facts.text) == len(facts.claims) > 1
    assert all(fact.citations[0].selector.exact for fact in facts.claims)


# ---------------------------------------------------------------- OpenAI's own, both APIs


@pytest.fixture
def openai() -> Any:
    return pytest.importorskip("openai").OpenAI(max_retries=0)


def ask(openai: Any, question: str = QUESTION, **options: Any) -> Any:
    asked = [{"role": "user", "content": question}]
    return openai.chat.completions.create(model="best", messages=asked, **options)


def test_openai_completions(openai: Any):
    assert sentences(ask(openai).choices[0].message.content) > 1
    assert ask(openai).usage.completion_tokens > 0
    silence = ask(openai, SILENT).choices[0].message
    assert silence.content.startswith(REASON)
    assert silence.refusal == silence.content
    assert sentences(ask(openai, max_tokens=20).choices[0].message.content) == 1
    assert "kilograms" not in ask(openai, stop=["kilograms"]).choices[0].message.content
    chunks = [chunk.choices[0].delta.content for chunk in ask(openai, stream=True)]
    assert len([text for text in chunks if text]) > 1


def test_openai_responses(openai: Any):
    response = openai.responses.create(model="best", input=QUESTION, instructions="Answer in one sentence.")
    assert sentences(response.output_text) == 1
    assert openai.responses.retrieve(response.id) == response
    following = openai.responses.create(model="best", input="Who made it?", previous_response_id=response.id)
    assert following.model_extra["toulmin"]["question"] == "Who made the sea watch (The sea watch H4)?"
    assert openai.responses.create(model="best", input=SILENT).output_text.startswith(REASON)
    assert openai.models.retrieve("best").id == "best"


def test_openai_documents(openai: Any):
    check_facts(Facts.model_validate_json(ask(openai, response_format=DOCUMENT).choices[0].message.content))
    response = openai.responses.create(model="best", input=QUESTION, text={"format": DOCUMENT})
    check_facts(Facts.model_validate_json(response.output_text))
    silence = Facts.model_validate_json(ask(openai, SILENT, response_format=DOCUMENT).choices[0].message.content)
    assert (silence.status, silence.claims) == ("abstained", [])


@pytest.mark.parametrize(
    ("param", "value"),
    [
        ("logprobs", True),
        ("n", 2),
        ("tool_choice", "required"),
        ("web_search_options", {}),
        ("response_format", {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}),
    ],
)
def test_openai_refusals(openai: Any, param: str, value: Any):
    with pytest.raises(pytest.importorskip("openai").BadRequestError) as refusal:
        ask(openai, **{param: value})
    assert refusal.value.param == param


# ---------------------------------------------------------------- LangChain


@pytest.mark.parametrize("responses", [False, True], ids=["completions", "responses"])
def test_langchain(responses: bool):
    from langchain_openai import ChatOpenAI
    from openai import BadRequestError

    model = ChatOpenAI(model="best", max_retries=0, use_responses_api=responses)
    assert sentences(model.invoke(QUESTION).text) > 1
    assert model.invoke(QUESTION).usage_metadata["output_tokens"] > 0
    assert model.invoke(SILENT).text.startswith(REASON)
    assert "".join(chunk.text for chunk in model.stream(SILENT)).startswith(REASON)
    assert len([chunk for chunk in model.stream(QUESTION) if chunk.text]) > 1
    assert sentences(model.invoke([("system", "Answer in one sentence."), ("user", QUESTION)]).text) == 1
    assert sentences(model.bind(max_tokens=20).invoke(QUESTION).text) == 1
    assert "Harrison" in model.invoke(TALK).text
    reading = model.with_structured_output(Facts, method="json_mode")
    check_facts(reading.invoke(QUESTION))
    assert reading.invoke(SILENT).status == "abstained"
    with pytest.raises(BadRequestError, match="json_object"):
        model.with_structured_output(Facts).invoke(QUESTION)
    with pytest.raises(BadRequestError, match="tool_choice"):
        model.with_structured_output(Facts, method="function_calling").invoke(QUESTION)


# ---------------------------------------------------------------- pydantic-ai


@pytest.mark.parametrize("name", ["OpenAIChatModel", "OpenAIResponsesModel"])
def test_pydantic_ai(name: str):
    from pydantic_ai import Agent, PromptedOutput
    from pydantic_ai.exceptions import AgentRunError
    from pydantic_ai.models import openai as models

    model = getattr(models, name)("best")
    run: Callable[..., Any] = Agent(model).run_sync
    first = run(QUESTION)
    assert sentences(first.output) > 1
    assert first.usage.output_tokens > 0
    assert "Harrison" in run("Who made it?", message_history=first.all_messages()).output
    assert sentences(Agent(model, instructions="Answer in one sentence.").run_sync(QUESTION).output) == 1
    assert sentences(run(QUESTION, model_settings={"max_tokens": 20}).output) == 1
    check_facts(Agent(model, output_type=PromptedOutput(Facts)).run_sync(QUESTION).output)
    with pytest.raises(AgentRunError, match=REASON):  # it shows what refuses as an error
        run(SILENT)
    with pytest.raises(AgentRunError, match="tool_choice"):
        Agent(model, output_type=Facts).run_sync(QUESTION)
    assert sentences(asyncio.run(streamed(Agent(model)))) > 1


async def streamed(agent: Any) -> str:
    async with agent.run_stream(QUESTION) as run:
        return "".join([text async for text in run.stream_text(delta=True)])


# ---------------------------------------------------------------- LlamaIndex


def test_llama_index():
    from llama_index.core.llms import ChatMessage
    from llama_index.llms.openai_like import OpenAILike
    from openai import BadRequestError

    address = os.environ["OPENAI_BASE_URL"]
    model = OpenAILike(model="best", api_base=address, api_key="none", is_chat_model=True, max_retries=0)
    question, silent = ([ChatMessage(role="user", content=text)] for text in (QUESTION, SILENT))
    order = ChatMessage(role="system", content="Answer in one sentence.")
    assert sentences(model.complete(QUESTION).text) > 1
    assert model.chat(silent).message.content.startswith(REASON)
    assert "".join(chunk.delta for chunk in model.stream_chat(silent)).startswith(REASON)
    assert len([chunk for chunk in model.stream_chat(question) if chunk.delta]) > 1
    assert sentences(model.chat([order, *question]).message.content) == 1
    assert sentences(model.chat(question, max_tokens=20).message.content) == 1
    check_facts(Facts.model_validate_json(model.chat(question, response_format=DOCUMENT).message.content))
    with pytest.raises(BadRequestError, match="logprobs"):
        model.chat(question, logprobs=True)
