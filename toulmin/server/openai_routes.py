"""The routes of OpenAI's clients; a model is a method.

A stream cannot withdraw text, so it sends supported claims in order; other claims that the policy keeps follow at the
end. Annotation offsets count code points of the sent text.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import count, takewhile
from typing import Any, NamedTuple

import orjson
from fastapi import APIRouter, Request, Response

from toulmin.build import jobs
from toulmin.build.sources import clean_question
from toulmin.data import Answer, Claim
from toulmin.errors import ModelError, ToulminError
from toulmin.formats import openai as shapes
from toulmin.formats.clean_text import reason
from toulmin.server.desk import Desk, reply
from toulmin.server.engine import Running
from toulmin.server.guard import error_document
from toulmin.server.replies import OTHERS
from toulmin.server.requests import ChatCompletion, EarlierTurn, Question, conversation
from toulmin.server.requests import Response as AskedResponse
from toulmin.server.streams import Events, event

PREFIX = "toulmin/"  # optional, before the name of a method


class Piece(NamedTuple):
    text: str
    annotations: list[dict[str, Any]]


class ChunkSender:
    def __init__(self) -> None:
        self._claims: tuple[Claim, ...] = ()
        self._text, self._annotated = "", 0

    def more(self, answer: Answer, is_final: bool) -> Piece | None:
        """A draft's new claims up to the first unsupported one; for a final answer all the rest."""
        sent = {(claim.text, claim.cited) for claim in self._claims}
        unsent = [claim for claim in answer.claims if (claim.text, claim.cited) not in sent]
        new = unsent if is_final else list(takewhile(lambda claim: claim.is_supported, unsent))
        if not new:
            return None
        self._claims += tuple(new)
        so_far = replace(answer, status="answered", claims=self._claims)
        text, marks = shapes.escape(so_far.text), [*shapes.url_citations(so_far)]
        piece = Piece(text[len(self._text) :], marks[self._annotated :])
        self._text, self._annotated = text, len(marks)
        return piece


def add_routes(router: APIRouter, desk: Desk) -> None:
    @router.get("/v1/models", summary="The methods, as models")
    async def models() -> dict[str, Any]:
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "toulmin"} for name in jobs.method_names()]
        return {"object": "list", "data": listed}

    @router.post("/v1/chat/completions", summary="A cited answer as a chat completion", responses=OTHERS)
    async def completions(asked: ChatCompletion, request: Request) -> Response:
        run = _begin(desk, asked, *conversation(asked.messages))
        if asked.stream:
            usage = bool((asked.stream_options or {}).get("include_usage"))
            return Events(_chunks(desk, run, usage))
        return await reply(desk, run, request, _completion)

    @router.post("/v1/responses", summary="A cited answer as a response", responses=OTHERS)
    async def responses(asked: AskedResponse, request: Request) -> Response:
        run = _begin(desk, asked, *((asked.input, []) if isinstance(asked.input, str) else conversation(asked.input)))
        if asked.stream:
            return Events(_events(desk, run))
        return await reply(desk, run, request, _response)


def _begin(desk: Desk, asked: ChatCompletion | AskedResponse, question: str, history: list[EarlierTurn]) -> Running:
    method = asked.model.removeprefix(PREFIX)
    question = clean_question(question)
    return desk.begin(desk.job(Question(question=question, history=history, rewrite=asked.rewrite, method=method)))


def _completion(answer: Answer) -> bytes:
    _raise(answer)
    completion = shapes.chat_completion(answer, f"chatcmpl-{answer.id}", created=int(time.time()))
    return orjson.dumps({**completion, "model": answer.method, **_reading(answer)})


def _response(answer: Answer) -> bytes:
    _raise(answer)
    return orjson.dumps(_response_document(answer, answer.id))


def _response_document(answer: Answer, id: str) -> dict[str, Any]:
    document = shapes.response(answer, f"resp_{id}", created=int(time.time()))
    return {**document, "model": answer.method, **_reading(answer)}


def _reading(answer: Answer) -> dict[str, Any]:
    """A rewritten question; OpenAI's format has no field for it."""
    return {"toulmin": {"question": answer.question, "asked": answer.asked}} if answer.asked else {}


def _raise(answer: Answer) -> None:
    if answer.status == "failed":
        raise ModelError(reason(answer))


async def _pieces(desk: Desk, run: Running) -> AsyncIterator[Piece | Answer]:
    sent = ChunkSender()
    try:
        async for draft in run.drafts():
            if piece := sent.more(draft, is_final=False):
                yield piece
        answer = await desk.finish(run)
        _raise(answer)
        if piece := sent.more(answer, is_final=True):
            yield piece
        yield answer
    finally:
        desk.wrap_up(run)


# ---------------------------------------------------------------- chat completions


async def _chunks(desk: Desk, run: Running, usage: bool) -> AsyncIterator[bytes]:
    head = {"id": f"chatcmpl-{run.job.id}", "object": "chat.completion.chunk", "created": int(time.time())}
    head["model"] = run.job.method

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return event(None, orjson.dumps({**head, "choices": [choice], **more}))

    yield chunk({"role": "assistant", "content": ""})
    try:
        async for output in _pieces(desk, run):
            if isinstance(output, Piece):
                yield chunk({"content": output.text, "annotations": output.annotations})
                continue
            yield chunk({} if output.claims else {"refusal": shapes.escape(reason(output))}, "stop", **_reading(output))
            if usage:
                token_counts = shapes.chat_completion(output, "")["usage"]
                yield event(None, orjson.dumps({**head, "choices": [], "usage": token_counts}))
    except ToulminError as error:
        yield event(None, orjson.dumps(error_document(error.http_status, str(error))))
    yield event(None, b"[DONE]")


# ---------------------------------------------------------------- responses


async def _events(desk: Desk, run: Running) -> AsyncIterator[bytes]:
    numbers, text = count(), ""
    place = {"item_id": f"msg_resp_{run.job.id}", "output_index": 0, "content_index": 0}

    def tell(kind: str, **fields: Any) -> bytes:
        return event(kind, orjson.dumps({"type": kind, "sequence_number": next(numbers), **fields}))

    empty = {**_response_document(_nothing(run), run.job.id), "output": []}
    yield tell("response.created", response={**empty, "status": "in_progress"})
    yield tell("response.in_progress", response={**empty, "status": "in_progress"})
    message = {"type": "message", "id": f"msg_resp_{run.job.id}", "role": "assistant"}
    yield tell("response.output_item.added", output_index=0, item={**message, "status": "in_progress", "content": []})
    part: dict[str, Any] = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    yield tell("response.content_part.added", **place, part=part)
    marks: list[dict[str, Any]] = []
    try:
        async for output in _pieces(desk, run):
            if isinstance(output, Piece):
                text += output.text
                yield tell("response.output_text.delta", **place, delta=output.text, logprobs=[])
                for mark in output.annotations:
                    flat, n = {"type": "url_citation", **mark["url_citation"]}, len(marks)
                    yield tell("response.output_text.annotation.added", **place, annotation=flat, annotation_index=n)
                    marks.append(flat)
                continue
            done = _response_document(output, run.job.id)
            if output.claims:
                part = {"type": "output_text", "text": text, "annotations": marks, "logprobs": []}
                yield tell("response.output_text.done", **place, text=text, logprobs=[])
            else:
                part = {"type": "refusal", "refusal": shapes.escape(reason(output))}
                yield tell("response.refusal.done", **place, refusal=part["refusal"])
            item = {**message, "status": "completed", "content": [part]}
            yield tell("response.content_part.done", **place, part=part)
            yield tell("response.output_item.done", output_index=0, item=item)
            yield tell("response.completed", response={**done, "output": [item]})
    except ToulminError as error:
        failed = {**empty, "status": "failed", "error": {"code": "server_error", "message": str(error)}}
        yield tell("response.failed", response=failed)


def _nothing(run: Running) -> Answer:
    job = run.job
    return Answer(job.question, job.style, job.method, "abstained", settings=dict(job.settings), id=job.id)
