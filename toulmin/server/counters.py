"""Counts for Prometheus, without text of questions or answers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, MutableMapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from toulmin.data import Answer
from toulmin.server.guard import App, Message, Receive, Send

LOG = logging.getLogger("toulmin.server")
_METHODS = frozenset({"GET", "POST", "DELETE", "HEAD", "OPTIONS"})  # other names would add labels without end
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)


class Figures:
    def __init__(self, running: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        self._requests = self._counter("requests", "Answered requests.", "method", "route", "status")
        self._request_seconds = self._histogram("request_seconds", "From a request to the end of its reply.", "route")
        self._answers = self._counter("answers", "Finished answers.", "method", "status")
        self._answer_seconds = self._histogram("answer_seconds", "Seconds of an answer.", "method")
        self._claims = self._counter("claims", "Claims of finished answers by verdict.", "label")
        self._calls = self._counter("model_calls", "Calls of language models.", "role")
        self._tokens = self._counter("tokens", "Tokens into and out of language models.", "role", "direction")
        self._pairs = self._counter("judge_pairs", "Pairs of passage and claim that were judged.")
        self._searches = self._counter("searches", "Searches for answers.")
        Gauge("toulmin_running_answers", "Running answers.", registry=self._registry).set_function(running)

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"toulmin_{name}", about, labels, registry=self._registry)

    def _histogram(self, name: str, about: str, *labels: str) -> Histogram:
        return Histogram(f"toulmin_{name}", about, labels, registry=self._registry, buckets=_SECONDS)

    def count(self, answer: Answer) -> None:
        self._answers.labels(answer.method, answer.status).inc()
        self._answer_seconds.labels(answer.method).observe(answer.usage.seconds)
        for claim in answer.claims:
            self._claims.labels(claim.support.label if claim.support else "not judged").inc()
        for role, calls in answer.usage.calls.items():
            self._calls.labels(role).inc(calls)
        for role, tokens in answer.usage.tokens.items():
            self._tokens.labels(role, "input").inc(tokens.input)
            self._tokens.labels(role, "output").inc(tokens.output)
        self._pairs.inc(answer.usage.judge_pairs)
        self._searches.inc(answer.usage.searches)

    def exposition(self) -> bytes:
        return generate_latest(self._registry)

    def around(self, app: App) -> App:
        async def count_request(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
            began, status = time.perf_counter(), 499

            async def watch_status(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                await send(message)

            try:
                await app(scope, receive, watch_status)
            finally:
                route = getattr(scope.get("route"), "path", "")
                method = scope["method"] if scope.get("method") in _METHODS else "other"
                self._requests.labels(method, route, str(status)).inc()
                seconds = time.perf_counter() - began
                self._request_seconds.labels(route).observe(seconds)
                fields = {"method": method, "route": route or "/", "status": status, "ms": round(1000 * seconds, 1)}
                LOG.info("%(method)s %(route)s: %(status)d in %(ms).1f ms (%(id)s)", {"id": scope["id"], **fields})

        return count_request
