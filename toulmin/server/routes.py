"""Toulmin's own HTTP routes, and the application."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal
from urllib.parse import quote

import orjson
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi import Query as QueryField
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse
from fastapi.staticfiles import StaticFiles
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from pydantic import Field
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute, Match

from toulmin import __version__
from toulmin.build import jobs
from toulmin.build.sources import bm25_constants, clean_question
from toulmin.driver.drive import Job
from toulmin.errors import SourceError, ToulminError, UsageError, disk_full, is_disk_full
from toulmin.formats import answer_json, bibliography, press
from toulmin.indexing.corpus import AnyCorpus
from toulmin.retrieval.bm25 import OneDocument
from toulmin.server import openai_routes, originals, replies
from toulmin.server.desk import Desk, Document, reply
from toulmin.server.engine import Busy
from toulmin.server.guard import DEFECT, OPENING, Guard, error_document
from toulmin.server.library import LISTED, document_row, documents_document, examples_document
from toulmin.server.requests import LONGEST_TEXT, Filters, Opinion, Plain, Query, Question, TextToCheck, settings_for
from toulmin.server.streams import Events, while_connected
from toulmin.server.uploads import MOST_FILES, Uploads

_BINARIES = {"type": "array", "items": {"type": "string", "format": "binary"}}
_UPLOAD = {"type": "object", "required": ["file"], "properties": {"file": _BINARIES}}
_FILES = {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _UPLOAD}}}}
_DESCRIPTION = (
    "Answers questions from your own documents. Every claim shows its passage, a judge's verdict and the exact words."
    " Offsets count Unicode code points; ends are exclusive."
)


# ---------------------------------------------------------------- the application


def application(desk: Desk, uploads: Uploads | None = None, beside: Sequence[BaseRoute] = ()) -> Any:
    """The server as an ASGI application; without `uploads` it accepts no files."""
    app = FastAPI(
        title="Toulmin",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        servers=[{"url": desk.rules.root}] if desk.rules.root else None,
    )
    _add_errors(app)
    routers = [APIRouter(tags=[tag], responses=replies.ERRORS) for tag in ("answers", "sources", "openai", "probes")]
    answers, sources, openai, probes = routers
    _add_answers(answers, desk)
    _add_feedback(answers, desk)
    _add_drafts(answers, desk)
    _add_exports(answers, desk)
    _add_checks(answers, desk)
    _add_sources(sources, desk, uploads)
    originals.add_routes(sources, desk)
    if uploads is not None:
        _add_uploads(sources, desk, uploads)
    openai_routes.add_routes(openai, desk)
    _add_probes(probes, desk)
    for router in routers:  # `include_router` would hide which methods a path has
        app.router.routes.extend(router.routes)
    app.router.routes.extend(beside)
    # A mount would also take paths whose routes have other methods.
    app.router.default = StaticFiles(packages=[("toulmin.server", "page")], html=True)
    return Guard(desk.figures.around(app), desk.rules, lambda: desk.engine.is_open)


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(ToulminError)
    async def ours(request: Request, error: ToulminError) -> Response:
        param = getattr(error, "param", None)
        return JSONResponse(error_document(error.http_status, str(error), param), error.http_status)

    @app.exception_handler(OSError)
    async def system(request: Request, error: OSError) -> Response:
        if not is_disk_full(error):
            raise error
        return await ours(request, disk_full("what was sent"))

    @app.exception_handler(Exception)
    async def defect(request: Request, error: Exception) -> Response:
        return JSONResponse(error_document(500, DEFECT), 500)  # the server logs the error

    @app.exception_handler(ClientDisconnect)
    async def departure(request: Request, error: ClientDisconnect) -> Response:
        return Response(status_code=499)  # nobody reads it

    @app.exception_handler(RequestValidationError)
    async def misfit(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        # Parts that are no names are types.
        place = ".".join(part for part in map(str, first["loc"]) if part != "body" and part.replace("_", "").isalnum())
        status = 400 if "openai" in request.scope["route"].tags else 422
        words = f"{place or 'The request'}: {first['msg']}."
        return JSONResponse(error_document(status, words, place or None), status)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        headers = dict(error.headers or {})
        if error.status_code == 405:  # a path may have several routes
            routes = [route for route in app.routes if route.matches(request.scope)[0] is Match.PARTIAL]
            methods = {method for route in routes for method in getattr(route, "methods", ())}
            headers["Allow"] = ", ".join(sorted(methods)) or "GET, HEAD"
        return JSONResponse(error_document(error.status_code, str(error.detail)), error.status_code, headers)


def _add_answers(router: APIRouter, desk: Desk) -> None:
    @router.post("/v1/answers", summary="Answer a question", responses=replies.ANSWER)
    async def ask(asked: Question, request: Request) -> Response:
        run = desk.begin(await _job(desk, asked))
        if asked.stream or "text/event-stream" in request.headers.get("accept", ""):
            return Events(desk.drafts(run))
        return await reply(desk, run, request, answer_json.dumps)

    @router.get("/v1/answers", summary="The running answers", response_model=replies.Working)
    async def running() -> dict[str, Any]:
        return {"running": [{"id": id, "question": run.job.question} for id, run in desk.runs.items()]}

    @router.get("/v1/answers/{id}", summary="An answer, finished or not", responses=replies.KEPT)
    async def answer(id: str) -> Response:
        run = desk.runs.get(id)
        if run is not None:
            return Document(answer_json.dumps(run.answer) if run.answer else b"null", 202)
        return Document(desk.kept(id))

    @router.get("/v1/answers/{id}/recheck", summary="Recheck a kept answer", response_model=replies.Recheck)
    async def recheck(id: str) -> Response:
        document = desk.kept(id)
        await desk.engine.refresh()
        return Document(await desk.rechecks.get(id, document))

    @router.get("/v1/rechecks", summary="Kept answers whose files changed", response_model=replies.Changes)
    async def changes() -> dict[str, Any]:
        return {"changed": desk.shelf.changed()}

    @router.delete("/v1/answers/{id}", summary="Cancel an answer", status_code=204)
    async def cancel(id: str) -> Response:
        run = desk.runs.get(id)
        if run is None:
            raise SourceError(f"There is no running answer {id!r}; it has ended or never began.")
        run.cancel()
        return Response(status_code=204)

    @router.get("/v1/methods", summary="The methods and their options", response_model=list[replies.MethodListed])
    async def methods() -> list[dict[str, Any]]:
        return [method_document(name) for name in jobs.method_names()]


async def _job(desk: Desk, asked: Question) -> Job:
    job = desk.job(asked)
    if (number := asked.document) is None:
        return job
    passages = await desk.engine.read(lambda corpus: corpus.passages_of(corpus.document(number)))
    return replace(job, retriever=OneDocument(passages, *bm25_constants(desk.settings)))


def _add_feedback(router: APIRouter, desk: Desk) -> None:
    @router.get("/v1/answers/{id}/feedback", summary="Readers' feedback", response_model=replies.FeedbackRecord)
    async def said(id: str) -> dict[str, Any]:
        return {"claims": await asyncio.to_thread(desk.feedback.of_answer, id)}

    @router.post("/v1/answers/{id}/feedback", summary="Send feedback on a claim", status_code=204)
    async def say(id: str, word: Opinion) -> Response:
        desk.feedback.add(answer_json.parse(desk.kept(id)), word.claim, word.says)
        return Response(status_code=204)

    @router.get("/v1/feedback", summary="All feedback as JSON lines", responses=replies.LINES)
    async def feedback() -> Response:
        return StreamingResponse(desk.feedback.pieces(), media_type="application/jsonl")


def _add_checks(router: APIRouter, desk: Desk) -> None:
    @router.post("/v1/check", summary="Check a text against its passages or the index", responses=replies.ANSWER)
    async def check(asked: TextToCheck, request: Request) -> Response:
        passages = None if asked.passages is None else [item.passage() for item in asked.passages]
        settings = settings_for(desk.settings, asked)
        run = desk.begin(jobs.check_job(asked.text, tuple(passages or ()), settings, repair=asked.repair), passages)
        if asked.stream:
            return Events(desk.drafts(run))
        return await reply(desk, run, request, answer_json.dumps)


def method_document(name: str) -> dict[str, Any]:
    method = jobs.method(name)
    options = [
        {"name": option.name, "default": option.default if isinstance(option.default, Plain) else None}
        for option in inspect.signature(method).parameters.values()
        if option.kind is option.KEYWORD_ONLY
    ]
    return {"name": name, "about": (inspect.getdoc(method) or "").split("\n\n")[0], "options": options}


def _add_sources(router: APIRouter, desk: Desk, uploads: Uploads | None) -> None:
    @router.post("/v1/search", summary="The best passages for a query", response_model=replies.Hits)
    async def search(asked: Query) -> Response:
        hits = await desk.engine.search(clean_question(asked.query), asked.k, asked.only)
        return Document(orjson.dumps(answer_json.hits_document(asked.query, hits)))

    @router.get("/v1/passages/{id}", summary="A passage and its neighbours", response_model=replies.Beside)
    async def passage(id: str) -> dict[str, Any]:
        return await desk.engine.read(lambda corpus: _passage(corpus, id))

    @router.get("/v1/documents", summary="The documents", response_model=replies.Documents)
    async def documents(
        only: Annotated[Filters, QueryField(default_factory=list)],
        offset: Annotated[int, Field(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Field(ge=1, le=LISTED)] = 50,
        name: Annotated[str, Field(max_length=200)] = "",
        kind: Annotated[str, Field(max_length=20)] = "",
    ) -> dict[str, Any]:
        page = offset, limit, name, kind, [*(desk.settings.only or ()), *only]
        listed = await desk.engine.read(lambda corpus: documents_document(corpus, uploads, *page))
        return {**listed, "uploads": uploads is not None, "encoded": desk.engine.encoded}

    @router.get("/v1/examples", summary="The index, and example questions", response_model=replies.LibrarySummary)
    async def examples() -> dict[str, Any]:
        return await desk.engine.read(examples_document)


def _add_uploads(router: APIRouter, desk: Desk, uploads: Uploads) -> None:
    @router.post("/v1/documents", summary="Upload files", openapi_extra=_FILES, response_model=replies.UploadReport)
    async def upload(request: Request) -> dict[str, Any]:
        form = await request.form(max_files=MOST_FILES, max_fields=MOST_FILES)
        try:
            report = await uploads.add([file for _, file in form.multi_items() if isinstance(file, UploadFile)])
        finally:
            await form.close()
        await desk.engine.refresh()
        return report

    @router.delete("/v1/documents/{number}", summary="Remove an uploaded document", status_code=204)
    async def remove(number: Annotated[int, Field(ge=0, le=10**12)]) -> Response:
        listed = await desk.engine.read(lambda corpus: corpus.document(number))
        await uploads.remove(listed.path or "")
        await desk.engine.refresh()
        return Response(status_code=204)

    @router.delete("/v1/uploads/{id}", summary="Delete an upload", status_code=204)
    async def discard(id: str) -> Response:
        await uploads.discard(id)
        await desk.engine.refresh()
        return Response(status_code=204)


def _passage(corpus: AnyCorpus, id: str) -> dict[str, Any]:
    passage, beside = corpus.passage(id), corpus.neighbours(id)
    shown = {"passage": passage, "before": beside.before, "after": beside.after}
    written = {name: each and answer_json.passage_document(each, None) for name, each in shown.items()}
    return {**written, "document": document_row(corpus.document_of(id), None)}


def _add_probes(router: APIRouter, desk: Desk) -> None:
    @router.get("/healthz", summary="Whether the process answers", response_model=replies.Health)
    async def healthz() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    @router.get("/metrics", summary="Counts for Prometheus", response_class=PlainTextResponse)
    async def metrics() -> Response:
        return Response(desk.figures.exposition(), media_type=CONTENT_TYPE_LATEST)

    @router.get("/readyz", summary="Whether questions are accepted", response_model=replies.Readiness)
    async def readyz() -> dict[str, Any]:
        if not desk.engine.is_open:
            raise Busy(OPENING)
        return {"status": "ready", "running": desk.engine.running}


# ---------------------------------------------------------------- kept answers as files, and Word drafts with comments


_FORMAT = QueryField(json_schema_extra={"enum": list(press.FORMS)})
_STYLE = QueryField(max_length=120, pattern="^[a-z0-9-]+$", description="GET /v1/formats lists them")
MOST_STYLES = 50
_WORD = press.FORMS["docx"].media_type
_DRAFT = {"requestBody": {"required": True, "content": {"application/octet-stream": replies.BYTES}}}


def _add_exports(router: APIRouter, desk: Desk) -> None:
    @router.get(
        "/v1/answers/{id}/export",
        summary="A kept answer as a file",
        response_class=Response,
        responses=replies.EXPORTED,
    )
    async def export(
        id: str, format: Annotated[str, _FORMAT], style: Annotated[str, _STYLE] = bibliography.PLAIN
    ) -> Response:
        answer = answer_json.parse(desk.kept(id))
        data = await asyncio.to_thread(press.export_answer, answer, format, style=style)
        form, name = press.FORMS[format], quote(press.file_name(answer, format))
        # Old programs read only the first name.
        kept_as = f"attachment; filename=\"answer{form.ending}\"; filename*=UTF-8''{name}"
        return Response(data, media_type=form.media_type, headers={"Content-Disposition": kept_as})

    @router.get("/v1/formats", summary="Export formats and styles of references", response_model=replies.Formats)
    async def formats(style: Annotated[str, QueryField(max_length=120)] = "") -> dict[str, Any]:
        names = bibliography.style_names()
        usual = [name for name in bibliography.COMMON if name in names]
        near = [name for name in names if style.lower() in name][:MOST_STYLES] if style else usual
        listed = [
            replies.FormatListed(
                name=name, about=form.help, ending=form.ending, media_type=form.media_type, styles=form.has_style
            )
            for name, form in press.FORMS.items()
        ]
        return {"formats": listed, "styles": near, "styles_total": len(names)}


def _add_drafts(router: APIRouter, desk: Desk) -> None:
    @router.post("/v1/check/document", summary="Check a Word document", openapi_extra=_DRAFT, responses=replies.DRAFT)
    async def check(request: Request, format: Literal["docx", "json"] = "docx") -> Response:
        data = await request.body()
        with TemporaryDirectory() as folder:
            path = Path(folder) / "draft.docx"
            path.write_bytes(data)
            try:
                checked = await while_connected(desk.engine.check_file(path, LONGEST_TEXT), request.receive)
            except SourceError as error:  # clients should not see our folders
                raise UsageError(str(error).replace(str(path), "The document")) from error
            if format == "json":
                return Document(orjson.dumps(replace(checked, path="draft.docx").document))
            copy = await desk.engine.with_originals(lambda originals: originals.commented(path, checked.remarks))
            headers = {"Content-Disposition": 'attachment; filename="checked.docx"'}
            return Response(copy, media_type=_WORD, headers=headers)
