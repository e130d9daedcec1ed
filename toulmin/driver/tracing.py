"""The driver's log lines and OpenTelemetry spans.

* Names follow OpenTelemetry's conventions for generative AI, release 0.1.0; our own begin with `toulmin.`.
* Spans need a program that has loaded opentelemetry; nothing here loads it.
* Texts of questions, documents and replies are reported only at level DEBUG, except a judge's reason in the event of
  its verdict. Of a foreign exception only the type is reported: its message may quote.
"""

from __future__ import annotations

import json
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, get_args

from toulmin import __version__
from toulmin.data import Answer, Hit, Label, Tokens
from toulmin.driver.kit import LanguageModel
from toulmin.errors import ToulminError
from toulmin.prompts.replies import EmptyReply, Reply
from toulmin.steps import Generate, Search

if TYPE_CHECKING:
    from opentelemetry.trace import Span

LOG = logging.getLogger("toulmin.driver")
OURS = "toulmin"  # the provider of models that name none, and what spans are called after

_ANSWER = (
    "answer %(id)s by %(method)s: %(status)s in %(seconds).2f s; model calls: %(calls)d, tokens: %(input_tokens)d in,"
    " %(output_tokens)d out, searches: %(searches)d, claims: %(supported)d supported, %(likely)d likely, %(disputed)d"
    " disputed, %(unsure)d unsure, %(unsupported)d unsupported, %(contradicted)d contradicted, %(unjudged)d not judged"
)
_CHAT = (
    "model %(model)s as %(role)s: %(prompt)s in %(seconds).2f s, tokens: %(input_tokens)d in, %(output_tokens)d out;"
    " %(request)r; %(reply)r"
)
_SEARCH = "search: %(hits)d of %(k)d hits in %(seconds).3f s for %(query)r: %(documents)s"


@contextmanager
def answering(method: str) -> Iterator[Callable[[Answer, ToulminError | None], None]]:
    """Yields a function that reports the answer and its error."""
    with _span("invoke_workflow", f"{OURS}.{method}", {"gen_ai.agent.name": f"{OURS}.{method}"}) as span:

        def report(answer: Answer, error: ToulminError | None) -> None:
            tokens = sum(answer.usage.tokens.values(), Tokens())
            LOG.info(_ANSWER, _answer_fields(answer, tokens, error))
            if span is not None:
                span.set_attributes({**_usage(tokens), "toulmin.answer.status": answer.status})
                _add_verdicts(span, answer)
                if error is not None:
                    _set_error(span, error)

        yield report


@contextmanager
def chatting(model: LanguageModel, request: Generate) -> Iterator[Callable[[Reply], None]]:
    began = perf_counter()
    with _span("chat", model.name, _chat_attributes(model, request)) as span:

        def report(reply: Reply) -> None:
            if span is not None:
                finish = {"gen_ai.response.finish_reasons": [reply.finish]}
                named = {"gen_ai.response.model": reply.model} if reply.model else {}
                span.set_attributes({**_usage(reply.tokens), **finish, **named, "toulmin.reply.form": reply.form})
            if LOG.isEnabledFor(logging.DEBUG):
                LOG.debug(_CHAT, _chat_fields(model, request, reply, perf_counter() - began))

        try:
            yield report
        except EmptyReply as error:  # it costs like any other
            report(error.reply)
            raise


@contextmanager
def searching(step: Search) -> Iterator[Callable[[Sequence[Hit]], None]]:
    began, is_open = perf_counter(), LOG.isEnabledFor(logging.DEBUG)
    query = {"gen_ai.retrieval.query.text": step.query} if is_open else {}
    with _span("retrieval", "", {"gen_ai.retrieval.top_k": step.k, **query}) as span:

        def report(hits: Sequence[Hit]) -> None:
            if span is None and not is_open:
                return
            documents = json.dumps([{"id": hit.passage.id, "score": hit.score} for hit in hits])
            if span is not None:
                span.set_attribute("gen_ai.retrieval.documents", documents)
            seconds = round(perf_counter() - began, 4)
            fields = {"query": step.query, "k": step.k, "hits": len(hits), "documents": documents, "seconds": seconds}
            LOG.debug(_SEARCH, fields)

        yield report


def warn(part: str, requests: int, errors: Sequence[ToulminError]) -> None:
    if errors:
        fields = {"part": part, "failed": len(errors), "requests": requests, "reason": _reason(errors[0])}
        LOG.warning("%(part)s failed for %(failed)d of %(requests)d requests: %(reason)s", fields)


def _reason(error: ToulminError) -> str:
    cause = error.__cause__
    return str(error) if cause is None else f"{type(error).__name__} for a {type(cause).__name__}"


# ---------------------------------------------------------------- spans


@contextmanager
def _span(operation: str, subject: str, attributes: Mapping[str, Any]) -> Iterator[Span | None]:
    """The current span of an operation, with the error raised in it; None if nobody records spans."""
    if "opentelemetry.trace" not in sys.modules:
        yield None
        return
    from opentelemetry import trace

    kind = trace.SpanKind.INTERNAL if operation == "invoke_workflow" else trace.SpanKind.CLIENT
    known = {name: value for name, value in attributes.items() if value is not None}
    with trace.get_tracer(OURS, __version__).start_as_current_span(
        f"{operation} {subject}".strip(),
        kind=kind,
        attributes={"gen_ai.operation.name": operation, **known},
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield span if span.is_recording() else None
        except BaseException as error:
            _set_error(span, error)
            raise


def _set_error(span: Span, error: BaseException) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", type(error).__name__)
    span.set_status(Status(StatusCode.ERROR))


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {"gen_ai.usage.input_tokens": tokens.input, "gen_ai.usage.output_tokens": tokens.output}


def _add_verdicts(span: Span, answer: Answer) -> None:
    for index, claim in enumerate(answer.claims):
        support = claim.support
        if support is not None:
            why = {"gen_ai.evaluation.explanation": support.reason} if support.reason else {}
            attributes: dict[str, Any] = {
                "gen_ai.evaluation.name": "support",
                "gen_ai.evaluation.score.value": support.score,
                "gen_ai.evaluation.score.label": support.label,
                "toulmin.claim.index": index,
                "toulmin.judge": support.judge,
            }
            span.add_event("gen_ai.evaluation.result", attributes | why)


def _chat_attributes(model: LanguageModel, request: Generate) -> dict[str, Any]:
    seed_of = getattr(model, "seed_of", None)
    return {
        "gen_ai.provider.name": getattr(model, "provider", None) or OURS,
        "gen_ai.request.model": model.name,
        "gen_ai.request.seed": seed_of(request) if seed_of else None,
        "gen_ai.request.temperature": request.temperature,
        "gen_ai.request.max_tokens": request.max_tokens,
        "toulmin.role": request.role,
        "toulmin.prompt": type(request.prompt).__name__,
    }


# ---------------------------------------------------------------- fields of the log's lines


def _answer_fields(answer: Answer, tokens: Tokens, error: ToulminError | None) -> dict[str, Any]:
    verdicts = Counter(claim.support.label if claim.support else "unjudged" for claim in answer.claims)
    return {
        "id": answer.id or "-",
        "method": answer.method,
        "status": answer.status,
        "seconds": answer.usage.seconds,
        "calls": sum(answer.usage.calls.values()),
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "searches": answer.usage.searches,
        **{label: verdicts[label] for label in (*get_args(Label), "unjudged")},
        **({"error": type(error).__name__} if error is not None else {}),
    }


def _chat_fields(model: LanguageModel, request: Generate, reply: Reply, seconds: float) -> dict[str, Any]:
    return {
        "model": model.name,
        "role": request.role,
        "prompt": type(request.prompt).__name__,
        "seconds": round(seconds, 4),
        "input_tokens": reply.tokens.input,
        "output_tokens": reply.tokens.output,
        "request": request,
        "reply": reply.text,
        "form": reply.form,
    }
