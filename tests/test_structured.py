"""Replies in JSON of a schema: what a server is asked for, what is read of it, and that nothing breaks the reading."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_tables import table
from stub_server import Rule, Stub, running_stub

import toulmin
from tests.typed_prompts import ALL, LIT, PASSAGES, QUESTION
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.models.remote import Chat, Completions
from toulmin.models.scripted import ScriptedModel
from toulmin.models.server import Server
from toulmin.prompts.replies import Finish, Reply
from toulmin.prompts.structured import fields_of, sketch
from toulmin.prompts.templates import Templates, estimate_tokens
from toulmin.prompts.types import AnswerPrompt, Cite, JudgeClaim, NextClaim, Outline, Prompt, Summarise, Write
from toulmin.steps import Generate

HELD = {name: prompt for name, prompt in ALL.items() if prompt.schema() is not None}
LIT_IN_1824 = json.dumps({"claims": [{"text": "The tower was lit in 1824.", "passages": [1, 3]}]})
each = table("prompt", HELD.values(), ids=HELD)


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with running_stub() as running:
        yield running


def of_schema(schema: Any) -> st.SearchStrategy[Any]:
    """Anything that the schema allows."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "object":
        return st.fixed_dictionaries({name: of_schema(kind) for name, kind in schema["properties"].items()})
    if schema["type"] == "array":
        return st.lists(of_schema(schema["items"]), min_size=schema["minItems"], max_size=4)
    return st.text() if schema["type"] == "string" else st.none() | st.text()


# ---------------------------------------------------------------- what is read


@each
@given(data=st.data())
def test_whatever_a_schema_allows_can_be_read(prompt: Prompt[Any], data: st.DataObject):
    fields = data.draw(of_schema(prompt.schema()))
    assert prompt.read(json.dumps(fields)) == prompt.value(fields)


@pytest.mark.parametrize("mark", ["<THINK>", "</think>", "[THINK]", "<|channel|>final<|message|>"])
def test_marks_of_thinking_within_json_are_words_of_it(mark: str):
    prompt = ALL["next claim"]
    assert prompt.read(json.dumps({"sentence": mark})) == prompt.value({"sentence": mark})


@given(reply=st.recursive(st.none() | st.integers() | st.text(), lambda i: st.lists(i) | st.dictionaries(st.text(), i)))
def test_other_json_is_read_as_text(reply: Any):
    for prompt in HELD.values():
        prompt.read(json.dumps({"claims": reply}))


def test_every_typed_prompt_but_prose_has_a_schema():
    prose = {type(prompt).__name__ for name, prompt in ALL.items() if name not in HELD}
    held = {type(prompt).__name__ for prompt in HELD.values()}
    assert prose - held == {"Feedback", "Write"}


@pytest.mark.parametrize(
    "reply",
    [
        f"Sure, here it is:\n```json\n{LIT_IN_1824}\n```\nLet me know if you need more!",
        f"<think>The passages say 1824.</think>{LIT_IN_1824}",
        LIT_IN_1824.replace('"passages"', '"confidence": 0.9, "passages"'),
        LIT_IN_1824.replace("3]", "9, 3]"),
        LIT_IN_1824[:-2] + ', {"text": "Keepers left it in 19',
        LIT_IN_1824.replace("tower was", "tower\\nwas"),
    ],
    ids=[
        "fenced, with talk",
        "after thinking",
        "with a field unasked",
        "with a number unoffered",
        "cut off",
        "wrapped",
    ],
)
def test_what_surrounds_the_json_is_borne(reply: str):
    (claim,) = AnswerPrompt(QUESTION, PASSAGES).read(reply).claims
    assert (claim.text, claim.cited) == ("The tower was lit in 1824.", (PASSAGES[0].id, PASSAGES[2].id))


def test_a_brief_reply_is_one_text_with_its_passages():
    prompt = AnswerPrompt(QUESTION, PASSAGES)
    asked = Templates.compact(is_small=True).render(prompt, structured=True)
    assert asked.schema is not None
    assert list(asked.schema["properties"]) == ["answer", "passages"]
    claims = prompt.read('{"answer": "It was lit in 1824. Keepers left it.", "passages": [3]}').claims
    assert [(claim.text, claim.cited) for claim in claims] == [
        ("It was lit in 1824.", (PASSAGES[2].id,)),
        ("Keepers left it.", (PASSAGES[2].id,)),
    ]


def test_brief_text_at_its_limit_loses_cut_sentence():
    def texts(written: str) -> list[str]:
        reply = json.dumps({"answer": written, "passages": [1]})
        return [claim.text for claim in AnswerPrompt(QUESTION, PASSAGES).read(reply).claims]

    first, second = "The tower was lit in 1824.", "It was lit by " + 358 * "o" + "."
    assert [texts(f"{first} {second}"), texts(f"{first} {second}"[:-1] + "o")] == [[first, second], [first]]
    assert (texts(400 * "o"), texts("lit in 1824")) == ([], ["lit in 1824"])


@pytest.mark.parametrize(
    ("reply", "texts"),
    [
        ("H1 was built in 1735 [1]. The first sea clock, H2, was built in 17", ["H1 was built in 1735."]),
        ("H1 was built in 1735. [1]", ["H1 was built in 1735."]),
        ("Final Answer:\nThe first sea clock, H2, was built in 17", ["The first sea clock, H2, was built in 17"]),
    ],
    ids=["in its last sentence", "after its last sentence", "in its only sentence"],
)
def test_a_text_that_was_cut_off_loses_the_sentence_that_was_cut(reply: str, texts: list[str]):
    def told(finish: Finish) -> list[str]:
        writer = ScriptedModel(lambda request: Reply(reply, finish=finish))
        return [claim.text for claim in toulmin.ask(QUESTION, passages=PASSAGES, model=writer, method="vanilla").claims]

    assert told("length") == texts
    assert len(told("stop")) == 1 + ("H2" in reply and "H1" in reply)


def test_a_brief_list_is_a_list():
    asked = Templates.compact(is_small=True).render(AnswerPrompt(QUESTION, PASSAGES, "list"), structured=True)
    assert asked.schema == AnswerPrompt(QUESTION, PASSAGES, "list").schema()


def test_each_sentence_of_a_claim_cites_its_passages():
    text = json.dumps({"claims": [{"text": "It was lit in 1824 [2]. Keepers left it.", "passages": [1]}]})
    claims = AnswerPrompt(QUESTION, PASSAGES).read(text).claims
    assert [(claim.text, len(claim.citations)) for claim in claims] == [
        ("It was lit in 1824.", 2),
        ("Keepers left it.", 1),
    ]


def test_an_entity_with_a_comma_stays_one():
    items = [{"text": "Washington, D.C.", "passages": [1]}, {"text": "washington, d.c.", "passages": [2]}]
    (claim,) = AnswerPrompt(QUESTION, PASSAGES, "list").read(json.dumps({"claims": items})).claims
    assert (claim.text, len(claim.citations)) == ("Washington, D.C.", 2)


def test_no_claims_are_an_abstention():
    assert AnswerPrompt(QUESTION, PASSAGES).read('{"claims": []}').claims == ()


@pytest.mark.parametrize(
    ("prompt", "reply", "value"),
    [
        (NextClaim(QUESTION, "", PASSAGES), {"sentence": None}, None),
        (NextClaim(QUESTION, "", PASSAGES), {"sentence": "END"}, None),
        (Summarise(QUESTION, LIT), {"text": None}, None),
        (Summarise(QUESTION, LIT), {"text": "Lit in 1824."}, "Lit in 1824."),
        (JudgeClaim("It was lit.", PASSAGES), {"verdict": "contradicted"}, "contradicted"),
    ],
    ids=repr,
)
def test_the_value_of_a_reply(prompt: Prompt[Any], reply: Any, value: Any):
    assert prompt.read(json.dumps(reply)) == value


def test_a_number_that_was_not_offered_is_not_of_the_schema():
    assert Cite("It was lit.", PASSAGES).read('{"passages": [4]}').ids == ()


def test_a_plan_of_unnamed_parts_falls_back_on_the_topic():
    plan = Outline("Ashby", PASSAGES).read(json.dumps({"paragraphs": [{"title": " ", "description": "x"}]}))
    assert [part.title for part in plan] == ["Ashby"]


# ---------------------------------------------------------------- what is asked


@each
def test_the_words_show_the_form(prompt: Prompt[Any]):
    rendered = Templates.default().render(prompt, structured=True)
    assert sketch(prompt.schema()) in rendered.messages[0].content
    assert rendered.schema == prompt.schema()


@each
def test_the_form_is_no_reply_to_copy(prompt: Prompt[Any]):
    assert fields_of(sketch(prompt.schema()), prompt.schema()) is None


@each
def test_worked_examples_are_of_the_form(prompt: Prompt[Any]):
    messages = Templates.default().render(prompt, structured=True).messages
    for reply in (message.content for message in messages if message.role == "assistant"):
        assert {field for item in json.loads(reply)["claims"] for field in item} == {"text", "passages"}


def test_prose_stays_prose():
    prompt = Write("Ashby", PASSAGES)
    assert Templates.default().render(prompt, structured=True) == Templates.default().render(prompt)


def ask(model: Chat | Completions, prompt: Prompt[Any], **how: Any) -> Reply:
    async def asked() -> Any:
        try:
            return await model.generate([Generate(prompt, **how)])
        finally:
            await model.aclose()

    (reply,) = asyncio.run(asked())
    assert isinstance(reply, Reply)
    return reply


def held(stub: Stub, **how: Any) -> Server:
    return Server(**{"base_url": stub.url, "structured": True, "pause": 0.01, **how})


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(
    ("rejects", "form"),
    [((), "schema"), (("response_format",), "text")],
)
def test_a_server_is_held_to_the_schema_as_it_can_be(stub: Stub, streams: bool, rejects: tuple[str, ...], form: str):
    stub.script(Rule(reply=LIT_IN_1824, rejects=list(rejects)))
    prompt = AnswerPrompt(QUESTION, PASSAGES)
    reply = ask(Chat("stub", held(stub, stream=streams)), prompt)
    assert (reply.form, len(stub.asked())) == (form, len(rejects) + 1)
    (claim,) = prompt.read(reply.text).claims
    assert (claim.text, claim.cited) == ("The tower was lit in 1824.", (PASSAGES[0].id, PASSAGES[2].id))


def test_a_server_that_names_only_the_kind_of_form_is_asked_by_words(stub: Stub):
    refusal = {"error": {"message": "json_schema is not supported by this model"}}
    stub.script(Rule(fault="status", status=400, body=refusal, times=1), Rule(reply=LIT_IN_1824))
    assert ask(Chat("stub", held(stub)), AnswerPrompt(QUESTION, PASSAGES)).form == "text"


def test_the_passages_that_fit_are_the_ones_that_may_be_cited(stub: Stub):
    stub.script(Rule(reply=LIT_IN_1824))
    long = tuple(replace(p, id=f"{n}") for n in range(9) for p in PASSAGES)
    reply = ask(
        Chat("stub", held(stub, window=1400, max_tokens=100), Templates.default(0)), AnswerPrompt(QUESTION, long)
    )
    items = stub.asked()[-1]["body"]["response_format"]["json_schema"]["schema"]["properties"]["claims"]["items"]
    shown = items["properties"]["passages"]["items"]["enum"]
    assert 0 < len(shown) == len(long) - reply.omitted < len(long)


def test_log_probabilities_are_asked_of_free_text(stub: Stub):
    stub.script(Rule())
    assert ask(Chat("stub", held(stub)), JudgeClaim("It was lit.", PASSAGES), logprobs=2).form == "text"


def test_the_completion_route_has_no_schemas(stub: Stub):
    stub.script(Rule())
    assert ask(Completions("stub", held(stub)), Cite("It was lit.", PASSAGES)).form == "text"


def test_who_is_held_by_default():
    from toulmin.build.parts import server

    url = {"openai": {"base_url": "http://127.0.0.1:1/v1"}}
    own = Settings().override(prompts="mine.toml")
    assert [server(name, Settings()).structured for name in ("openai", "ollama", "vllm", "completions")] == [
        True,
        True,
        True,
        False,
    ]
    assert not server("openai", Settings().override(servers=url)).structured
    assert not server("ollama", own).structured
    assert server("ollama", own.override(structured=True)).structured


# ---------------------------------------------------------------- short texts for small models


def test_three_passages_take_less_than_500_tokens_in_short_words():
    from toulmin.extractive.windows import shorten

    body = "The lamp of the tower burned oil until it was changed for gas in a later year. " * 12
    text = f"{body}The tower was lit on 3 May 1824. {body}"
    passages = tuple(replace(Passage.of(text, f"Tower {n}"), id=str(n)) for n in range(3))
    for structured in (False, True):
        rendered = Templates.compact(shorten, is_small=True).render(
            AnswerPrompt(QUESTION, passages), structured=structured
        )
        assert estimate_tokens(rendered.text) < 500
        assert rendered.text.count("3 May 1824") == 3


@table("prompt", ALL.values(), ids=ALL)
def test_every_prompt_has_short_words(prompt: Prompt[Any]):
    short, full = (estimate_tokens(t.render(prompt).text) for t in (Templates.compact(), Templates.default(0)))
    assert short < full
