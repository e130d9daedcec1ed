"""Kept answers as files, and Word drafts with comments."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal
from urllib.parse import quote

import orjson
from fastapi import APIRouter, Query, Request, Response

from toulmin.errors import SourceError, UsageError
from toulmin.formats import answer_json, bibliography, press
from toulmin.server import replies
from toulmin.server.desk import Desk, Document
from toulmin.server.requests import LONGEST_TEXT
from toulmin.server.streams import while_connected

_FORMAT = Query(json_schema_extra={"enum": list(press.FORMS)})
_STYLE = Query(max_length=120, pattern="^[a-z0-9-]+$", description="GET /v1/formats lists them")
MOST_STYLES = 50
_WORD = press.FORMS["docx"].media_type
_DRAFT = {"requestBody": {"required": True, "content": {"application/octet-stream": replies.BYTES}}}


def add_routes(router: APIRouter, desk: Desk) -> None:
    _add_drafts(router, desk)

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
    async def formats(style: Annotated[str, Query(max_length=120)] = "") -> dict[str, Any]:
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
