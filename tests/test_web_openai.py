"""The routes for OpenAI's clients, asked by OpenAI's own client."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs fastapi")

import openai
from openai.resources.chat.completions import Completions
from openai.resources.responses import Responses
from pydantic import BaseModel
from web_parts import Served, Slow, served

from toulmin.build.specs import Own
from toulmin.config import Settings
from toulmin.data import Answer, Citation, Claim, Passage, Support
from toulmin.driver.drive import Job
from toulmin.errors import ModelError
from toulmin.formats import answer_json
from toulmin.server import openai_requests
from toulmin.server.engine import Running
from toulmin.server.openai_requests import ChatCompletion, Inquiry, Message
from toulmin.server.openai_routes import Writer

QUESTION = "Who built Kettle Rock Tower, and who was its last keeper?"
ASKED: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}]


SILENT = "How many satellites does a receiver need?"
REASON = "The sources do not say."


@pytest.fixture(scope="module")
def server(shared_notes: Path) -> Iterator[Served]:
    with served(shared_notes) as found:
        yield found


@pytest.fixture
def client(server: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}v1", api_key="none", max_retries=0) as made:
        yield made


def marked(text: str, annotations: Any) -> list[str]:
    return [text[one.url_citation.start_index : one.url_citation.end_index] for one in annotations]


def test_a_model_is_a_method(client: openai.OpenAI):
    assert {"best", "calm", "vtg"} <= {model.id for model in client.models.list()}


def test_a_completion_marks_its_citations(client: openai.OpenAI):
    message = client.chat.completions.create(model="best", messages=ASKED).choices[0].message
    assert "Hannah Pell" in (message.content or "")
    assert set(marked(message.content or "", message.annotations)) <= {"[1]", "[2]"}
    assert message.annotations


TALK: Any = [
    {"role": "user", "content": "How tall is Kettle Rock Tower?"},
    {"role": "assistant", "content": "The tower is 38 metres tall [1]."},
    {"role": "user", "content": "Who built it?"},
]
READING = {"question": "Who built Kettle Rock Tower?", "asked": "Who built it?"}


def test_the_messages_before_are_the_conversation(client: openai.OpenAI):
    completion = client.chat.completions.create(model="best", messages=TALK)
    assert "Hannah Pell" in (completion.choices[0].message.content or "")
    assert completion.model_extra == {"toulmin": READING}


def test_a_stream_tells_in_the_end_how_the_question_was_read(client: openai.OpenAI):
    *_, last = client.chat.completions.create(model="best", messages=TALK, stream=True)
    assert last.model_extra == {"toulmin": READING}


def test_a_response_reads_the_messages_before(client: openai.OpenAI):
    response = client.responses.create(model="best", input=TALK)
    assert "Hannah Pell" in response.output_text
    assert response.model_extra == {"toulmin": READING}


def test_a_conversation_can_be_answered_as_typed(client: openai.OpenAI):
    completion = client.chat.completions.create(model="best", messages=TALK, extra_body={"rewrite": False})
    assert not completion.model_extra


def test_a_stream_adds_up_to_the_completion(client: openai.OpenAI):
    whole = client.chat.completions.create(model="best", messages=ASKED).choices[0].message.content
    text, annotations, finish = "", [], None
    for chunk in client.chat.completions.create(model="best", messages=ASKED, stream=True):
        delta = chunk.choices[0].delta
        text += delta.content or ""
        annotations += getattr(delta, "annotations", None) or []
        finish = chunk.choices[0].finish_reason or finish
    assert (text, finish) == (whole, "stop")
    places = [(one["url_citation"]["start_index"], one["url_citation"]["end_index"]) for one in annotations]
    assert {text[start:end] for start, end in places} == {"[1]", "[2]"}


def test_usage_comes_last_where_it_is_asked_for(client: openai.OpenAI):
    stream = client.chat.completions.create(
        model="best", messages=ASKED, stream=True, stream_options={"include_usage": True}
    )
    last = list(stream)[-1]
    assert last.usage is not None
    assert not last.choices


def test_a_response_is_the_same_text(client: openai.OpenAI):
    whole = client.chat.completions.create(model="best", messages=ASKED).choices[0].message.content
    response = client.responses.create(model="best", input=QUESTION)
    assert response.output_text == whole


def test_a_streamed_response_adds_up(client: openai.OpenAI):
    whole = client.responses.create(model="best", input=QUESTION)
    with client.responses.stream(model="best", input=QUESTION) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert final.output_text == whole.output_text
    assert kinds[0] == "response.created"
    assert "response.output_text.annotation.added" in kinds


# ---------------------------------------------------------------- silence


def ask(client: openai.OpenAI, question: str = QUESTION, system: str = "", **options: Any) -> Any:
    orders: Any = [{"role": "system", "content": system}] if system else []
    asked: Any = [*orders, {"role": "user", "content": question}]
    return client.chat.completions.create(model="best", messages=asked, **options)


def test_an_abstention_is_in_the_content_and_a_refusal(client: openai.OpenAI):
    message = ask(client, SILENT).choices[0].message
    assert (message.content, message.refusal) == (REASON, REASON)


def test_a_stream_ends_with_the_refusal_of_what_it_sent(client: openai.OpenAI):
    deltas = [chunk.choices[0].delta for chunk in ask(client, SILENT, stream=True)]
    assert "".join(delta.content or "" for delta in deltas) == REASON
    assert deltas[-1].refusal == REASON


def test_a_silent_response_has_both_parts(client: openai.OpenAI):
    whole = client.responses.create(model="best", input=SILENT)
    with client.responses.stream(model="best", input=SILENT) as stream:
        kinds = [event.type for event in stream]
        streamed = stream.get_final_response()
    parts: Any = [response.output[0].content for response in (whole, streamed)]  # type: ignore[union-attr]
    assert [[part.type for part in content] for content in parts] == [["output_text", "refusal"]] * 2
    assert [content[1].refusal for content in parts] == [REASON, REASON]
    assert whole.output_text == streamed.output_text == REASON
    assert "response.refusal.done" in kinds


# ---------------------------------------------------------------- limits, stops and system messages


def sentences(text: str | None) -> int:
    return (text or "").count("].")


def test_tokens_limit_whole_sentences(client: openai.OpenAI):
    whole = ask(client).choices[0]
    for limit in ("max_tokens", "max_completion_tokens"):
        cut = ask(client, **{limit: 1}).choices[0]
        assert (cut.finish_reason, sentences(cut.message.content)) == ("length", 1)
        assert whole.message.content.startswith(cut.message.content)
    assert (whole.finish_reason, sentences(whole.message.content) > 1) == ("stop", True)


def test_a_limited_response_is_incomplete(client: openai.OpenAI):
    response = client.responses.create(model="best", input=QUESTION, max_output_tokens=1)
    assert response.incomplete_details is not None
    assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    events = client.responses.create(model="best", input=QUESTION, max_output_tokens=1, stream=True)
    assert [event.type for event in events][-1] == "response.incomplete"


def test_a_limited_stream_ends_as_the_completion_does(client: openai.OpenAI):
    whole = ask(client, max_tokens=1).choices[0].message.content
    chunks = list(ask(client, max_tokens=1, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == whole
    assert chunks[-1].choices[0].finish_reason == "length"


def test_a_stop_ends_before_its_sentence(client: openai.OpenAI):
    whole = ask(client).choices[0].message.content
    second = whole[whole.index("].") + 3 :].split()[0]
    assert second not in whole[: whole.index("].")]
    for stop in (second, ["no such words", second]):
        choice = ask(client, stop=stop).choices[0]
        assert (choice.message.content, choice.finish_reason) == (whole[: whole.index("].") + 2], "stop")


def test_a_stop_in_the_first_sentence_leaves_a_refusal(client: openai.OpenAI):
    message = ask(client, stop="Kettle").choices[0].message
    assert message.content == message.refusal == "The first sentence of the answer contains a stop sequence."


@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_system_message_sets_the_length(client: openai.OpenAI, role: str):
    asked: Any = [{"role": role, "content": "Answer in one sentence."}, {"role": "user", "content": QUESTION}]
    completion = client.chat.completions.create(model="best", messages=asked)
    assert sentences(completion.choices[0].message.content) == 1
    assert completion.model_extra == {"toulmin": {"instructions": {"sentences": 1}}}


def test_instructions_set_the_length_of_a_response(client: openai.OpenAI):
    response = client.responses.create(model="best", input=QUESTION, instructions="Use at most one sentence.")
    assert (sentences(response.output_text), response.instructions) == (1, "Use at most one sentence.")


def test_what_is_not_followed_of_a_system_message_is_no_secret(client: openai.OpenAI):
    assert ask(client, system="You are a pirate.").model_extra == {"toulmin": {"instructions": {}}}


@pytest.mark.parametrize(
    ("order", "followed"),
    [
        ("Be brief.", {"sentences": 3}),
        ("Keep your answers short.", {"sentences": 3}),
        ("Reply in 2-3 sentences.", {"sentences": 3}),
        ("Use no more than five short sentences.", {"sentences": 5}),
        ("Answer with a bulleted list.", {"style": "list"}),
        ("Never be brief; write at least three sentences.", {}),
        ("You keep a shopping list. Shorten nothing.", {}),
    ],
)
def test_an_order_is_read_as_length_and_form(order: str, followed: dict[str, Any]):
    asked = ChatCompletion(messages=[Message(role="system", content=order), Message(role="user", content="Who?")])
    assert asked.inquiry().followed == followed


def test_low_verbosity_is_brevity():
    asked = ChatCompletion(messages=[Message(role="user", content="Who?")], verbosity="low")
    assert asked.inquiry().followed == {"sentences": 3}


# ---------------------------------------------------------------- the Answer document

DOCUMENT: Any = {"type": "json_object"}


def test_the_answer_itself_is_a_format(client: openai.OpenAI):
    completion = ask(client, response_format=DOCUMENT)
    answer = answer_json.parse(completion.choices[0].message.content)
    assert (answer.id, answer.status) == (completion.id.removeprefix("chatcmpl-"), "answered")
    response = client.responses.create(model="best", input=QUESTION, text={"format": DOCUMENT})
    assert answer_json.parse(response.output_text).text == answer.text == ask(client).choices[0].message.content


def test_a_streamed_document_is_whole(client: openai.OpenAI):
    with client.responses.stream(model="best", input=QUESTION, text={"format": DOCUMENT}) as stream:
        for _ in stream:
            pass
        assert answer_json.parse(stream.get_final_response().output_text).status == "answered"


def test_a_document_tells_silence_itself(client: openai.OpenAI):
    asked: Any = [{"role": "user", "content": SILENT}]
    message = client.chat.completions.create(model="best", messages=asked, response_format=DOCUMENT).choices[0].message
    answer = answer_json.parse(message.content)
    assert (answer.status, answer.notes, answer.claims) == ("abstained", (REASON,), ())
    assert message.refusal is None


# ---------------------------------------------------------------- what is refused, by its name

TOOL: Any = {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}
IMAGE: Any = [{"type": "text", "text": "Who?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}]


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"n": 2}, "n"),
        ({"logprobs": True}, "logprobs"),
        ({"top_logprobs": 3}, "top_logprobs"),
        ({"logit_bias": {"50256": -100}}, "logit_bias"),
        ({"tools": [TOOL], "tool_choice": "required"}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "find"}}}, "tool_choice"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"web_search_options": {}}, "web_search_options"),
        ({"extra_body": {"wisdom": 11}}, "wisdom"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "stop"),
        ({"messages": [{"role": "user", "content": IMAGE}]}, "messages.0.content.1"),
        ({"messages": [ASKED[1], {"role": "tool", "tool_call_id": "1", "content": "38 metres"}]}, "messages.1"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}}, "response_format"),
        ({"response_format": {"type": "grammar"}}, "response_format"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_done_is_refused_by_its_name(client: openai.OpenAI, options: dict[str, Any], param: str):
    with pytest.raises(openai.BadRequestError) as refusal:
        client.chat.completions.create(**{"model": "best", "messages": ASKED, **options})
    assert refusal.value.param == param
    assert param in refusal.value.message


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"background": True}, "background"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"include": ["message.output_text.logprobs"]}, "include"),
        ({"previous_response_id": "resp_none"}, "previous_response_id"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:"}]}]},
            "input.0.content.0",
        ),
        ({"input": [{"type": "function_call_output", "call_id": "1", "output": "38"}]}, "input.0"),
        ({"text": {"format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}}}}, "text.format"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_response_refuses_by_name_too(client: openai.OpenAI, options: dict[str, Any], param: str):
    with pytest.raises(openai.BadRequestError) as refusal:
        client.responses.create(**{"model": "best", "input": QUESTION, **options})
    assert refusal.value.param == param


@pytest.mark.parametrize(
    "options",
    [{"tools": [TOOL]}, {"tools": [TOOL], "tool_choice": "none"}, {"temperature": 1.5, "seed": 7}, {"n": 1}],
    ids=["tools", "none", "sampling", "n"],
)
def test_what_asks_for_nothing_more_is_answered(client: openai.OpenAI, options: dict[str, Any]):
    assert ask(client, **options).choices[0].message.content == ask(client).choices[0].message.content


NOT_SENT = {"self", "extra_headers", "extra_query", "extra_body", "timeout"}
REFUSED_AT_ALL = """audio access_programs background_options context_management conversation image moderation prompt
    web_search_options""".split()


@pytest.mark.parametrize(
    ("create", "form"),
    [(Completions.create, ChatCompletion), (Responses.create, openai_requests.Response)],
    ids=["completions", "responses"],
)
def test_every_parameter_of_the_client_is_decided(create: Callable[..., Any], form: type[BaseModel]):
    known = {*form.model_fields, *openai_requests.NO_EFFECT, *openai_requests.HARMLESS, *REFUSED_AT_ALL}
    assert set(inspect.signature(create).parameters) - NOT_SENT - known == set()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("chat/completions", {"messages": [{"role": "user", "content": f"{QUESTION} \ud83d"}]}),
        ("chat/completions", {"messages": [{"role": "user", "content": [{"type": "text", "text": "Who? \ud83d"}]}]}),
        ("chat/completions", {"messages": [{"role": "user", "content": [{"type": "\ud83d"}]}]}),
        ("responses", {"input": QUESTION, "instructions": "Be brief \ud83d."}),
        ("responses", {"input": [{"type": "\ud83d"}]}),
    ],
)
def test_half_a_surrogate_pair_ends_no_request(server: Served, path: str, body: dict[str, Any]):
    sent = json.dumps({"model": "best", **body})  # in ASCII, with escapes
    reply = server.client.post(f"/v1/{path}", content=sent, headers={"Content-Type": "application/json"})
    assert reply.status_code in (200, 400)
    assert reply.json()


# ---------------------------------------------------------------- kept responses, models and usage


def test_a_response_is_kept(client: openai.OpenAI):
    response = client.responses.create(model="best", input=QUESTION)
    assert client.responses.retrieve(response.id) == response
    for event in client.responses.create(model="best", input=QUESTION, stream=True):
        last = event
    assert last.type == "response.completed"
    assert client.responses.retrieve(last.response.id) == last.response


def test_a_response_that_is_not_to_be_stored_is_not_kept(client: openai.OpenAI):
    response = client.responses.create(model="best", input=QUESTION, store=False)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id)


@pytest.mark.parametrize("id", ["resp_none", "none"])
def test_no_other_response_is_found(client: openai.OpenAI, id: str):
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(id)


def test_an_answer_is_no_response(client: openai.OpenAI):
    id = client.responses.create(model="best", input=QUESTION, store=False).id
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(id.removeprefix("resp_"))


def test_a_previous_response_is_the_conversation(client: openai.OpenAI):
    first = client.responses.create(model="best", input="How tall is Kettle Rock Tower?")
    second = client.responses.create(model="best", input="Who built it?", previous_response_id=first.id)
    assert second.model_extra == {"toulmin": READING}
    assert second.previous_response_id == first.id
    third = client.responses.create(model="best", input="When was it lit?", previous_response_id=second.id)
    assert third.model_extra["toulmin"]["question"] == "When was Kettle Rock Tower lit?"  # type: ignore[index]


def test_a_reference_to_a_message_is_its_answer(client: openai.OpenAI):
    first = client.responses.create(model="best", input="How tall is Kettle Rock Tower?")
    reference = {"type": "item_reference", "id": first.output[0].id}
    talk: Any = [TALK[0], reference, TALK[2]]
    assert client.responses.create(model="best", input=talk).model_extra == {"toulmin": READING}


def test_a_model_is_found_by_name(client: openai.OpenAI):
    assert client.models.retrieve("best") in client.models.list().data
    assert client.models.retrieve("toulmin/best").id == "toulmin/best"
    with pytest.raises(openai.NotFoundError, match="no model 'gpt-9'"):
        client.models.retrieve("gpt-9")


def test_tokens_are_counted_without_a_model(client: openai.OpenAI):
    one, whole = ask(client, max_tokens=1).usage, ask(client).usage
    assert 0 < one.completion_tokens < whole.completion_tokens < whole.prompt_tokens
    assert whole.total_tokens == whole.prompt_tokens + whole.completion_tokens
    streamed = list(ask(client, stream=True, stream_options={"include_usage": True}))[-1].usage
    assert streamed == whole
    usage = client.responses.create(model="best", input=QUESTION).usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (whole.prompt_tokens, whole.completion_tokens)


def test_a_stream_has_a_chunk_for_each_sentence(client: openai.OpenAI):
    texts = [chunk.choices[0].delta.content or "" for chunk in ask(client, stream=True)]
    assert [sentences(text) for text in texts if text] == [1] * sentences("".join(texts))
    assert sentences("".join(texts)) > 1


# ---------------------------------------------------------------- models and questions that there are not


@pytest.mark.parametrize(("model", "error"), [("gpt-9", openai.UnprocessableEntityError)])
def test_a_model_that_is_no_method_is_refused(client: openai.OpenAI, model: str, error: type[Exception]):
    with pytest.raises(error, match="no method called 'gpt-9'"):
        client.chat.completions.create(model=model, messages=ASKED)


def test_messages_without_a_question_are_refused(client: openai.OpenAI):
    nothing: Any = [{"role": "system", "content": "Be brief."}]
    with pytest.raises(openai.UnprocessableEntityError, match="should contain a question"):
        client.chat.completions.create(model="best", messages=nothing)


def test_the_example_of_the_docs_runs(server: Served):
    text = (Path(__file__).parent.parent / "docs" / "server.md").read_text("utf-8")
    block = text[text.index("    import openai") :].split("\n\nThe routes")[0]
    code = dedent(block).strip().replace("http://127.0.0.1:8420/", server.url)
    *first, last = code.splitlines()
    done = subprocess.run([sys.executable, "-c", "\n".join([*first, f"print({last})"])], capture_output=True, text=True)
    assert "Hannah Pell" in done.stdout, done.stderr


class Refusing(Slow):
    """A model that cannot be reached."""

    async def generate(self, requests: Any) -> Any:
        raise ModelError("The model cannot be reached; start it.")


def test_a_failed_model_is_an_error_and_no_answer(notes: Path):
    with served(notes, Settings(), Own(main=Refusing())) as found:
        client = openai.OpenAI(base_url=f"{found.url}v1", api_key="none", max_retries=0)
        with pytest.raises(openai.APIStatusError, match="cannot be reached"):
            client.chat.completions.create(model="best", messages=ASKED)
        with pytest.raises(openai.APIError, match="cannot be reached"):
            list(client.chat.completions.create(model="best", messages=ASKED, stream=True))
        client.close()


# ---------------------------------------------------------------- what is released when

FIRST, SECOND = Passage.of("The tower was built by Pell."), Passage.of("Ashby was the last keeper.")


def claim(passage: Passage, label: Any) -> Claim:
    support = Support(label, 0.5, "judge", (passage.id,)) if label else None
    return Claim(passage.text, (Citation(passage.id),), support)


def draft(*claims: Claim) -> Answer:
    return Answer("q", "long", "best", "answered" if claims else "abstained", claims, (FIRST, SECOND))


def writer() -> Writer:
    inquiry = Inquiry("q", [], None, (), None, None)
    return Writer(inquiry, Running(Job("q", "best", "long", lambda: None)))  # type: ignore[arg-type]


@pytest.mark.parametrize("label", [None, "unsure", "unsupported", "contradicted"])
def test_what_no_judge_supports_waits_for_the_end(label: Any):
    sent = writer()
    sent.add(draft(claim(FIRST, label)), is_final=False)
    assert sent.pieces == []


def test_nothing_overtakes_a_claim_that_waits():
    sent = writer()
    sent.add(draft(claim(FIRST, None), claim(SECOND, "supported")), is_final=False)
    assert sent.pieces == []
    sent.add(draft(claim(FIRST, "supported"), claim(SECOND, "supported")), is_final=False)
    assert [piece.text for piece in sent.pieces] == [
        "The tower was built by Pell [1].",
        " Ashby was the last keeper [2].",
    ]


def test_pieces_add_up_and_their_marks_stand_where_they_say():
    sent = writer()
    sent.add(draft(claim(SECOND, "supported")), is_final=False)
    sent.add(draft(claim(SECOND, "supported"), claim(FIRST, "supported")), is_final=True)
    assert sent.text == "Ashby was the last keeper [1]. The tower was built by Pell [2]."
    marks = [one["url_citation"] for one in sent.annotations]
    assert [sent.text[mark["start_index"] : mark["end_index"]] for mark in marks] == ["[1]", "[2]"]
