"""The Model Context Protocol tools, over HTTP and standard streams.

`search` and `fetch` are the pair that assistants' connectors expect, with JSON as text. `ask` and `check` reply in
words, with the Answer document as structured content.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from io import TextIOWrapper
from typing import Annotated, Any

import anyio
import orjson
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError
from starlette.routing import BaseRoute

from toulmin import __version__
from toulmin.build import jobs
from toulmin.build.sources import clean_question
from toulmin.data import Answer, Box, Citation, Passage, Style
from toulmin.errors import ToulminError
from toulmin.formats import answer_json
from toulmin.formats.clean_text import address, page_in, reason, title
from toulmin.server.desk import Desk
from toulmin.server.engine import Running
from toulmin.server.guard import mended, without_folders
from toulmin.server.requests import Filters, Question, RequestPassage

PATH = "/mcp"
FOUND = 10  # passages of a search
Only = Annotated[Filters | None, Field(description="only documents that pass: a/*.md, tag:x, author:x, after:2024-01")]
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_INSTRUCTIONS = """Answers from the documents of this server's owner. `ask` returns sentences that cite passages, each
with the verdict of a judge; it does not answer what the sources do not contain. `check` judges a text against them."""


class _Tools(MCPServer[Any]):
    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Errors keep our own words; of wrong arguments they name the first."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                raise ToolError(_misfit(cause.errors()[0])) from cause
            if isinstance(cause, ToolError | ToulminError):
                raise ToolError(without_folders(str(cause))) from cause
            raise


def tools(desk: Desk) -> MCPServer[Any]:
    made = _Tools("toulmin", instructions=_INSTRUCTIONS, version=__version__, log_level="WARNING")

    @made.tool(
        annotations=_READS, description="Answer a question from the documents; every sentence cites its passages."
    )
    async def ask(
        question: str,
        ctx: Context[Any, Any],
        style: Annotated[Style | None, Field(description="long, list, short or report")] = None,
        method: Annotated[str | None, Field(description="how to answer (default: best)")] = None,
        only: Only = None,
    ) -> CallToolResult:
        asked = Question(question=clean_question(question), style=style, method=method, only=only)
        return await _reply(desk, desk.begin(desk.job(asked)), ctx)

    @made.tool(annotations=_READS, description="Judge whether the cited passages support each claim of a text.")
    async def check(
        text: str,
        ctx: Context[Any, Any],
        passages: Annotated[
            list[RequestPassage | str] | None,
            Field(description="texts; [n] in the text names the n-th; without passages the documents are searched"),
        ] = None,
        only: Only = None,
    ) -> CallToolResult:
        whole = [RequestPassage(text=item) if isinstance(item, str) else item for item in passages or ()]
        given = None if passages is None else [item.passage() for item in whole]
        job = jobs.check_job(text, tuple(given or ()), desk.settings.override(only=only))
        return await _reply(desk, desk.begin(job, given), ctx)

    @made.tool(annotations=_READS, description="Find passages; `fetch` returns the text of one by its id.")
    async def search(query: str, only: Only = None) -> CallToolResult:
        hits = await desk.engine.search(clean_question(query), FOUND, only)
        results = [{"id": hit.passage.id, "title": title(hit.passage), "url": address(hit.passage)} for hit in hits]
        return _json({"results": results})

    @made.tool(annotations=_READS, description="The text of a passage that `search` found.")
    async def fetch(id: str) -> CallToolResult:
        passage = await desk.engine.read(lambda corpus: corpus.passage(id))
        boxes = await desk.engine.with_originals(lambda originals: originals.boxes_of_passage(passage))
        return _json(_passage_document(passage, boxes))

    return made


# ---------------------------------------------------------------- what the tools reply


def _misfit(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"] if part not in ("RequestPassage", "str"))
    words = "is missing" if error["type"] == "missing" else re.sub(r"^\w+ should", "should", error["msg"])
    return f"{place} {words}."


def _passage_document(passage: Passage, boxes: Sequence[Box]) -> dict[str, Any]:
    source = answer_json.passage_document(passage, None)["source"]
    source |= source.pop("metadata")
    metadata = {name: str(value) for name, value in source.items() if value is not None}
    about = {"id": passage.id, "title": title(passage), "text": passage.text, "url": address(passage)}
    target = answer_json.target_of(Citation(passage.id), passage)
    return {**about, "metadata": metadata, "boxes": answer_json.plain(boxes), **answer_json.plain(target)}


async def _reply(desk: Desk, run: Running, ctx: Context[Any, Any]) -> CallToolResult:
    """Reports drafts as progress; a cancelled call ends the run."""
    try:
        drafts = 0
        async for draft in run.drafts():
            drafts += 1
            kept = sum(claim.is_supported for claim in draft.claims)
            await ctx.report_progress(drafts, message=f"{kept} supported so far")
        answer = await desk.finish(run)
    finally:
        desk.wrap_up(run)
    if answer.status == "failed":
        raise ToolError(reason(answer))
    content = TextContent(type="text", text=in_words(answer))
    return CallToolResult(content=[content], structured_content=_short(answer_json.document(answer)))


def _short(document: Mapping[str, Any]) -> dict[str, Any]:
    """Without rounds, settings and uncited passages, to fit an assistant's context."""
    kept = {name: value for name, value in document.items() if name not in ("rounds", "settings")}
    return {**kept, "passages": [passage for passage in document["passages"] if passage["n"] is not None]}


def in_words(answer: Answer) -> str:
    if not answer.claims:
        return reason(answer)
    doubted = [
        f"- {claim.support.label}: {claim.text}" + (f" ({claim.support.reason})" if claim.support.reason else "")
        for claim in answer.claims
        if claim.support and claim.fails
    ]
    sources = [f"[{n}] {title(passage)}: {_quotes(answer, passage)}" for n, passage in enumerate(answer.cited, 1)]
    parts = [answer.text, *(["Not supported:\n" + "\n".join(doubted)] if doubted else [])]
    return "\n\n".join([*parts, "Sources:\n" + "\n".join(sources)] if sources else parts)


def _quotes(answer: Answer, passage: Passage) -> str:
    cited = [citation for claim in answer.claims for citation in claim.citations if citation.passage == passage.id]
    places = ((each, ", ".join(filter(None, (page_in(passage, each), each.section_in(passage))))) for each in cited)
    words = ((each.quote.text if each.quote else passage.text[:200], place) for each, place in places)
    return " … ".join(f"{text} ({place})" if place else text for text, place in dict.fromkeys(words))


def _json(document: Mapping[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=orjson.dumps(document).decode())])


# ---------------------------------------------------------------- over standard streams and HTTP


class _Input(TextIOWrapper):
    # The library would not reply to half a surrogate pair.
    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        return mended(super().readline(size).encode()).decode()


async def serve_streams(desk: Desk) -> None:
    """Until the input ends. No child may read what belongs to it, or write among the replies."""
    private, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    lines = _Input(os.fdopen(private, "rb", closefd=False), encoding="utf-8", errors="replace")
    server = tools(desk)._lowlevel_server
    async with stdio_server(anyio.wrap_file(lines)) as (read, write):
        await server.run(read, write, server.create_initialization_options())


@asynccontextmanager
async def open_routes(desk: Desk) -> AsyncIterator[Sequence[BaseRoute]]:
    made = tools(desk)
    unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = made.streamable_http_app(streamable_http_path=PATH, stateless_http=True, transport_security=unguarded)
    async with made.session_manager.run():
        yield app.routes
