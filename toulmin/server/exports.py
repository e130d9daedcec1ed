"""Kept answers as files to take along."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import FastAPI, Query, Response

from toulmin.formats import answer_json, bibliography, press
from toulmin.server import replies
from toulmin.server.desk import Desk

_FORMAT = Query(json_schema_extra={"enum": list(press.FORMS)})
_STYLE = Query(max_length=120, pattern="^[a-z0-9-]+$", description="GET /v1/formats lists them")
MOST_STYLES = 50


def add_routes(app: FastAPI, desk: Desk) -> None:
    @app.get(
        "/v1/answers/{id}/export",
        tags=["answers"],
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
        # Programs that do not know the second name take the first.
        kept_as = f"attachment; filename=\"answer{form.ending}\"; filename*=UTF-8''{name}"
        return Response(data, media_type=form.media_type, headers={"Content-Disposition": kept_as})

    @app.get(
        "/v1/formats",
        tags=["answers"],
        summary="The formats of `export`, and styles of references",
        response_model=replies.Formats,
    )
    async def formats(style: Annotated[str, Query(max_length=120)] = "") -> dict[str, Any]:
        names = bibliography.style_names()
        usual = [name for name in bibliography.COMMON if name in names]
        near = [name for name in names if style.lower() in name][:MOST_STYLES] if style else usual
        listed = [
            {
                "name": name,
                "about": form.help,
                "ending": form.ending,
                "media_type": form.media_type,
                "styles": form.has_style,
            }
            for name, form in press.FORMS.items()
        ]
        return {"formats": listed, "styles": near, "styles_total": len(names)}
