"""Self-RAG through the completion route, against a real server that speaks reflection tokens with probabilities."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import exp, log
from typing import Any

import pytest

from toulmin.data import Answer, Passage
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit
from toulmin.judges.lexical import Lexical
from toulmin.methods.selfrag import NO_ODDS, self_rag
from toulmin.models.remote import Chat, Completions
from toulmin.models.server import Server
from toulmin.prompts.reflection import NextSegment
from toulmin.retrieval.bm25 import StaticRanking
from toulmin.steps import Generate

QUESTION = "When was the tower lit, and who built it?"
LIT = Passage.of("The tower was lit on 3 May 1824.", "Tower")
BUILT = Passage.of("Hannah Pell built the tower.", "Builder")
OTHER = Passage.of("A rock is a rock.", "Rock")

Odds = dict[str, float]
Token = str | Odds
SEARCHES: Sequence[Token] = [{"[Retrieval]": 0.7, "[No Retrieval]": 0.3}, "<paragraph>", "Forged", "</paragraph>"]
RELEVANT: Token = {"[Relevant]": 0.9, "[Irrelevant]": 0.1}
IRRELEVANT: Token = {"[Irrelevant]": 0.8, "[Relevant]": 0.2}
SUPPORTED: Token = {"[Fully supported]": 0.8, "[Partially supported]": 0.2}
USEFUL: Token = {"[Utility:5]": 0.75, "[Utility:4]": 0.25}
# What the model says by the passage that the prompt ends with ("": none) and by whether something is written already.
REPLIES: dict[tuple[str, bool], Sequence[Token]] = {
    ("", False): SEARCHES,
    ("Tower", False): [RELEVANT, "The tower was lit on 3 May 1824", {".": 0.5}, SUPPORTED, *SEARCHES],
    ("Builder", False): [IRRELEVANT, "Hannah Pell was there.", SUPPORTED, *SEARCHES],
    ("Rock", False): [IRRELEVANT, "A rock is a rock.", {"[Utility:1]": 1.0}],
    ("Builder", True): [
        RELEVANT,
        "Hannah Pell built the tower.",
        SUPPORTED,
        {"[Utility:5]": 0.75, "[Utility:4]": 0.25},
    ],
    ("Tower", True): [RELEVANT, "The tower was lit on 3 May 1824.", SUPPORTED, {"[Utility:5]": 1.0}],
    ("Rock", True): [IRRELEVANT, "A rock.", {"[Utility:1]": 1.0}],
}


@dataclass
class Scripted:
    """How the server answers: by `replies`, hiding special tokens from the text, without or refusing probabilities."""

    replies: dict[tuple[str, bool], Sequence[Token]] = field(default_factory=lambda: dict(REPLIES))
    hides: bool = False
    spaced: bool = False
    gives: bool = True
    refuses: bool = False
    asked: list[dict[str, Any]] = field(default_factory=list)

    def reply(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.asked.append(body)
        if self.refuses and "logprobs" in body:
            return 400, {"error": {"message": "logprobs is not supported", "param": "logprobs"}}
        prompt = body.get("prompt") or body["messages"][-1]["content"]
        response = prompt.split("### Response:\n", 1)[1]
        title = response.rsplit("<paragraph>", 1)[1].split("\n", 1)[0] if "<paragraph>" in response else ""
        return 200, self.choice(self.replies[title, not response.startswith("[Retrieval]") and bool(title)], body)

    def choice(self, tokens: Sequence[Token], body: dict[str, Any]) -> dict[str, Any]:
        """As servers do, the text ends before a stop sequence, but the list of tokens holds it."""
        odds = [{token: 1.0} if isinstance(token, str) else token for token in tokens]
        written = [next(iter(token)) for token in odds]
        end = next((n for n, token in enumerate(written) if token in body.get("stop", ())), len(written))
        told = written[: end + 1]
        shown = [t for t in written[:end] if not (self.hides and t.startswith("["))]
        tops = [{token: log(p) for token, p in one.items()} for one in odds[: end + 1]]
        listed = {"tokens": told, "token_logprobs": [top[t] for top, t in zip(tops, told, strict=True)]}
        logprobs = listed | {"top_logprobs": tops} if self.gives and "logprobs" in body else None
        text = (" " if self.spaced else "").join(shown)
        choice = {"index": 0, "text": text, "finish_reason": "stop", "logprobs": logprobs}
        if "messages" in body:
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return {"model": "selfrag", "choices": [choice]}


@pytest.fixture(scope="module")
def running() -> Iterator[ThreadingHTTPServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, reply = self.server.script.reply(body)  # type: ignore[attr-defined]
            data = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def answered(
    running: ThreadingHTTPServer, script: Scripted, route: type[Chat] | type[Completions] = Completions, **options: Any
) -> Answer:
    """The answer of a model behind the server; lone replies are whole, not streamed."""
    running.script = script  # type: ignore[attr-defined]
    settings = Server(f"http://127.0.0.1:{running.server_port}/v1", stream=False, retries=0, timeout=10)
    model = route("selfrag", settings)

    async def run() -> Answer:
        kit = Kit(StaticRanking((LIT, BUILT, OTHER)), Lexical(), {"main": model})
        job = Job(QUESTION, "self-rag", "long", lambda: self_rag(QUESTION, **options))
        try:
            return (await Driver(kit).answer(job)).answer
        finally:
            await model.aclose()

    return asyncio.run(run())


@pytest.mark.parametrize("hides", [False, True])
def test_the_probabilities_are_those_of_the_reply_up_to_its_stop_sequence(running: ThreadingHTTPServer, hides: bool):
    running.script = Scripted(hides=hides)  # type: ignore[attr-defined]
    model = Completions("selfrag", Server(f"http://127.0.0.1:{running.server_port}/v1", stream=False))
    asked = Generate(NextSegment(QUESTION, "", LIT), stop=("<paragraph>",), logprobs=5)

    async def run() -> tuple[str, ...]:
        (reply,) = await model.generate([asked])
        await model.aclose()
        return tuple(place.token for place in reply.logprobs or ())

    said = ("[Relevant]", "The tower was lit on 3 May 1824", ".", "[Fully supported]", "[Retrieval]")
    assert asyncio.run(run()) == said


CLAIMS = [("The tower was lit on 3 May 1824.", (LIT.id,)), ("Hannah Pell built the tower.", (BUILT.id,))]


def claims(answer: Answer) -> list[tuple[str, tuple[str, ...]]]:
    return [(claim.text, claim.cited) for claim in answer.claims]


def scores(answer: Answer, text: str) -> dict[str, float]:
    return next(dict(told.scores or {}) for told in answer.rounds if told.kind == "claim" and told.text == text)


def test_segments_are_chosen_by_the_probabilities_that_the_server_gives(running: ThreadingHTTPServer):
    assert claims(answered(running, Scripted())) == CLAIMS


def test_every_claim_is_verified_by_the_judge(running: ThreadingHTTPServer):
    assert [claim.is_supported for claim in answered(running, Scripted()).claims] == [True, True]


def test_the_scores_of_a_segment_come_from_the_server(running: ThreadingHTTPServer):
    found = scores(answered(running, Scripted()), CLAIMS[0][0])
    likelihood = exp((log(0.9) + log(1.0) + log(0.5) + log(0.8)) / 4)
    assert found == pytest.approx(
        {"likelihood": likelihood, "relevance": 0.9, "support": 0.9, "score": likelihood + 1.8}
    )


def test_utility_counts_half(running: ThreadingHTTPServer):
    found = scores(answered(running, Scripted()), CLAIMS[1][0])
    assert found["score"] == pytest.approx(found["likelihood"] + 0.9 + 0.9 + 0.5 * (0.75 + 0.25 * 0.5))


@pytest.mark.parametrize(("threshold", "searches"), [(0.69, True), (0.71, False)])
def test_the_wish_to_search_is_weighed_by_its_probability(
    running: ThreadingHTTPServer, threshold: float, searches: bool
):
    answer = answered(running, Scripted(), threshold=threshold, max_segments=1)
    assert bool(answer.passages) is searches


def test_the_prompt_is_the_one_that_such_models_were_trained_with(running: ThreadingHTTPServer):
    script = Scripted()
    answered(running, script)
    assert any(
        body["prompt"].startswith("### Instruction:\n")
        and body["prompt"].endswith(
            f"\n\n### Input:\n{QUESTION}\n\n### Response:\n[Relevant]The tower was lit on 3 May 1824.[Fully supported]"
            f"[Retrieval]<paragraph>Builder\n{BUILT.text}</paragraph>"
        )
        for body in script.asked
    )


def test_tokens_that_the_server_hides_from_the_text_count_all_the_same(running: ThreadingHTTPServer):
    assert claims(answered(running, Scripted(hides=True))) == CLAIMS


def test_spaces_that_the_server_sets_between_tokens_change_nothing(running: ThreadingHTTPServer):
    plain, spaced = (answered(running, Scripted(spaced=spaced)) for spaced in (False, True))
    assert [told.scores for told in spaced.rounds[:3]] == [told.scores for told in plain.rounds[:3]]


@pytest.mark.parametrize("script", [{"gives": False}, {"refuses": True}], ids=["gives none", "refuses them"])
def test_without_probabilities_the_tokens_in_the_text_decide(running: ThreadingHTTPServer, script: dict[str, bool]):
    answer = answered(running, Scripted(**script))
    assert (claims(answer), NO_ODDS in answer.notes) == (CLAIMS, True)


def test_a_chat_server_is_told_apart_by_nothing_but_its_route(running: ThreadingHTTPServer):
    assert claims(answered(running, Scripted(), Chat)) == CLAIMS
