"""Models behind OpenAI-compatible servers, against a real server that errs on demand."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pickle
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table
from stub_server import ECHO, Rule, Stub, running_stub
from transcripts import from_json

import toulmin
from toulmin.data import Answer, Claim, Passage, Tokens
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Driver, Job, Outcome
from toulmin.driver.journal import to_json
from toulmin.driver.kit import Kit
from toulmin.errors import BudgetEnded, ModelError, UsageError
from toulmin.formats import answer_json
from toulmin.judges.lexical import Lexical
from toulmin.methods.direct import vanilla
from toulmin.models.client import Client
from toulmin.models.received import Broken, MalformedReply, ReplyBuilder
from toulmin.models.remote import Chat, Completions
from toulmin.models.server import OPENAI, RESAMPLING, Key, Price, Server, key_from, read_prices
from toulmin.parsing.wrapping import without_thinking
from toulmin.prompts.replies import EmptyReply, Reply
from toulmin.prompts.types import AnswerPrompt
from toulmin.retrieval.bm25 import StaticRanking
from toulmin.steps import Generate, Program, Tries, exchange, generate, together

LIT = Passage.of("The tower was lit for the first time on 3 May 1824.", "Kettle Rock")
KEEPERS = Passage.of("Three keepers lived in the tower until 1978.", "Kettle Rock")
PASSAGES = (LIT, KEEPERS)
ROUTES = (Chat, Completions)
both_routes = pytest.mark.parametrize("route", ROUTES)
streamed_or_whole = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@pytest.fixture(scope="module")
def server() -> Iterator[Stub]:
    with running_stub() as running:
        yield running


@pytest.fixture
def stub(server: Stub) -> Stub:
    server.script()
    return server


def at(stub: Stub, **chosen: Any) -> Server:
    """The stub with short waits."""
    waits = {"pause": 0.01, "retries": 2, "timeout": 10.0, "idle_timeout": 5.0}
    return Server(**{"base_url": stub.url, **waits, **chosen})


def asking(question: str = "When was the tower lit?", **fields: Any) -> Generate:
    return Generate(AnswerPrompt(question, PASSAGES), **fields)


async def closing(model: Chat, requests: tuple[Generate, ...]) -> list[Reply | ModelError]:
    try:
        return await model.generate(requests)
    finally:
        await model.aclose()


def replies(model: Chat, *requests: Generate) -> list[Reply | ModelError]:
    return asyncio.run(closing(model, requests or (asking(),)))


def reply(model: Chat, request: Generate | None = None) -> Reply:
    (one,) = replies(model, request or asking())
    assert isinstance(one, Reply), one
    return one


def error(model: Chat, request: Generate | None = None) -> str:
    (one,) = replies(model, request or asking())
    assert isinstance(one, ModelError), one
    return str(one)


def sent(stub: Stub) -> dict[str, Any]:
    """The body of the last request."""
    return stub.asked()[-1]["body"]


# ---------------------------------------------------------------- what is asked and read


@both_routes
@streamed_or_whole
def test_a_reply_is_the_text_that_the_server_wrote(stub: Stub, route: type[Chat], stream: bool):
    assert reply(route("stub", at(stub, stream=stream))).text == ECHO


@both_routes
@streamed_or_whole
def test_tokens_are_those_that_the_server_counted(stub: Stub, route: type[Chat], stream: bool):
    told = reply(route("stub", at(stub, stream=stream)))
    assert told.tokens.output == len(ECHO.split())


@streamed_or_whole
def test_without_a_count_of_the_server_tokens_are_estimated(stub: Stub, stream: bool):
    stub.script(Rule(usage=False))
    tokens = reply(Chat("stub", at(stub, stream=stream))).tokens
    assert min(tokens.input, tokens.output) > 0


def test_a_reply_names_the_model_as_the_server_does(stub: Stub):
    assert reply(Chat("stub", at(stub))).model == "stub-1"


@both_routes
def test_the_prompt_shows_question_and_passages(stub: Stub, route: type[Chat]):
    reply(route("stub", at(stub)))
    shown = str(sent(stub))
    assert all(text in shown for text in ("When was the tower lit?", LIT.text, KEEPERS.text))


@both_routes
def test_settings_of_the_server_go_with_every_request(stub: Stub, route: type[Chat]):
    settings = {"temperature": 0.4, "seed": 7, "max_tokens": 90, "stop": ("END",), "extra": {"top_k": 3}}
    reply(route("stub", at(stub, **settings)))
    expected = {"temperature": 0.4, "seed": 7, "max_tokens": 90, "top_k": 3}
    assert expected.items() <= sent(stub).items()
    assert sent(stub)["stop"][0] == "END"


def test_a_request_overrides_the_settings_of_the_server(stub: Stub):
    request = asking(temperature=1.1, max_tokens=30, stop=("\n",))
    reply(Chat("stub", at(stub, temperature=0.4, max_tokens=90)), request)
    assert {"temperature": 1.1, "max_tokens": 30, "stop": ["\n"]}.items() <= sent(stub).items()


def test_what_nobody_set_is_left_to_the_server(stub: Stub):
    reply(Chat("stub", at(stub)))
    assert sent(stub).keys() == {"model", "stream", "stream_options", "messages"}


def test_a_price_gives_the_cost_of_a_reply(stub: Stub):
    told = reply(Chat("stub", at(stub), prices={"stub": Price(1.0, 2.0)}))
    assert told.usd == pytest.approx((told.tokens.input + 2 * told.tokens.output) / 1_000_000)


def test_without_a_price_the_cost_is_unknown(stub: Stub):
    assert reply(Chat("stub", at(stub), prices={"another": Price(1.0, 2.0)})).usd is None


@both_routes
@streamed_or_whole
def test_log_probabilities_come_a_token_with_alternatives(stub: Stub, route: type[Chat], stream: bool):
    logprobs = reply(route("stub", at(stub, stream=stream)), asking(logprobs=2)).logprobs
    assert logprobs is not None
    assert ("".join(one.token for one in logprobs), logprobs[0].top) == (ECHO, (("other0", -1.0), ("other1", -2.0)))


def test_log_probabilities_are_not_asked_for_unbidden(stub: Stub):
    assert reply(Chat("stub", at(stub))).logprobs is None


def test_log_probabilities_leave_thinking_out(stub: Stub):
    stub.script(Rule(reply="<think>I wonder </think>It was 1824."))
    logprobs = reply(Chat("stub", at(stub, stream=False)), asking(logprobs=0)).logprobs
    assert logprobs is not None
    assert "".join(one.token for one in logprobs).endswith("It was 1824.")
    assert "wonder" not in "".join(one.token for one in logprobs)


def test_a_reply_that_was_cut_off_says_so(stub: Stub):
    stub.script(Rule(finish="length"))
    assert reply(Chat("stub", at(stub))).finish == "length"


@streamed_or_whole
def test_a_refusal_is_a_reply_that_says_so(stub: Stub, stream: bool):
    stub.script(Rule(reply="", refusal="I cannot help with that."))
    told = reply(Chat("stub", at(stub, stream=stream)))
    assert (told.text, told.finish) == ("I cannot help with that.", "refused")


def test_a_reply_that_a_filter_ended_says_so(stub: Stub):
    stub.script(Rule(finish="content_filter"))
    assert (reply(Chat("stub", at(stub))).text, reply(Chat("stub", at(stub))).finish) == (ECHO, "filtered")


def test_a_reply_that_a_filter_ended_is_noted_in_the_answer(stub: Stub):
    stub.script(Rule(finish="content_filter"))
    model = Chat("stub", at(stub))

    async def ask() -> toulmin.Answer:
        try:
            return await toulmin.aio.ask("When was the tower lit?", passages=PASSAGES, model=model, method="vanilla")
        finally:
            await model.aclose()

    answer = asyncio.run(ask())
    assert answer.claims
    assert "content filter removed a reply of stub" in " ".join(answer.notes)


@streamed_or_whole
def test_a_compressed_reply_is_not_unpacked(stub: Stub, stream: bool):
    stub.script(Rule(fault="gzip"))
    assert "not compressed" in error(Chat("stub", at(stub, stream=stream, retries=0)))


@pytest.mark.parametrize("status", [200, 500])
def test_a_reply_nested_too_deep_to_be_read_is_an_error_of_the_model(stub: Stub, status: int):
    stub.script(Rule(fault="nested", status=status))
    assert "sent no valid reply" in error(Chat("stub", at(stub, stream=False, retries=0)))


def test_an_empty_text_is_an_empty_text(stub: Stub):
    stub.script(Rule(reply=""))
    assert reply(Chat("stub", at(stub))).text == ""


def test_a_reply_cut_off_before_its_first_word_is_an_error_that_says_so(stub: Stub):
    stub.script(Rule(reply="<think>Well, first", finish="length"))
    assert "max_tokens" in error(Chat("stub", at(stub)))


@streamed_or_whole
def test_thinking_that_the_server_tells_apart_is_no_text(stub: Stub, stream: bool):
    stub.script(Rule(reasoning="Let me see. The tower..."))
    assert reply(Chat("stub", at(stub, stream=stream))).text == ECHO


@streamed_or_whole
def test_thinking_without_an_answer_is_an_error(stub: Stub, stream: bool):
    stub.script(Rule(reply="", reasoning="Let me see. The tower..."))
    assert "wrote no answer" in error(Chat("stub", at(stub, stream=stream)))


def test_a_stop_sequence_holds_where_the_server_takes_none(stub: Stub):
    stub.script(Rule(reply="One. STOP Two.", rejects=["stop"]))
    assert reply(Chat("stub", at(stub)), asking(stop=("STOP",))).text == "One. "


# ---------------------------------------------------------------- samples


def test_another_sample_has_another_seed_and_the_same_temperature(stub: Stub):
    replies(Chat("stub", at(stub, seed=7, temperature=0.5)), asking(), asking(sample=2))
    first, other = (each["body"] for each in stub.asked())
    assert (first["seed"], other["seed"] != 7) == (7, True)
    assert (first["temperature"], other["temperature"]) == (0.5, 0.5)


def test_draws_of_other_seeds_samples_and_roles_have_seeds_of_their_own():
    models = [Chat("stub", Server(seed=seed)) for seed in range(50)]
    draws = [asking(sample=sample, role=role) for sample in range(20) for role in ("main", "verifier")]
    seeds = {model.seed_of(draw) for model in models for draw in draws}
    assert len(seeds) == len(models) * len(draws)
    assert all(seed is not None and 0 <= seed < 2**31 for seed in seeds)


@pytest.mark.parametrize("set_on", ["the server", "the request"])
@pytest.mark.parametrize("temperature", [0.0, 0.2, 1.3])
def test_another_draw_keeps_the_temperature_that_was_asked_for(stub: Stub, temperature: float, set_on: str):
    server = at(stub, temperature=temperature if set_on == "the server" else 0.9)
    replies(Chat("stub", server), asking(sample=1, temperature=None if set_on == "the server" else temperature))
    assert sent(stub)["temperature"] == temperature


def test_another_draw_has_a_temperature_where_none_was_asked_for(stub: Stub):
    replies(Chat("stub", at(stub)), asking(sample=1))
    assert sent(stub)["temperature"] == RESAMPLING


def test_top_p_goes_with_every_request(stub: Stub):
    replies(Chat("stub", at(stub, top_p=0.9)), asking(), asking(sample=1))
    assert [each["body"]["top_p"] for each in stub.asked()] == [0.9, 0.9]


def test_the_first_sample_keeps_temperature_0(stub: Stub):
    replies(Chat("stub", at(stub, temperature=0.0)), asking())
    assert sent(stub)["temperature"] == 0.0


# ---------------------------------------------------------------- servers that differ


@pytest.mark.parametrize("field", ["stream_options", "seed", "temperature", "max_tokens", "stop"])
def test_a_field_that_the_server_rejects_is_left_out(stub: Stub, field: str):
    stub.script(Rule(rejects=[field]))
    model = Chat("stub", at(stub, seed=7, temperature=0.5, max_tokens=50, stop=("END",)))
    assert (reply(model).text, field in sent(stub), len(stub.asked())) == (ECHO, False, 2)


def test_a_rejected_field_is_not_sent_again(stub: Stub):
    stub.script(Rule(rejects=["seed"]))
    model = Chat("stub", at(stub, seed=7))
    replies(model), replies(model)
    assert len(stub.asked()) == 3


def test_one_name_of_the_reply_limit_stands_in_for_the_other(stub: Stub):
    stub.script(Rule(rejects=["max_tokens"]))
    reply(Chat("stub", at(stub, max_tokens=50)))
    assert sent(stub)["max_completion_tokens"] == 50


def test_a_server_that_streams_nothing_is_understood(stub: Stub):
    stub.script(Rule(ignores_stream=True))
    assert reply(Chat("stub", at(stub))).text == ECHO


def test_a_rejected_field_is_left_out_of_requests_already_in_flight(stub: Stub):
    stub.script(Rule(rejects=["seed"], latency=0.05))
    told = replies(Chat("stub", at(stub, seed=7)), *(asking(f"Question {i}?") for i in range(4)))
    assert [one.text for one in told] == [ECHO] * 4


@pytest.mark.parametrize("message", ["max_tokens is too large: 9000.", "temperature must be at most 2."])
def test_a_value_out_of_range_is_an_error_and_not_left_out(stub: Stub, message: str):
    body = {"error": {"message": message, "param": message.split()[0]}}
    stub.script(Rule(fault="status", status=400, body=body))
    assert message in error(Chat("stub", at(stub, temperature=3.0, max_tokens=9000)))
    assert len(stub.asked()) == 1


def test_the_words_of_other_servers_for_an_unknown_field_are_understood(stub: Stub):
    said = {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}
    stub.script(Rule(fault="status", status=422, body=said, times=1))
    model = Chat("stub", at(stub, seed=7))
    assert (reply(model).text, "seed" in sent(stub)) == (ECHO, False)


def test_a_model_without_a_system_role_is_told_the_same_by_the_user(stub: Stub):
    model = Chat("stub", at(stub))
    told = " ".join(message["content"] for message in _messages(stub, model))
    stub.script(Rule(rejects=["system"]))
    first, *others = _messages(stub, model)
    assert " ".join((first["content"], *(m["content"] for m in others))).split() == told.split()
    assert first["role"] == "user"


def _messages(stub: Stub, model: Chat) -> list[dict[str, str]]:
    reply(model)
    return sent(stub)["messages"]


def test_a_model_that_goes_on_with_a_question_of_its_own_is_stopped(stub: Stub):
    stub.script(Rule(reply=f"{ECHO}\n\n\nQuestion: And who built it?"))
    assert reply(Completions("stub", at(stub))).text == ECHO


def test_openais_own_server_is_sent_its_newer_name_of_the_reply_limit():
    assert '"max_completion_tokens": 9' in Chat("stub").key(asking(max_tokens=9))


@pytest.mark.parametrize("name", ["seed", "top_k"])
def test_a_field_of_the_users_own_is_never_left_out(stub: Stub, name: str):
    stub.script(Rule(rejects=[name]))
    assert name in error(Chat("stub", at(stub, extra={name: 3})))
    assert len(stub.asked()) == 1


def test_a_server_that_wants_no_key_is_sent_none(stub: Stub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-server")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin")
    reply(Chat("stub", at(stub)))
    assert stub.asked()[-1]["authorization"] == ""


def test_a_server_is_sent_no_header_that_is_not_for_it(stub: Stub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: of another server")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    reply(Chat("stub", at(stub)))
    headers = stub.asked()[-1]["headers"]
    assert headers.pop("user-agent") == f"toulmin/{toulmin.__version__}"
    assert set(headers) == set("accept accept-encoding connection content-length content-type host".split())


def test_openais_own_server_is_told_whom_to_charge(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-mine")

    async def headers() -> Any:
        with Client(Server(key=Key("sk-mine")))._connection() as connection:
            return connection.headers

    sent = asyncio.run(headers())
    assert (sent["OpenAI-Organization"], sent["OpenAI-Project"]) == ("org-mine", "project-mine")


def test_the_key_goes_to_the_server(stub: Stub):
    reply(Chat("stub", at(stub, key=Key("sk-mine"))))
    assert stub.asked()[-1]["authorization"] == "Bearer sk-mine"


def test_the_server_lists_its_models(stub: Stub):
    async def listed() -> tuple[str, ...]:
        model = Chat("any", at(stub))
        try:
            return await model.models()
        finally:
            await model.aclose()

    stub.script(models=("small", "large"))
    assert asyncio.run(listed()) == ("small", "large")


def test_one_model_serves_several_event_loops(stub: Stub):
    model = Chat("stub", at(stub))
    assert [reply(model).text, reply(model).text] == [ECHO, ECHO]


# ---------------------------------------------------------------- windows


def long_prompt(count: int) -> Generate:
    passages = tuple(Passage.of(f"Fact {i}: " + "the lamp burned all night. " * 20, "Lamp") for i in range(count))
    return Generate(AnswerPrompt("When was the tower lit?", passages))


def test_a_prompt_beyond_the_window_loses_passages_from_its_end(stub: Stub):
    told = reply(Chat("stub", at(stub, window=3_000, max_tokens=200)), long_prompt(30))
    shown = str(sent(stub)["messages"])
    assert (told.omitted > 0, "Fact 0:" in shown, f"Fact {30 - told.omitted}:" in shown) == (True, True, False)


def test_a_server_that_names_its_window_is_sent_a_shorter_prompt(stub: Stub):
    stub.script(Rule(window=2_500))
    told = reply(Chat("stub", at(stub)), long_prompt(30))
    assert (told.text, told.omitted > 0, len(stub.asked())) == (ECHO, True, 2)


def test_what_one_prompt_was_too_long_for_changes_no_other(stub: Stub):
    stub.script(Rule("Fact 29", window=100), Rule())
    _, other = replies(Chat("stub", at(stub)), long_prompt(30), long_prompt(25))
    assert (other.text, other.omitted) == (ECHO, 0)


def test_a_prompt_that_never_fits_is_an_error_after_a_few_tries(stub: Stub):
    stub.script(Rule(window=3))
    assert "window" in error(Chat("stub", at(stub)))
    assert len(stub.asked()) <= 4


# ---------------------------------------------------------------- faults


FAULTS = ("cut", "json", "empty")
STREAM_FAULTS = ("closed", "sse", "late_error")
faulty = pytest.mark.parametrize(
    ("fault", "stream"),
    [(fault, stream) for fault in FAULTS for stream in (True, False)] + [(fault, True) for fault in STREAM_FAULTS],
)


@both_routes
@faulty
def test_a_fault_that_passes_is_overcome(stub: Stub, route: type[Chat], fault: str, stream: bool):
    stub.script(Rule(fault=fault, times=2))
    assert reply(route("stub", at(stub, stream=stream))).text == ECHO


@faulty
def test_a_fault_that_stays_is_an_error_after_so_many_tries(stub: Stub, fault: str, stream: bool):
    stub.script(Rule(fault=fault))
    assert "127.0.0.1" in error(Chat("stub", at(stub, stream=stream)))
    assert len(stub.asked()) == 3


@pytest.mark.parametrize("fault", ["closed", "cut", "late_error"])
def test_words_of_a_stream_that_broke_off_are_counted(stub: Stub, fault: str):
    stub.script(Rule(fault=fault, reply="word " * 300))
    (failed,) = replies(Chat("stub", at(stub, retries=1), prices={"stub": Price(1.0, 1.0)}))
    assert isinstance(failed, EmptyReply)
    assert failed.reply.tokens.output >= 2 * 150
    assert failed.reply.usd > 0
    stub.script(Rule(fault=fault, reply="word " * 300, times=1))
    tokens = reply(Chat("stub", at(stub))).tokens
    assert tokens.output >= 150 + len(ECHO.split())


def test_a_server_of_this_machine_is_reached_without_a_proxy(stub: Stub, monkeypatch: pytest.MonkeyPatch):
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    assert reply(Chat("stub", at(stub))).text == ECHO


@pytest.mark.parametrize("fault", ["lingers", "slams"])
def test_a_complete_reply_survives_any_end_of_connection(stub: Stub, fault: str):
    stub.script(Rule(fault=fault))
    assert (reply(Chat("stub", at(stub, idle_timeout=30.0, timeout=60.0))).text, len(stub.asked())) == (ECHO, 1)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_status_that_passes_is_tried_again(stub: Stub, status: int):
    stub.script(Rule(fault="status", status=status, times=2))
    assert (reply(Chat("stub", at(stub))).text, len(stub.asked())) == (ECHO, 3)


@pytest.mark.parametrize("status", [307, 400, 401, 403, 404, 413, 422, 501])
def test_a_status_that_does_not_pass_is_asked_once(stub: Stub, status: int):
    stub.script(Rule(fault="status", status=status))
    assert f"answered {status}" in error(Chat("stub", at(stub)))
    assert len(stub.asked()) == 1


def test_a_spent_quota_is_not_tried_again(stub: Stub):
    stub.script(Rule(fault="status", status=429, body={"error": {"message": "x", "code": "insufficient_quota"}}))
    assert "credit" in error(Chat("stub", at(stub)))
    assert len(stub.asked()) == 1


class Clock:
    """The pauses that were made, on a real clock that is only read."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()

    def seconds(self, model: Chat) -> float:
        started = self.loop.time()
        try:
            self.loop.run_until_complete(closing(model, (asking(),)))
            return self.loop.time() - started
        finally:
            self.loop.close()


def test_retry_after_in_seconds_is_waited_for(stub: Stub):
    stub.script(Rule(fault="status", status=429, headers={"retry-after": "1"}, times=1))
    assert Clock().seconds(Chat("stub", at(stub))) >= 1.0


def test_retry_after_as_a_date_is_waited_for(stub: Stub):
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    stub.script(Rule(fault="status", status=503, headers={"retry-after": date}, times=1))
    assert Clock().seconds(Chat("stub", at(stub))) >= 0.9


@pytest.mark.parametrize("header", ["3600", "Fri, 31 Dec 2199 23:59:59 GMT"])
def test_a_wait_beyond_the_timeout_is_not_begun(stub: Stub, header: str):
    stub.script(Rule(fault="status", status=429, headers={"retry-after": header}))
    assert "asks to wait" in error(Chat("stub", at(stub)))
    assert len(stub.asked()) == 1


@pytest.mark.parametrize("header", ["-1", "nan", "soon", ""])
def test_a_retry_after_that_means_nothing_is_passed_over(stub: Stub, header: str):
    stub.script(Rule(fault="status", status=429, headers={"retry-after": header}, times=1))
    assert reply(Chat("stub", at(stub))).text == ECHO


@pytest.mark.parametrize(("fault", "stream"), [("hang", True), ("hang", False), ("stall", True)])
def test_a_server_that_falls_silent_is_left_after_the_idle_timeout(stub: Stub, fault: str, stream: bool):
    stub.script(Rule(fault=fault))
    assert "sent nothing for 0.1 s" in error(Chat("stub", at(stub, idle_timeout=0.1, stream=stream)))
    assert len(stub.asked()) == 3


def test_a_server_that_drips_is_left_after_the_timeout(stub: Stub):
    stub.script(Rule(fault="drip"))
    assert "within 0.3 s" in error(Chat("stub", at(stub, timeout=0.3)))


def test_the_timeout_holds_over_all_tries_and_names_the_last_failure(stub: Stub):
    stub.script(Rule(fault="status", status=500))
    assert "answered 500" in error(Chat("stub", at(stub, timeout=0.4, retries=1_000, pause=0.05)))


@streamed_or_whole
def test_a_reply_without_end_is_an_error(stub: Stub, stream: bool):
    stub.script(Rule(reply="word " * 250_000))
    assert "1,000,000 characters" in error(Chat("stub", at(stub, stream=stream)))
    assert len(stub.asked()) == 1


def test_a_large_reply_within_the_bound_is_read(stub: Stub):
    stub.script(Rule(reply="word " * 190_000))
    assert len(reply(Chat("stub", at(stub, stream=False))).text) == 950_000


def test_a_server_that_is_not_there_is_named():
    message = error(Chat("stub", Server(base_url="http://127.0.0.1:9/v1", retries=1, pause=0.01)))
    assert "Is the server running at 127.0.0.1:9?" in message


def test_an_unknown_model_is_told_those_that_the_server_has(stub: Stub):
    stub.script(models=("stub-large", "other"))
    assert "stub-large" in error(Chat("stub-larg", at(stub)))


def test_without_a_key_the_error_says_where_to_set_one(stub: Stub):
    stub.script(Rule(fault="status", status=401))
    assert "set OPENAI_API_KEY" in error(Chat("stub", at(stub)))


def test_openais_own_server_is_not_asked_without_a_key():
    assert "was not asked. It wants a key: set OPENAI_API_KEY" in error(Chat("any", Server()))


def test_a_failed_request_touches_no_other(stub: Stub):
    stub.script(Rule("Who lived there", fault="status", status=500), Rule())
    first, second, third = replies(Chat("stub", at(stub)), asking(), asking("Who lived there?"), asking())
    assert ([first.text, third.text], type(second)) == ([ECHO, ECHO], ModelError)


def test_an_error_repeats_nothing_of_the_prompt(stub: Stub):
    echo = {"error": {"message": f"bad input: {LIT.text} When was the tower lit?"}}
    stub.script(Rule(fault="status", status=400, body=echo))
    message = error(Chat("stub", at(stub)))
    assert ("bad input" in message, "May 1824" in message, "tower lit" in message) == (True, False, False)


def test_an_error_is_short_and_one_line(stub: Stub):
    stub.script(Rule(fault="status", status=500, body="<html>\n\x1b[31m" + "wrong " * 500))
    message = error(Chat("stub", at(stub, retries=0)))
    assert (len(message) < 350, message.isprintable()) == (True, True)


def test_words_of_a_passage_in_an_error_change_no_setting(stub: Stub):
    planted = Passage.of("The parameters seed and temperature are unsupported and the context length is exceeded.")
    stub.script(Rule(fault="status", status=400, body={"error": {"message": f"no: {planted.text}"}}))
    model = Chat("stub", at(stub, seed=7))
    error(model, Generate(AnswerPrompt("Which?", (planted,))))
    assert len(stub.asked()) == 1


def test_cancelling_closes_the_connection(stub: Stub):
    stub.script(Rule(fault="drip"))

    async def cancelled() -> None:
        model = Chat("stub", at(stub))
        task = asyncio.create_task(model.generate([asking()]))
        while not await asyncio.to_thread(stub.asked):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while not await asyncio.to_thread(stub.cut_off):
            await asyncio.sleep(0.01)
        await model.aclose()

    asyncio.run(asyncio.wait_for(cancelled(), 10))
    assert stub.cut_off() == 1


def test_no_more_requests_than_the_concurrency_are_in_flight(stub: Stub):
    stub.script(Rule(fault="drip"))
    model = Chat("stub", at(stub, concurrency=2, timeout=0.9))
    asyncio.run(closing(model, tuple(asking(f"Question {i}?") for i in range(4))))
    first, _, third, _ = (entry["at"] for entry in stub.asked())
    assert third - first >= 0.75


# ---------------------------------------------------------------- through the driver


async def _outcomes(stub: Stub, questions: list[str], **settings: Any) -> list[Outcome]:
    model = Chat("stub", at(stub, **settings))
    try:
        driver = Driver(Kit(StaticRanking(PASSAGES), Lexical(), {"main": model}))
        jobs = [Job(q, "vanilla", "long", lambda q=q: vanilla(q)) for q in questions]
        return [outcome async for outcome in driver.in_order(jobs)]
    finally:
        await model.aclose()


def outcomes(stub: Stub, *questions: str, **settings: Any) -> list[Outcome]:
    return asyncio.run(_outcomes(stub, list(questions), **settings))


@pytest.mark.parametrize(
    "rule",
    [Rule(fault=fault) for fault in (*FAULTS, *STREAM_FAULTS, "hang", "status")]
    + [Rule(fault="status", status=429), Rule(fault="status", status=429, headers={"retry-after": "900"})]
    + [Rule(reply="word " * 250_000)],
    ids=lambda rule: f"{rule.fault}-{rule.status}-{len(rule.headers)}",
)
def test_one_questions_failure_neither_stops_nor_changes_another(stub: Stub, rule: Rule):
    alone = [outcome.answer.claims for outcome in outcomes(stub, "When was the tower lit?")]
    rule.match = "Who broke"
    stub.script(rule)
    first, broken, last = outcomes(
        stub, "When was the tower lit?", "Who broke it?", "When was the tower lit?", idle_timeout=0.3
    )
    assert ([first.answer.claims], [last.answer.claims]) == (alone, alone)
    assert (broken.answer.status, broken.exit_code) == ("failed", 4)
    assert "127.0.0.1" in broken.answer.notes[0]


def test_an_empty_reply_is_an_abstention(stub: Stub):
    stub.script(Rule(reply=""))
    (outcome,) = outcomes(stub, "When was the tower lit?")
    assert outcome.answer.status == "abstained"


def test_an_answer_counts_what_the_server_counted(stub: Stub):
    (outcome,) = outcomes(stub, "When was the tower lit?")
    assert outcome.answer.usage.tokens["main"].output == len(ECHO.split())


def test_an_answer_says_what_the_window_could_not_hold(stub: Stub):
    stub.script(Rule(window=700))
    (outcome,) = outcomes(stub, "When was the tower lit?", window=560, max_tokens=20)
    assert "window" in " ".join(outcome.answer.notes)


# ---------------------------------------------------------------- what failures cost


def drawing(question: str, count: int = 3) -> Program[Answer]:
    """Draws side by side, then once more."""
    prompt = AnswerPrompt(question, PASSAGES)
    yield from together([exchange(prompt, sample=i) for i in range(count)])
    yield from generate(prompt, sample=count)
    return Answer(question, "long", "drawing", "answered", (Claim(question),))


async def _spend(stub: Stub, budget: Budget, settings: dict[str, Any]) -> Outcome:
    model = Chat("stub", at(stub, **settings), prices={"stub": Price(1.0, 2.0)})
    try:
        question = "When was the tower lit?"
        job = Job(question, "drawing", "long", lambda: drawing(question), budget=budget)
        return await Driver(Kit(StaticRanking(PASSAGES), Lexical(), {"main": model})).answer(job)
    finally:
        await model.aclose()


def spend(stub: Stub, budget: Budget | None = None, **settings: Any) -> Outcome:
    return asyncio.run(_spend(stub, budget or Budget(), settings))


def replayed(outcome: Outcome) -> Answer:
    """The answer of its transcript, written and read, without any part."""
    recorded = from_json(to_json(outcome.transcript))
    again = asyncio.run(Driver(Kit(None, None)).answer(outcome.job, replay=recorded))  # type: ignore[arg-type]
    assert to_json(again.transcript) == to_json(outcome.transcript)
    return again.answer


THOUGHT = "the tower was lit long ago"
COSTLY = [
    *(Rule(fault=fault, times=2) for fault in (*FAULTS, *STREAM_FAULTS)),
    *(Rule(fault="status", status=status, times=2) for status in (429, 503)),
    Rule(fault="hang", times=1),
    Rule(rejects=["seed", "stop"]),
    Rule(window=700),
    Rule(reply="", finish="length"),
    Rule(reply="", reasoning=THOUGHT),
    Rule(fault="status"),
]
costly = pytest.mark.parametrize(
    "rule", COSTLY, ids=lambda r: f"{r.fault or r.finish}-{r.status}-{len(r.rejects)}-{r.times}"
)


@costly
def test_usage_counts_every_request_that_was_sent(stub: Stub, rule: Rule):
    stub.script(rule)
    usage = spend(stub, idle_timeout=0.3, seed=3, stop=("###",)).answer.usage
    assert usage.calls["main"] == len(stub.asked())


@costly
@pytest.mark.parametrize("calls", [1, 3, 5])
def test_call_budget_is_never_exceeded_in_a_replay(stub: Stub, rule: Rule, calls: int):
    stub.script(rule)
    outcome = spend(stub, Budget(calls=calls), idle_timeout=0.3, seed=3, stop=("###",))
    assert len(stub.asked()) <= outcome.answer.usage.calls["main"] <= calls
    assert replayed(outcome) == outcome.answer


def test_a_budget_that_failed_tries_spent_says_what_failed(stub: Stub):
    stub.script(Rule(fault="status", status=503, headers={"retry-after": "5"}))
    outcome = spend(stub, Budget(calls=1))
    assert (outcome.exit_code, len(stub.asked())) == (5, 1)
    assert "--max-calls. Before that: The model stub at 127.0.0.1" in outcome.answer.notes[0]


def test_a_spent_budget_does_not_charge_parallel_requests(stub: Stub):
    stub.script(Rule(fault="status", times=1))

    class Spent(Tries):
        def check(self) -> None:
            raise BudgetEnded("spent")

    poor, rich = replies(Chat("stub", at(stub)), asking(tries=Spent()), asking(sample=1))
    assert (type(poor), type(rich)) == (BudgetEnded, Reply)


EMPTY = [(Rule(reply="", finish="length"), 0), (Rule(reply=f"<think>{THOUGHT}</think>"), 6)]


@pytest.mark.parametrize(("rule", "output"), EMPTY, ids=["cut off", "thought"])
def test_a_reply_without_an_answer_costs_what_the_server_counted(stub: Stub, rule: Rule, output: int):
    stub.script(rule)
    (empty,) = replies(Chat("stub", at(stub)))
    prompt = sum(len(message["content"].split()) for message in sent(stub)["messages"])
    assert isinstance(empty, EmptyReply)
    assert empty.reply.tokens == Tokens(prompt, output)
    usage = spend(stub).answer.usage
    assert usage.tokens["main"] == Tokens(3 * prompt, 3 * output)  # the first failure ends the answer
    assert usage.usd == pytest.approx((3 * prompt + 6 * output) / 1e6)


def test_separate_thinking_is_estimated_without_a_count(stub: Stub):
    stub.script(Rule(reply="", reasoning=THOUGHT, usage=False))
    (empty,) = replies(Chat("stub", at(stub)))
    assert isinstance(empty, EmptyReply)
    assert 6 <= empty.reply.tokens.output <= 12


def test_tokens_of_a_reply_without_an_answer_count_towards_the_budget(stub: Stub):
    stub.script(Rule(reply="", finish="length"))

    def trying(question: str) -> Program[Answer]:
        for sample in range(5):
            with contextlib.suppress(ModelError):
                yield from generate(AnswerPrompt(question, PASSAGES), sample=sample)
        return Answer(question, "long", "trying", "abstained")

    async def run() -> Outcome:
        model = Chat("stub", at(stub))
        job = Job("Why?", "trying", "long", lambda: trying("Why?"), budget=Budget(tokens=10))
        try:
            return await Driver(Kit(StaticRanking(PASSAGES), Lexical(), {"main": model})).answer(job)
        finally:
            await model.aclose()

    assert (asyncio.run(run()).exit_code, len(stub.asked())) == (5, 1)


def test_a_reply_without_an_answer_keeps_its_cost_between_processes():
    empty = pickle.loads(pickle.dumps(EmptyReply("no", Reply("", tokens=Tokens(3, 4)))))
    assert (str(empty), empty.reply.tokens) == ("no", Tokens(3, 4))


# ---------------------------------------------------------------- whatever a server may send


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
NAMES = st.sampled_from(
    "error choices delta message content text refusal usage prompt_tokens completion_tokens logprobs tokens"
    " token_logprobs top_logprobs token logprob index finish_reason model reasoning".split()
)
ANY_JSON = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5), max_leaves=12
)
CHOICE = st.dictionaries(NAMES, ANY_JSON, max_size=5)
EVENT = ANY_JSON | st.fixed_dictionaries({"choices": st.lists(CHOICE | ANY_JSON, max_size=3), "usage": ANY_JSON})


@given(st.lists(EVENT, max_size=4))
@settings(deadline=None, max_examples=200)
def test_whatever_json_comes_is_read_or_called_malformed(events: list[Any]):
    received = ReplyBuilder()
    with contextlib.suppress(MalformedReply, Broken):
        for event in events:
            received.add(event)
    assert isinstance(received.text, str)


MARKS = ("<think>", "</think>", "<THINKING>", "</thinking>", "[THINK]", "[/THINK]", "◁think▷", "◁/think▷")
CHANNELS = ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|end|>", "<|start|>assistant")
WORDS = ("analysis", "assistantfinal", "One. ", "Two [1]. ", "\n", "<b>")


@given(st.lists(st.sampled_from(MARKS + CHANNELS[:2] + WORDS), max_size=12).map("".join))
@settings(deadline=None, max_examples=300)
def test_no_mark_of_thinking_is_ever_left(text: str):
    left = without_thinking(text).casefold()
    assert [mark for mark in (*MARKS, *CHANNELS[:2]) if mark.casefold() in left] == []


@given(st.sampled_from(MARKS[::2]), st.text(max_size=30), st.sampled_from(WORDS[2:4]))
@settings(deadline=None, max_examples=100)
def test_whatever_is_thought_the_answer_after_it_stays(opening: str, thought: str, answer: str):
    closing = {"<think>": "</think>", "<THINKING>": "</THINKING>", "[THINK]": "[/THINK]", "◁think▷": "◁/think▷"}
    assert without_thinking(f"{opening}{thought}{closing[opening]}{answer}") == answer.strip()


# ---------------------------------------------------------------- keys


SECRET = "sk-4f9a-never-to-be-seen-77"


def seen(stub: Stub, caplog: pytest.LogCaptureFixture, **settings: Any) -> str:
    """Everything that a run with that key leaves behind."""
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "httpx2", "httpcore2", "stamina", "asyncio"):
        caplog.set_level(logging.DEBUG, logger=name)
    server = at(stub, key=Key(SECRET), **settings)
    model = Chat("stub", server)
    (outcome,) = asyncio.run(_outcomes(stub, ["When was the tower lit?"], key=Key(SECRET), **settings))
    raised = "".join(traceback.format_exception(outcome.error)) if outcome.error else ""
    chain = repr(
        (outcome.error, getattr(outcome.error, "__cause__", None), getattr(outcome.error, "__context__", None))
    )
    logs = "\n".join(f"{record.getMessage()} {record.args!r} {record.__dict__!r}" for record in caplog.records)
    parts = (raised, chain, logs, repr(server), repr(model), str(vars(model)), model.key(asking()), repr(outcome))
    assert len(logs) > 500  # the log was really on
    return "\n".join((*parts, answer_json.dumps(outcome.answer).decode(), to_json(outcome.transcript).decode()))


def test_a_key_is_nowhere_to_be_seen_after_a_working_call(stub: Stub, caplog: pytest.LogCaptureFixture):
    left = seen(stub, caplog)
    assert stub.asked()[-1]["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in left


@pytest.mark.parametrize(
    "rule",
    [
        Rule(fault="status", status=401, body={"error": {"message": f"Incorrect API key provided: {SECRET}"}}),
        Rule(fault="status", status=500, body=f"x {SECRET} x"),
        Rule(fault="late_error"),
        Rule(fault="cut"),
    ],
    ids=lambda rule: f"{rule.fault}-{rule.status}",
)
def test_a_key_is_nowhere_to_be_seen_after_a_failed_call(stub: Stub, caplog: pytest.LogCaptureFixture, rule: Rule):
    stub.script(rule)
    assert SECRET not in seen(stub, caplog)


def test_a_key_shows_itself_to_nobody():
    key = Key(SECRET)
    assert SECRET not in f"{key} {key!r} {Server(key=key)!r} {key.__hash__()}"


def test_a_key_is_not_pickled():
    import pickle

    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(Server(key=Key(SECRET)))


def test_a_key_comes_from_the_environment():
    assert key_from({"OPENAI_API_KEY": f" {SECRET}\n"}) == Key(SECRET)


def test_a_key_comes_from_the_variable_that_is_named():
    assert key_from({"OPENAI_API_KEY": "sk-other", "MINE": SECRET}, "MINE") == Key(SECRET)


def test_no_key_is_no_error():
    assert key_from({}) is None


def key_file(folder: Path, mode: int, text: str = f"{SECRET}\n") -> Path:
    path = folder / "key"
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_key_comes_from_a_file_of_its_owner(tmp_path: Path, mode: int):
    assert key_from({"OPENAI_API_KEY": "sk-other"}, file=key_file(tmp_path, mode)) == Key(SECRET)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are a matter of POSIX")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o604, 0o601])
def test_a_key_file_that_others_can_read_is_an_error_that_says_what_to_do(tmp_path: Path, mode: int):
    with pytest.raises(UsageError, match="chmod 600"):
        key_from({}, file=key_file(tmp_path, mode))


def test_a_credential_of_systemd_is_read_whatever_its_mode_shows(tmp_path: Path):
    path = key_file(tmp_path, 0o440)
    assert key_from({"CREDENTIALS_DIRECTORY": str(tmp_path)}, file=path) == Key(SECRET)


@pytest.mark.parametrize("text", ["", "\n", "two words", "new\nline", "ключ", "tab\there"])
def test_a_file_that_holds_no_key_is_an_error_that_does_not_repeat_it(tmp_path: Path, text: str):
    with pytest.raises(UsageError) as caught:
        key_from({}, file=key_file(tmp_path, 0o600, text))
    assert not text.strip() or text not in str(caught.value)


def test_a_key_file_that_is_not_there_is_an_error(tmp_path: Path):
    with pytest.raises(UsageError, match="could not be read"):
        key_from({}, file=tmp_path / "none")


# ---------------------------------------------------------------- what determines a reply


def test_equal_requests_have_equal_keys():
    assert Chat("stub").key(asking()) == Chat("stub").key(asking())


VARIED = {
    "another model": lambda: Chat("other").key(asking()),
    "another server": lambda: Chat("stub", Server(base_url="http://localhost:1/v1")).key(asking()),
    "another route": lambda: Completions("stub").key(asking()),
    "another seed": lambda: Chat("stub", Server(seed=1)).key(asking()),
    "another top_p": lambda: Chat("stub", Server(top_p=0.9)).key(asking()),
    "another role": lambda: Chat("stub").key(asking(role="verifier")),
    "another temperature": lambda: Chat("stub", Server(temperature=0.1)).key(asking()),
    "another limit": lambda: Chat("stub", Server(max_tokens=9)).key(asking()),
    "a field more": lambda: Chat("stub", Server(extra={"top_k": 1})).key(asking()),
    "another sample": lambda: Chat("stub").key(asking(sample=1)),
    "another stop": lambda: Chat("stub").key(asking(stop=("x",))),
    "log-probabilities": lambda: Chat("stub").key(asking(logprobs=1)),
    "another prompt": lambda: Chat("stub").key(asking("Who?")),
    "a smaller window": lambda: Chat("stub", Server(window=400, max_tokens=20)).key(asking()),
}


@table("varied", VARIED.values(), ids=VARIED.keys())
def test_whatever_may_change_a_reply_changes_its_key(varied: Any):
    assert varied() != Chat("stub").key(asking())


@pytest.mark.parametrize("settings", [{"stream": False}, {"timeout": 9.0}, {"retries": 0}, {"key": Key("k")}])
def test_how_a_server_is_waited_for_changes_no_key(settings: dict[str, Any]):
    assert Chat("stub", Server(**settings)).key(asking()) == Chat("stub").key(asking())


def test_what_a_server_rejected_changes_no_key(stub: Stub):
    stub.script(Rule(rejects=["seed"]))
    model = Chat("stub", at(stub, seed=7))
    before = model.key(asking())
    reply(model)
    assert model.key(asking()) == before


# ---------------------------------------------------------------- settings


@table(
    "settings",
    [
        {"base_url": "localhost:8000"},
        {"base_url": "ftp://localhost/v1"},
        {"base_url": "http://localhost:no/v1"},
        {"timeout": 0},
        {"idle_timeout": -1},
        {"concurrency": 0},
        {"retries": -1},
        {"window": 0},
        {"temperature": -0.1},
        {"top_p": 0.0},
        {"extra": {"since": datetime(2026, 1, 1, tzinfo=UTC)}},
        {"window": 100, "max_tokens": 100},
    ],
    ids=str,
)
def test_a_setting_that_cannot_be_is_an_error(settings: dict[str, Any]):
    with pytest.raises(UsageError, match=next(reversed(settings))):
        Server(**settings)


def test_an_address_with_a_password_is_an_error_that_does_not_repeat_it():
    with pytest.raises(UsageError) as caught:
        Server(base_url="http://me:hidden@localhost/v1")
    assert "hidden" not in str(caught.value)


def test_openai_is_the_usual_server():
    assert (Server().base_url, Server().is_openai, Server(base_url="http://localhost/v1").is_openai) == (
        OPENAI,
        True,
        False,
    )


def test_prices_are_read_from_a_table():
    assert read_prices({"m": {"input": 1, "output": 2.5}}) == {"m": Price(1.0, 2.5)}


@pytest.mark.parametrize("entry", [1.0, {"input": 1}, {"input": 1, "output": -1}, {"input": True, "output": 1}, {}])
def test_a_price_that_is_none_is_an_error(entry: Any):
    with pytest.raises(UsageError, match="per million tokens"):
        read_prices({"m": entry})


# ---------------------------------------------------------------- thinking


ANSWER = "It was lit in 1824 [1]."


@table(
    "text",
    [
        f"<think>Let me see.</think>{ANSWER}",
        f"<think>\nLet me see.\n</think>\n\n{ANSWER}",
        f"Let me see.\n</think>\n\n{ANSWER}",
        f"<thinking>Let me see.</thinking>\n{ANSWER}",
        f"<THINK>Let me see.</THINK> {ANSWER}",
        f"[THINK]Let me see.[/THINK]{ANSWER}",
        f"<thought>Let me see.</thought>{ANSWER}",
        f"<reasoning>Let me see.</reasoning>{ANSWER}",
        f"<seed:think>Let me see.</seed:think>{ANSWER}",
        f"◁think▷Let me see.◁/think▷{ANSWER}",
        f"<|START_THINKING|>Let me see.<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>",
        f"<|begin_of_thought|>Hm.<|end_of_thought|>\n<|begin_of_solution|>{ANSWER}<|end_of_solution|>",
        f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}<|return|>",
        f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}",
        f"analysisLet me see.assistantfinal{ANSWER}",
        f"<think>One <think> two</think> three</think>{ANSWER}",
        f"<think>One</think><think>Two</think>{ANSWER}",
        f"{ANSWER}<think>and now",
        ANSWER,
    ],
)
def test_an_answer_is_left_when_thinking_is_taken_away(text: str):
    assert without_thinking(text) == ANSWER


@pytest.mark.parametrize("text", ["<think>Let me", "  <thinking>", "<|channel|>analysis<|message|>Hm", "Hm.</think>"])
def test_nothing_is_left_of_a_reply_that_is_only_thinking(text: str):
    assert without_thinking(text) == ""


@pytest.mark.parametrize(
    "text",
    ["", " x ", "I think <b>so</b> [1].", "a < b > c", "analysis of the final report", "It writes `<think>` [1]."],
)
def test_a_text_without_thinking_stays_as_it_is(text: str):
    assert without_thinking(text) == text


def test_answers_between_thoughts_are_kept():
    assert without_thinking("<think>a</think>One. <think>b</think>Two.") == "One. Two."
