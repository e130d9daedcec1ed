"""A server that nobody here wrote: transformers' own, with a tiny model made here. What it replies is noise."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tiny_model import word_in

from toulmin.data import Answer, Passage
from toulmin.driver.budget import Budget
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit, LanguageModel
from toulmin.errors import ModelError
from toulmin.formats import answer_json
from toulmin.judges.lexical import Lexical
from toulmin.methods import METHODS, load_method
from toulmin.models.cache import CachedModel
from toulmin.models.remote import Chat, Completions
from toulmin.models.server import Server
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import AnswerPrompt, Cite, Queries
from toulmin.retrieval.bm25 import InMemory
from toulmin.steps import Generate

# Looked for, not imported: the server is another process, so this one needs no torch.
MISSING = [name for name in ("torch", "transformers", "uvicorn", "fastapi") if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.xdist_group("real server"),  # one worker starts it, for all of these
    pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)} (pip install 'transformers[serving]')"),
]

PASSAGES = (
    Passage.of("Hannah Pell built the tower between 1821 and 1824.", "Kettle Rock"),
    Passage.of("The tower was lit for the first time on 3 May 1824.", "Kettle Rock"),
    Passage.of("Three keepers lived in the tower until 1978.", "Kettle Rock"),
)
ASK = Generate(Queries("Who built the tower?", "", "Hannah Pell built it."))
MAKE = "import sys, tiny_model; from pathlib import Path; tiny_model.make(Path(sys.argv[1]), samples=True)"
PATIENCE = 240  # seconds for the server to start, beside other tests
REPLY = 24  # tokens


@dataclass(frozen=True)
class Place:
    """Where the server is, and what it calls its model."""

    url: str
    model: str

    def server(self, **settings) -> Server:
        quick = {"max_tokens": REPLY, "temperature": 0.8, "seed": 1, "retries": 1, "pause": 0.01, "timeout": 60}
        return Server(base_url=f"{self.url}/v1", **{**quick, **settings})

    def chat(self, **settings) -> Chat:
        return Chat(self.model, self.server(**settings))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("served")
    here = {"cwd": Path(__file__).parent, "capture_output": True, "check": True}
    subprocess.run([sys.executable, "-c", MAKE, str(folder)], **here)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serve = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(folder), "--device", "cpu"]
    offline = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "OMP_NUM_THREADS": "1"}
    log = folder / "log.txt"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*serve, "--host", "127.0.0.1", "--port", str(port)], env=os.environ | offline, stdout=out, stderr=out
        )
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(f"{url}/health", process, log)
            yield Place(url, str(folder))
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(url: str, process: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"transformers serve did not start:\n{log.read_text('utf-8', 'replace')[-3000:]}")


def replies(model: LanguageModel, *requests: Generate) -> list:
    async def asked() -> list:
        try:
            return await model.generate(requests or (ASK,))
        finally:
            await model.aclose()

    return asyncio.run(asked())


# ---------------------------------------------------------------- the routes


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("route", [Chat, Completions])
def test_a_reply_comes_with_its_usage(place: Place, route: type, stream: bool):
    (reply,) = replies(route(place.model, place.server(stream=stream)))
    assert isinstance(reply, Reply), reply
    assert (bool(reply.text), 200 < reply.tokens.input < 400, 0 < reply.tokens.output <= REPLY) == (True, True, True)


def test_streamed_and_whole_replies_are_the_same(place: Place):
    def told(stream: bool) -> tuple:
        (reply,) = replies(place.chat(stream=stream, temperature=0.0))
        return reply.text.rstrip("\ufffd"), reply.tokens, reply.finish  # a stream leaves out half a letter at its end

    assert told(stream=True) == told(stream=False)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_reply_that_was_cut_off_says_so(place: Place, stream: bool):
    (reply,) = replies(place.chat(stream=stream), replace(ASK, max_tokens=3))
    assert (reply.finish, reply.tokens.output) == ("length", 3)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_stop_string_is_no_part_of_the_reply(place: Place, stream: bool):
    model = place.chat(stream=stream, temperature=0.0)
    whole = replies(model)[0].text
    stop = word_in(whole)
    assert replies(model, replace(ASK, stop=(stop,)))[0].text == whole[: whole.index(stop)]


def test_several_requests_go_out_side_by_side(place: Place):
    found = replies(place.chat(), *(replace(ASK, sample=n) for n in range(6)))
    assert [type(reply) for reply in found] == [Reply] * 6


def test_another_sample_is_another_draw(place: Place):
    model = place.chat(temperature=0.9)
    assert len({replies(model, replace(ASK, sample=n))[0].text for n in range(3)}) == 3


def test_a_cached_reply_is_the_servers(place: Place, tmp_path: Path):
    first = replies(CachedModel(place.chat(), tmp_path / "cache"))
    unreachable = replace(place, url=place.url)
    assert replies(CachedModel(unreachable.chat(), tmp_path / "cache")) == first


def test_a_model_in_this_process_says_what_the_server_says(place: Place):
    from toulmin.models.local import Local

    here = Local(place.model, max_tokens=REPLY, temperature=0.0)
    requests = (ASK, Generate(AnswerPrompt("Who built the tower?", PASSAGES)), Generate(Cite("Lit in 1824.", PASSAGES)))
    told = [(reply.text, reply.tokens) for reply in replies(place.chat(temperature=0.0, stream=False), *requests)]
    assert [(reply.text, reply.tokens) for reply in replies(here, *requests)] == told


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_an_unknown_model_is_an_error_in_the_servers_words(place: Place, stream: bool):
    (failed,) = replies(Chat("no-such-model", place.server(stream=stream)))
    assert (type(failed), "no-such-model" in str(failed)) == (ModelError, True)


LONG = Generate(Queries("Who built the tower? " * 1500, "", ""))


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_prompt_that_the_model_cannot_hold_fails_alone(place: Place, stream: bool):
    failed, answered = replies(place.chat(stream=stream), LONG, ASK)
    assert (isinstance(failed, ModelError), type(answered)) == (True, Reply)


def test_a_prompt_within_the_window_that_was_set_is_shortened_and_answered(place: Place):
    many = AnswerPrompt("When was it lit?", tuple(Passage.of(f"It was lit in {year}.") for year in range(1700, 1900)))
    (reply,) = replies(place.chat(window=2500, max_tokens=100), Generate(many))
    assert isinstance(reply, Reply), reply
    assert (0 < reply.omitted < 200, bool(reply.text)) == (True, True)


def test_a_server_that_is_gone_is_an_error(place: Place):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        gone = replace(place, url=f"http://127.0.0.1:{unused.getsockname()[1]}")
        (failed,) = replies(gone.chat())
    assert isinstance(failed, ModelError)


# ---------------------------------------------------------------- the methods

# A method that goes on until it is content would never end on noise by itself.
LIGHT = {"vtg": {"max_claims": 2}}
CALLS, SECONDS = 40, 30.0


def answered(place: Place, method: str, budget: Budget) -> Answer:
    async def run() -> Answer:
        model = place.chat()
        kit = Kit(InMemory(PASSAGES, 1.2, 0.75), Lexical(), {"main": model, "verifier": model})
        question = "Who built the tower, and when was it lit?"
        job = Job(question, method, "long", lambda: load_method(method)(question, **LIGHT.get(method, {})), budget)
        try:
            return (await Driver(kit).answer(job)).answer
        finally:
            await model.aclose()

    return asyncio.run(run())


@pytest.mark.parametrize("method", METHODS)
def test_every_method_ends_within_its_budget_with_a_valid_answer(place: Place, method: str):
    answer = answered(place, method, Budget(calls=CALLS, seconds=SECONDS))
    assert answer_json.parse(answer_json.dumps(answer)).text == answer.text
    assert (answer.status != "failed", 0 < sum(answer.usage.calls.values()) <= CALLS) == (True, True), answer.notes


@pytest.mark.parametrize("method", METHODS)
def test_a_method_whose_calls_are_spent_has_its_answer_or_says_so(place: Place, method: str):
    answer = answered(place, method, Budget(calls=1, seconds=SECONDS))
    assert sum(answer.usage.calls.values()) == 1
    assert answer.status == "answered" or any("limit of 1 model calls is reached" in note for note in answer.notes)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_whose_time_is_over_says_so(place: Place, method: str):
    answer = answered(place, method, Budget(seconds=0.001))
    assert (answer.status, "limit of 0.001 seconds is reached" in answer.notes[0]) == ("failed", True)
