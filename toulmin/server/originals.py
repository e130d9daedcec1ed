"""The original beside an answer: a PDF's pages with marks, other documents as readable HTML, and the file.

* A request names a document or passage of the index, never a path. A file that changed since indexing is not shown.
* Child processes draw pages and documents, so a hostile file cannot exceed their limits. If a child fails, the indexed
  text is shown.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse, HTMLResponse
from pydantic import Field

from toulmin.build.originals import Originals
from toulmin.data import Document, Passage, Quote
from toulmin.documents.loaders import reader_of
from toulmin.errors import SourceError, UsageError
from toulmin.formats.clean_text import has_pages
from toulmin.indexing.corpus import AnyCorpus, IndexedDocument
from toulmin.originals.readable import LARGEST, page_of, text_body
from toulmin.server import replies
from toulmin.server.desk import Desk
from toulmin.text.language import Span

Number = Annotated[int, Field(ge=0, le=10**12)]
Offset = Annotated[int, Field(ge=0, le=10**12)] | None
Page = Annotated[int, Field(ge=1, le=10**6)]
Width = Annotated[int, Field(ge=100, le=2_400)]
_REASONS = {
    "changed": "The file changed after it was indexed; index it again.",
    "gone": "The file is no longer at its indexed place; index again.",
}
_AROUND = 600  # characters before and after the words, to tell them from the same words elsewhere
# A browser shows these without running anything.
_PLAIN = frozenset({"plain", "markup", "manual"})


class NotAsIndexed(SourceError):
    http_status = 409


class Original(NamedTuple):
    """A document of the index, with the requested passage and words."""

    document: IndexedDocument
    passage: Passage | None = None
    quote: Quote | None = None

    @property
    def path(self) -> Path:
        return Path(self.document.path or "")

    @property
    def has_pages(self) -> bool:
        return has_pages(self.document.path)

    async def check(self, originals: Originals) -> None:
        """Raises `NotAsIndexed` if the file changed or is gone."""
        state = await originals.state(self.document.path, self.document.digest)
        if state != "same":
            raise NotAsIndexed(_REASONS[state])

    async def describe(self, originals: Originals) -> dict[str, Any]:
        state = await originals.state(self.document.path, self.document.digest)
        passage, quote = self.passage, self.quote
        described: dict[str, Any] = {
            "number": self.document.number,
            "title": self.document.title,
            "path": self.document.path,
            "kind": "pages" if self.has_pages else "text",
            "state": state,
            "reason": _REASONS.get(state),
            "page": passage and self.document.place_at(passage.source.start + (quote.start if quote else 0))[0],
            "start": passage.source.start + quote.start if passage and quote else None,
            "end": passage.source.start + quote.end if passage and quote else None,
            "sizes": [],
            "marks": [],
            "boxes": [],
        }
        if state != "same":
            return described
        return described | (await self._pages(originals) if self.has_pages else self._size())

    def _size(self) -> dict[str, Any]:
        size = self.path.stat().st_size if self.document.path else 0
        if size <= LARGEST:
            return {}
        return {"reason": f"The file has {size / 1e6:,.1f} MB; above {LARGEST / 1e6:,.0f} MB only its text is shown."}

    async def _pages(self, originals: Originals) -> dict[str, Any]:
        passage, quote = self.passage, self.quote
        boxes = await originals.boxes_of_passage(passage, quote) if passage and quote else ()
        try:
            layout = await originals.layout(self.path, self.document.digest, boxes)
        except SourceError as error:
            return {"reason": str(error)}
        return {**layout, "boxes": list(map(asdict, boxes))}


def add_routes(router: APIRouter, desk: Desk) -> None:
    @router.get("/v1/passages/{id}/original", summary="A passage in its file", response_model=replies.Original)
    async def passage_original(id: str, start: Offset = None, end: Offset = None) -> dict[str, Any]:
        original = await desk.engine.read(partial(_of_passage, id=id, start=start, end=end))
        return await desk.engine.with_originals(original.describe)

    @router.get("/v1/documents/{number}/original", summary="How to show a document", response_model=replies.Original)
    async def document_original(number: Number) -> dict[str, Any]:
        original = await desk.engine.read(lambda corpus: Original(corpus.document(number)))
        return await desk.engine.with_originals(original.describe)

    @router.get(
        "/v1/documents/{number}/pages/{page}",
        summary="A page of a PDF",
        response_class=Response,
        responses=replies.PICTURE,
    )
    async def page_picture_(number: Number, page: Page, width: Width = 900) -> Response:
        original = await desk.engine.read(lambda corpus: Original(corpus.document(number)))
        await desk.engine.with_originals(original.check)
        if not original.has_pages:
            raise SourceError(f"{original.document.title} is no PDF and has no pages; request it as `readable`.")
        about = original.path, original.document.digest, page, width
        picture = await desk.engine.with_originals(lambda originals: originals.picture(*about))
        return Response(picture, media_type="image/webp")

    @router.get(
        "/v1/documents/{number}/readable",
        summary="A document as HTML",
        response_class=Response,
        responses=replies.READABLE,
    )
    async def readable(number: Number, start: Offset = None, end: Offset = None) -> Response:
        original, text = await desk.engine.read(partial(_with_text, number=number))
        span = _check_span(start, end, len(text))
        await desk.engine.with_originals(original.check)
        return HTMLResponse(await _readable(desk, original, text, span))

    @router.get(
        "/v1/documents/{number}/file", summary="The file of a document", response_class=Response, responses=replies.FILE
    )
    async def file(number: Number) -> Response:
        original = await desk.engine.read(lambda corpus: Original(corpus.document(number)))
        await desk.engine.with_originals(original.check)
        return _file(original)


async def _readable(desk: Desk, original: Original, text: str, span: Span) -> str:
    """The document as it looks, else its text."""
    start, end = span
    document = original.document
    if document.path is not None and document.record is None and not original.has_pages:
        words = [text[start:end], text[max(0, start - _AROUND) : start], text[end : end + _AROUND]]
        row = text.count("\n\n", 0, start)
        about = original.path, document.digest, words, start, row
        with suppress(SourceError):
            shown = await desk.engine.with_originals(lambda originals: originals.look(*about))
            return page_of(document.title, str(shown["body"]), str(shown["kind"]))
    return page_of(document.title, text_body(Document(text, document.title), start, end), "text")


def _check_span(start: int | None, end: int | None, size: int) -> Span:
    """Raises `UsageError` unless 0 <= start < end <= size."""
    if start is None and end is None:
        return Span(0, 0)
    if start is None or end is None:
        raise UsageError("Name both start and end, or neither.")
    if not start < end <= size:
        raise UsageError(f"start and end should be 0 <= start < end <= {size}, not {start} and {end}.")
    return Span(start, end)


def _with_text(corpus: AnyCorpus, number: int) -> tuple[Original, str]:
    document = corpus.document(number)
    return Original(document), corpus.text(document)


def _of_passage(corpus: AnyCorpus, id: str, start: int | None, end: int | None) -> Original:
    passage = corpus.passage(id)
    span = _check_span(start, end, len(passage.text))
    return Original(corpus.document_of(id), passage, passage.quote(*span) if span.end else None)


def _file(original: Original) -> Response:
    if original.document.path is None:
        raise SourceError(f"{original.document.title} was not read from a file.")
    media, inline = "application/octet-stream", False
    if original.has_pages:
        media, inline = "application/pdf", True
    elif reader_of(original.path)[0] in _PLAIN:
        media, inline = "text/plain; charset=utf-8", True
    # Chrome shows no PDF in a sandbox, and runs no script of a PDF outside one.
    headers = {} if original.has_pages else {"Content-Security-Policy": "default-src 'none'; sandbox"}
    kind = "inline" if inline else "attachment"
    return FileResponse(
        original.path, media_type=media, filename=original.path.name, content_disposition_type=kind, headers=headers
    )
