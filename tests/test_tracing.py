"""Spans and events of an answer, through a tracer provider made of OpenTelemetry's own interfaces."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from stub_server import Rule, running_stub

import toulmin
from toulmin.errors import ModelError
from toulmin.models.scripted import ScriptedModel

ROOT = Path(toulmin.__file__).parent.parent
trace = pytest.importorskip("opentelemetry.trace")

PASSAGE = toulmin.Passage.of("Ann Bell built the mill in 1824. The mill has four sails.", title="The mill")
QUESTION = "Who built the mill?"
FALSE = "The mill was built in 1824 by Ann Bell. It was built in 1931 [1]."


class Recorded(trace.Span):
    """A span that keeps what it is told."""

    def __init__(self, name: str, kind: Any, attributes: Any, parent: Any) -> None:
        self.name, self.kind, self.parent = name, kind, parent
        self.attributes, self.events, self.status, self.ends = dict(attributes or {}), [], None, 0

    def end(self, end_time: int | None = None) -> None:
        self.ends += 1

    def get_span_context(self) -> Any:
        return trace.SpanContext(1, id(self), False)

    def set_attributes(self, attributes: Any) -> None:
        self.attributes |= attributes

    def set_attribute(self, key: str, value: Any) -> None:
        self.attributes[key] = value

    def add_event(self, name: str, attributes: Any = None, timestamp: int | None = None) -> None:
        self.events.append((name, dict(attributes or {})))

    def update_name(self, name: str) -> None:
        self.name = name

    def is_recording(self) -> bool:
        return True

    def set_status(self, status: Any, description: str | None = None) -> None:
        self.status = status

    def record_exception(self, *args: Any, **options: Any) -> None:
        raise AssertionError("an exception's words may hold content")


class Provider(trace.TracerProvider, trace.Tracer):
    """Keeps the spans while `spans` is a list."""

    spans: list[Recorded] | None = None

    def get_tracer(self, *args: Any, **options: Any) -> Any:
        return self

    def start_span(
        self, name: str, context: Any = None, kind: Any = None, attributes: Any = None, **options: Any
    ) -> Any:
        if self.spans is None:
            return trace.INVALID_SPAN
        parent = trace.get_current_span(context)
        self.spans.append(Recorded(name, kind, attributes, parent if isinstance(parent, Recorded) else None))
        return self.spans[-1]

    @contextmanager
    def start_as_current_span(
        self, name: str, record_exception: bool = True, set_status_on_exception: bool = True, **options: Any
    ) -> Iterator[Any]:
        span = self.start_span(name, **options)
        with trace.use_span(span, True, record_exception, set_status_on_exception):
            yield span


@pytest.fixture(scope="module")
def provider() -> Provider:
    provider = Provider()
    trace.set_tracer_provider(provider)  # of the whole process, once
    return provider


@pytest.fixture
def spans(provider: Provider) -> Iterator[list[Recorded]]:
    provider.spans = []
    yield provider.spans
    provider.spans = None


def ask(**options: Any) -> toulmin.Answer:
    return toulmin.ask(QUESTION, passages=[PASSAGE], **options)


def writer(text: str = FALSE) -> ScriptedModel:
    return ScriptedModel(lambda request: text, name="scribe")


def named(spans: list[Recorded], name: str) -> list[Recorded]:
    return [span for span in spans if span.name == name]


def test_an_answer_is_a_workflow(spans):
    ask(method="vanilla")
    (root,) = [span for span in spans if span.parent is None]
    assert (root.name, root.kind) == ("invoke_workflow toulmin.vanilla", trace.SpanKind.INTERNAL)
    assert root.attributes["gen_ai.operation.name"] == "invoke_workflow"
    assert root.attributes["gen_ai.agent.name"] == "toulmin.vanilla"
    assert root.attributes["toulmin.answer.status"] == "answered"


def test_every_span_ends_once_and_stands_under_the_answer(spans):
    ask()
    assert len(spans) >= 3
    assert {span.ends for span in spans} == {1}
    assert {span.parent for span in spans[1:]} == {spans[0]}


def test_a_search_is_a_retrieval_with_ids_and_scores(spans):
    answer = ask(method="vanilla", k=3)
    (search,) = named(spans, "retrieval")
    assert search.kind == trace.SpanKind.CLIENT
    assert search.attributes["gen_ai.operation.name"] == "retrieval"
    assert search.attributes["gen_ai.retrieval.top_k"] == 3
    (document,) = json.loads(search.attributes["gen_ai.retrieval.documents"])
    assert document.keys() == {"id", "score"}
    assert document["id"] == answer.passages[0].id


def test_a_model_request_is_a_chat_with_its_usage(spans):
    with running_stub() as stub:
        stub.script(Rule(reply="Ann Bell built the mill in 1824 [1]."))
        server = {"base_url": stub.url, "seed": 7, "max_tokens": 50}
        answer = ask(method="vanilla", model="stub:stub", settings=toulmin.Settings(servers={"stub": server}))
    (chat,) = named(spans, "chat stub")
    assert chat.kind == trace.SpanKind.CLIENT
    names = ("operation.name", "provider.name", "request.model", "request.seed", "usage.input_tokens")
    values = {name: chat.attributes[f"gen_ai.{name}"] for name in names}
    tokens = answer.usage.tokens["main"]
    assert values == dict(zip(names, ("chat", "openai", "stub", 7, tokens.input), strict=True))
    assert chat.attributes["gen_ai.usage.output_tokens"] == tokens.output > 0
    assert chat.attributes["gen_ai.response.finish_reasons"] == ["stop"]


@pytest.mark.parametrize(
    ("structured", "rejects", "form"),
    [(True, (), "schema"), (True, ("response_format",), "text"), (False, (), "text")],
    ids=["held to a schema", "refused", "not held"],
)
def test_which_way_a_reply_came_is_in_its_span_and_in_the_log(spans, caplog, structured, rejects, form):
    caplog.set_level(logging.DEBUG, "toulmin.driver")
    with running_stub() as stub:
        stub.script(Rule(reply="Ann Bell built the mill in 1824 [1].", rejects=list(rejects)))
        servers = {"stub": {"base_url": stub.url, "structured": structured}}
        ask(method="vanilla", model="stub:stub", settings=toulmin.Settings(servers=servers))
    assert named(spans, "chat stub")[-1].attributes["toulmin.reply.form"] == form
    assert [entry.args["form"] for entry in caplog.records if "form" in (entry.args or ())] == [form]


def test_a_reply_without_an_answer_is_a_chat_with_its_usage(spans):
    with running_stub() as stub:
        stub.script(Rule(reply="", finish="length"))
        ask(method="vanilla", model="stub:stub", settings=toulmin.Settings(servers={"stub": {"base_url": stub.url}}))
    (chat,) = named(spans, "chat stub")
    assert chat.attributes["gen_ai.usage.input_tokens"] == spans[0].attributes["gen_ai.usage.input_tokens"] > 0
    assert chat.attributes["error.type"] == "EmptyReply"


def test_the_workflow_sums_the_usage_of_its_requests(spans):
    answer = ask(method="vanilla", model=writer())
    assert spans[0].attributes["gen_ai.usage.output_tokens"] == answer.usage.tokens["main"].output


def test_a_model_that_names_no_provider_is_ours(spans):
    ask(method="vanilla", model=writer())
    (chat,) = named(spans, "chat scribe")
    assert chat.attributes["gen_ai.provider.name"] == "toulmin"
    assert "gen_ai.request.seed" not in chat.attributes


def test_each_judged_claim_is_an_evaluation(spans):
    answer = ask(method="vanilla", model=writer(), judge="lexical")
    assert [claim.support.label for claim in answer.claims] == ["unsupported", "unsupported"]
    expected = [
        {
            "gen_ai.evaluation.name": "support",
            "gen_ai.evaluation.score.value": claim.support.score,
            "gen_ai.evaluation.score.label": claim.support.label,
            "toulmin.claim.index": index,
            "toulmin.judge": claim.support.judge,
        }
        | ({"gen_ai.evaluation.explanation": claim.support.reason} if claim.support.reason else {})
        for index, claim in enumerate(answer.claims)
    ]
    assert any("gen_ai.evaluation.explanation" in event for event in expected)
    assert spans[0].events == [("gen_ai.evaluation.result", event) for event in expected]


def test_a_failed_answer_names_the_type_of_its_error(spans):
    def fail(request: Any) -> str:
        raise ModelError("the mill is on fire")

    answer = ask(method="vanilla", model=ScriptedModel(fail, name="scribe"))
    assert answer.status == "failed"
    assert spans[0].attributes["error.type"] == "ModelError"
    assert named(spans, "chat scribe")[0].attributes["error.type"] == "ModelError"
    assert spans[0].status.status_code == trace.StatusCode.ERROR
    assert spans[0].status.description is None


def test_no_words_of_question_documents_or_replies_are_in_a_span(spans):
    ask(method="vanilla", model=writer())
    values = json.dumps([[span.name, span.attributes] for span in spans])
    assert "mill" not in values.lower()


def test_the_query_is_in_its_span_where_the_log_is_at_debug(spans, caplog):
    caplog.set_level(logging.DEBUG, "toulmin.driver")
    ask(method="vanilla")
    assert named(spans, "retrieval")[0].attributes["gen_ai.retrieval.query.text"] == QUESTION


def test_without_a_provider_an_answer_is_the_same(spans, provider):
    with_spans = ask()
    provider.spans = None
    assert ask().claims == with_spans.claims


def test_an_answer_loads_no_opentelemetry_of_its_own():
    code = f"""
import sys, toulmin
answer = toulmin.ask({QUESTION!r}, passages=[toulmin.Passage.of({PASSAGE.text!r})], judge="lexical")
print(answer.status, [name for name in sys.modules if name.startswith("opentelemetry")])
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert process.stdout.split() == ["answered", "[]"], process.stderr
