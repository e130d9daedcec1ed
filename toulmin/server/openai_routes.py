"""The routes of OpenAI's clients; a model is a method.

A stream cannot withdraw text, so it sends supported claims in order; other claims that the policy keeps follow at the
end. Annotation offsets count code points of the sent text.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import count, takewhile
from typing import Any, NamedTuple

import orjson
from fastapi import APIRouter, Request, Response

from toulmin.build import jobs
from toulmin.build.sources import clean_question
from toulmin.data import Answer, Claim, Tokens, Usage
from toulmin.errors import ModelError, SourceError
from toulmin.formats import answer_json
from toulmin.formats import openai as shapes
from toulmin.formats.clean_text import reason, tokens
from toulmin.methods.following import MOST_TURNS
from toulmin.prompts.templates import estimate_tokens
from toulmin.server.desk import Desk, Document, reply
from toulmin.server.engine import Running
from toulmin.server.guard import failure_document
from toulmin.server.openai_requests import RESPONSE, ChatCompletion, Inquiry, OpenAIRequest, ParameterRefused
from toulmin.server.openai_requests import Response as AskedResponse
from toulmin.server.replies import OTHERS
from toulmin.server.requests import EarlierTurn, Question
from toulmin.server.streams import Events, event

PREFIX = "toulmin/"  # optional, before the name of a method
STOPPED = "The first sentence of the answer contains a stop sequence."


class Piece(NamedTuple):
    text: str
    annotations: list[dict[str, Any]]


class Writer:
    """Writes an answer sentence by sentence, within the limit and in the form of its request.

    `ending` is OpenAI's word for the end; `extra` has what OpenAI's formats have no field for.
    """

    def __init__(self, inquiry: Inquiry, run: Running) -> None:
        job = run.job
        self.answer = Answer(job.question, job.style, job.method, "abstained", settings=dict(job.settings), id=job.id)
        self.pieces: list[Piece] = []
        self.refusal: str | None = None
        self.ending = ""
        self.extra: dict[str, Any] = {}
        self.run, self._inquiry = run, inquiry
        self._claims: tuple[Claim, ...] = ()

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def annotations(self) -> list[dict[str, Any]]:
        return [mark for piece in self.pieces for mark in piece.annotations]

    @property
    def message(self) -> dict[str, Any]:
        return {"content": self.text or None, "refusal": self.refusal, "annotations": self.annotations}

    def add(self, answer: Answer, is_final: bool) -> None:
        """Writes a draft's new claims up to the first unsupported one; of a final answer all the rest."""
        sent = {(claim.text, claim.cited) for claim in self._claims}
        unsent = [claim for claim in answer.claims if (claim.text, claim.cited) not in sent]
        new = unsent if is_final else list(takewhile(lambda claim: claim.is_supported, unsent))
        if not new or self.ending:
            return
        so_far = replace(answer, status="answered", claims=(*self._claims, *new))
        kept, ending = self._inquiry.kept(so_far)
        for n in range(len(self._claims), 0 if self._inquiry.is_json else kept):
            part = replace(so_far, claims=so_far.claims[: n + 1])
            text, marks = shapes.escape(part.text), shapes.url_citations(part)
            self.pieces.append(Piece(text[len(self.text) :], marks[len(self.annotations) :]))
        self._claims, self.ending = so_far.claims[:kept], ending if kept < len(so_far.claims) else ""

    def finish(self, answer: Answer) -> Writer:
        """Writes the rest and returns itself; raises `ModelError` for a failed answer."""
        if answer.status == "failed":
            raise ModelError(reason(answer))
        self.add(answer, is_final=True)
        claims, followed = self._claims if answer.claims else (), self._inquiry.followed
        notes = (STOPPED,) if answer.claims and not claims else answer.notes
        answer = replace(answer, claims=claims, status="answered" if claims else "abstained", notes=notes)
        if self._inquiry.is_json:
            self.pieces.append(Piece(answer_json.dumps(answer).decode(), []))
        elif not claims:
            self.refusal = shapes.escape(reason(answer))
            self.pieces.append(Piece(self.refusal, []))
        reading = {"question": answer.question, "asked": answer.asked} if answer.asked else {}
        extra = {**reading, **({} if followed is None else {"instructions": followed})}
        self.extra, self.ending = {"toulmin": extra} if extra else {}, self.ending or "stop"
        self.answer = answer if any(tokens(answer)) else replace(answer, usage=self._count(answer))
        return self

    def _count(self, answer: Answer) -> Usage:
        """With tokens by our own count, as no model reported any."""
        read = "\n".join([answer.asked or answer.question, *(passage.text for passage in answer.passages)])
        return replace(answer.usage, tokens={"main": Tokens(estimate_tokens(read), estimate_tokens(self.text))})


def add_routes(router: APIRouter, desk: Desk) -> None:
    @router.get("/v1/models", summary="The methods, as models")
    async def models() -> dict[str, Any]:
        return {"object": "list", "data": [await model(name) for name in jobs.method_names()]}

    @router.get("/v1/models/{id:path}", summary="A method, as a model")
    async def model(id: str) -> dict[str, Any]:
        if id.removeprefix(PREFIX) not in jobs.method_names():
            raise SourceError(f"There is no model {id!r}; GET /v1/models lists them.")
        return {"id": id, "object": "model", "created": 0, "owned_by": "toulmin"}

    @router.post("/v1/chat/completions", summary="A cited answer as a chat completion", responses=OTHERS)
    async def completions(asked: ChatCompletion, request: Request) -> Response:
        writer = _begin(desk, asked, asked.inquiry())
        if asked.stream:
            return Events(_chunks(desk, writer, bool((asked.stream_options or {}).get("include_usage"))))
        return await reply(desk, writer.run, request, lambda answer: _completion(writer.finish(answer)))

    @router.post("/v1/responses", summary="A cited answer as a response", responses=OTHERS)
    async def responses(asked: AskedResponse, request: Request) -> Response:
        writer = _begin(desk, asked, asked.inquiry(), _earlier(desk, asked.previous_response_id))
        if asked.stream:
            return Events(_events(desk, asked, writer))

        def write(answer: Answer) -> bytes:
            return orjson.dumps(_response(desk, asked, writer.finish(answer)))

        return await reply(desk, writer.run, request, write)

    @router.get("/v1/responses/{id}", summary="A kept response", responses=OTHERS)
    async def response(id: str) -> Response:
        return Document(desk.kept(id if id.startswith(RESPONSE) else RESPONSE + id))


def _begin(desk: Desk, asked: OpenAIRequest, inquiry: Inquiry, earlier: Sequence[EarlierTurn] = ()) -> Writer:
    question, history = clean_question(inquiry.question), [*earlier, *inquiry.history]
    method, style = asked.model.removeprefix(PREFIX), (inquiry.followed or {}).get("style")
    form = Question(question=question, history=history, rewrite=asked.rewrite, method=method, style=style)
    return Writer(inquiry, desk.begin(desk.job(form)))


def _earlier(desk: Desk, id: str | None) -> list[EarlierTurn]:
    """The turns before, oldest first; raises `ParameterRefused` for a response that is not kept."""
    turns: list[EarlierTurn] = []
    while id and len(turns) < MOST_TURNS:
        document = desk.shelf.get(id) if id.startswith(RESPONSE) else None
        if document is None:
            raise ParameterRefused("previous_response_id", f"there is no response {id!r} here; the newest are kept.")
        turns.insert(0, EarlierTurn.model_construct(question="", id=id.removeprefix(RESPONSE)))
        id = orjson.loads(document)["previous_response_id"]
    return turns


async def _pieces(desk: Desk, writer: Writer) -> AsyncIterator[Piece]:
    sent = 0
    try:
        async for draft in writer.run.drafts():
            writer.add(draft, is_final=False)
            for piece in writer.pieces[sent:]:
                yield piece
            sent = len(writer.pieces)
        writer.finish(await desk.finish(writer.run))
        for piece in writer.pieces[sent:]:
            yield piece
    finally:
        desk.wrap_up(writer.run)


# ---------------------------------------------------------------- chat completions


def _completion(writer: Writer) -> bytes:
    completion = shapes.chat_completion(writer.answer, f"chatcmpl-{writer.answer.id}", created=int(time.time()))
    choice = completion["choices"][0]
    choice["finish_reason"] = writer.ending
    choice["message"] |= writer.message
    return orjson.dumps({**completion, "model": writer.answer.method, **writer.extra})


async def _chunks(desk: Desk, writer: Writer, usage: bool) -> AsyncIterator[bytes]:
    head = {"id": f"chatcmpl-{writer.answer.id}", "object": "chat.completion.chunk", "created": int(time.time())}
    head["model"] = writer.answer.method

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return event(None, orjson.dumps({**head, "choices": [choice], **more}))

    yield chunk({"role": "assistant", "content": ""})
    try:
        async for piece in _pieces(desk, writer):
            yield chunk({"content": piece.text, "annotations": piece.annotations})
        yield chunk({"refusal": writer.refusal} if writer.refusal else {}, writer.ending, **writer.extra)
        if usage:
            token_counts = shapes.chat_completion(writer.answer, "")["usage"]
            yield event(None, orjson.dumps({**head, "choices": [], "usage": token_counts}))
    except Exception as error:
        yield event(None, orjson.dumps(failure_document(error)))
    yield event(None, b"[DONE]")


# ---------------------------------------------------------------- responses


def _response(desk: Desk, asked: AskedResponse, writer: Writer) -> dict[str, Any]:
    """The response; a finished one is kept."""
    id = RESPONSE + writer.answer.id
    document = shapes.response(writer.answer, id, created=int(time.time())) | {"model": writer.answer.method}
    document |= answer_json.plain(
        asked.model_dump(include={"previous_response_id", "instructions", "max_output_tokens"})
    )
    if writer.ending == "length":
        document |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    document["output"][0] |= {"status": document["status"], "content": shapes.parts_of(writer.message)}
    if writer.ending and asked.store is not False:
        desk.shelf.put(id, orjson.dumps(document | writer.extra))
    return document | writer.extra


async def _events(desk: Desk, asked: AskedResponse, writer: Writer) -> AsyncIterator[bytes]:
    numbers, marks = count(), count()
    item = f"msg_{RESPONSE}{writer.answer.id}"

    def tell(kind: str, **fields: Any) -> bytes:
        kind = f"response.{kind}"
        return event(kind, orjson.dumps({"type": kind, "sequence_number": next(numbers), **fields}))

    def tell_part(kind: str, n: int, **fields: Any) -> bytes:
        return tell(kind, item_id=item, output_index=0, content_index=n, **fields)

    empty = {**_response(desk, asked, writer), "status": "in_progress", "output": []}
    yield tell("created", response=empty)
    yield tell("in_progress", response=empty)
    message = {"type": "message", "id": item, "role": "assistant", "status": "in_progress", "content": []}
    yield tell("output_item.added", output_index=0, item=message)
    try:
        async for piece in _pieces(desk, writer):
            if piece is writer.pieces[0]:
                part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
                yield tell_part("content_part.added", 0, part=part)
            yield tell_part("output_text.delta", 0, delta=piece.text, logprobs=[])
            for mark in shapes.flat(piece.annotations):
                yield tell_part("output_text.annotation.added", 0, annotation=mark, annotation_index=next(marks))
        for n, part in enumerate(shapes.parts_of(writer.message)):
            if "text" in part:
                yield tell_part("output_text.done", n, text=part["text"], logprobs=[])
            else:
                yield tell_part("content_part.added", n, part={**part, "refusal": ""})
                yield tell_part("refusal.delta", n, delta=part["refusal"])
                yield tell_part("refusal.done", n, refusal=part["refusal"])
            yield tell_part("content_part.done", n, part=part)
        document = _response(desk, asked, writer)
        yield tell("output_item.done", output_index=0, item=document["output"][0])
        yield tell(document["status"], response=document)
    except Exception as error:
        message = failure_document(error)["error"]["message"]
        failed = {**empty, "status": "failed", "error": {"code": "server_error", "message": message}}
        yield tell("failed", response=failed)
