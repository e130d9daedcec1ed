"""The routes for OpenAI's clients, asked by OpenAI's own client."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs fastapi")

import openai
from web_parts import Served, Slow, served

from toulmin.build.specs import Own
from toulmin.config import Settings
from toulmin.data import Answer, Citation, Claim, Passage, Support
from toulmin.errors import ModelError
from toulmin.server.openai_routes import ChunkSender

QUESTION = "Who built Kettle Rock Tower, and who was its last keeper?"
ASKED: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}]


@pytest.fixture
def server(notes: Path) -> Iterator[Served]:
    with served(notes) as found:
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


def test_an_abstention_is_a_refusal(client: openai.OpenAI):
    asked: Any = [{"role": "user", "content": "How many satellites does a receiver need?"}]
    message = client.chat.completions.create(model="best", messages=asked).choices[0].message
    assert message.content is None
    assert message.refusal == "The sources do not say."


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


@pytest.mark.parametrize("label", [None, "unsure", "unsupported", "contradicted"])
def test_what_no_judge_supports_waits_for_the_end(label: Any):
    sent = ChunkSender()
    assert sent.more(draft(claim(FIRST, label)), is_final=False) is None


def test_nothing_overtakes_a_claim_that_waits():
    sent = ChunkSender()
    assert sent.more(draft(claim(FIRST, None), claim(SECOND, "supported")), is_final=False) is None
    piece = sent.more(draft(claim(FIRST, "supported"), claim(SECOND, "supported")), is_final=False)
    assert piece is not None
    assert piece.text == "The tower was built by Pell [1]. Ashby was the last keeper [2]."


def test_pieces_add_up_and_their_marks_stand_where_they_say():
    sent = ChunkSender()
    pieces = [
        sent.more(draft(claim(SECOND, "supported")), is_final=False),
        sent.more(draft(claim(SECOND, "supported"), claim(FIRST, "supported")), is_final=True),
    ]
    text = "".join(piece.text for piece in pieces if piece)
    assert text == "Ashby was the last keeper [1]. The tower was built by Pell [2]."
    marks = [one["url_citation"] for piece in pieces if piece for one in piece.annotations]
    assert [text[mark["start_index"] : mark["end_index"]] for mark in marks] == ["[1]", "[2]"]
