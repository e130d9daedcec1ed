"""The server's replies, described for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from toulmin.checking.recheck import State
from toulmin.evaluation.feedback import Saying
from toulmin.formats.answer_reading import AnswerDocument, PassageDocument
from toulmin.formats.press import FORMS
from toulmin.originals.citations import State as FileState

Responses = dict[int | str, dict[str, Any]]


class Problem(BaseModel):
    """What went wrong, and what to do."""

    message: str
    type: str
    param: str | None
    code: str


class Failure(BaseModel):
    """The shape of every error, as OpenAI's clients read it."""

    error: Problem


Ranked = create_model("Ranked", passage=(PassageDocument, ...), score=(float, ...))
Hits = create_model("Hits", query=(str, ...), hits=(list[Ranked], ...))  # type: ignore[valid-type]


class DocumentListed(BaseModel):
    """A document of the index; clients may remove `uploaded` ones."""

    number: int
    title: str
    path: str | None
    url: str | None
    record: str | None
    pages: int | None
    kind: str
    passages: int
    uploaded: bool = False


class NotRead(BaseModel):
    """A file that could not be indexed, and why."""

    path: str
    reason: str
    upload: str | None


class Ahead(BaseModel):
    """How many passages have vectors, and the seconds until all have (null: not known yet)."""

    done: int
    total: int
    seconds_left: float | None


class Documents(BaseModel):
    """A page of documents, the first unreadable files, and how far the vectors are that are made ahead.

    `total` counts the documents of that name and kind, `kinds` those of that name; all paths begin with `folder`.
    """

    total: int
    passages: int
    offset: int
    kinds: dict[str, int]
    folder: str
    documents: list[DocumentListed]
    skipped_total: int
    skipped: list[NotRead]
    uploads: bool
    encoded: Ahead | None


class LibrarySummary(BaseModel):
    """What an index holds, and questions made from its headings."""

    documents: int
    passages: int
    kinds: dict[str, int]
    examples: list[str]


class FeedbackRecord(BaseModel):
    """What readers last said of the claims of an answer, by place from 0."""

    claims: dict[int, Saying]


Beside = create_model(
    "Beside",
    passage=(PassageDocument, ...),
    before=(PassageDocument | None, ...),
    after=(PassageDocument | None, ...),
    document=(DocumentListed, ...),
)


class MarkShown(BaseModel):
    """A rectangle in shares of the page as displayed, from its upper left corner."""

    page: int
    x: float
    y: float
    width: float
    height: float


class BoxShown(BaseModel):
    """A rectangle in points from the lower left corner of the page before it is cropped or turned."""

    page: int
    left: float
    bottom: float
    right: float
    top: float


class Original(BaseModel):
    """How a document's file is shown: a PDF by its pages, of `sizes` in points, anything else as `readable`.

    `start` and `end` are the offsets of the words in the document's text; `reason` says why nothing can be shown.
    """

    number: int
    title: str
    path: str | None
    kind: Literal["pages", "text"]
    state: FileState
    reason: str | None
    page: int | None
    sizes: list[tuple[float, float]]
    marks: list[MarkShown]
    boxes: list[BoxShown]
    start: int | None
    end: int | None


class Now(BaseModel):
    """A claim's citations and verdict as they are now."""

    citations: list[dict[str, Any]]
    support: dict[str, Any] | None


class ClaimNow(BaseModel):
    """How a claim stands now (null: it did not when it was saved), and the nearest sentence where it does not."""

    text: str
    state: State | None
    now: Now
    says: str | None
    passages: list[PassageDocument]


class Recheck(BaseModel):
    """A kept answer held against the sources as they are now."""

    id: str
    path: str | None
    question: str
    counts: dict[str, int]
    judge_pairs: int
    edited: int
    claims: list[ClaimNow]


class Refusal(BaseModel):
    name: str
    reason: str


class UploadReport(BaseModel):
    """Uploaded files, by the client's names."""

    read: list[str]
    skipped: list[Refusal]


class AnswerTicket(BaseModel):
    id: str
    question: str


class Working(BaseModel):
    running: list[AnswerTicket]


class Option(BaseModel):
    """`default` is null where it is computed later."""

    name: str
    default: str | int | float | bool | None


class MethodListed(BaseModel):
    name: str
    about: str
    options: list[Option]


class FormatListed(BaseModel):
    """A form of `export`; `styles` says whether it lists references in a style."""

    name: str
    about: str
    ending: str
    media_type: str
    styles: bool


class Formats(BaseModel):
    """The formats, and beside `plain` the styles that most people ask for, or whose names contain what was asked for.

    Without the extra `cite` there is none.
    """

    formats: list[FormatListed]
    styles: list[str]
    styles_total: int


class Health(BaseModel):
    status: Literal["ok"]
    version: str


class Readiness(BaseModel):
    status: Literal["ready"]
    running: int = Field(ge=0)


# ---------------------------------------------------------------- responses

STREAM: dict[str, Any] = {
    "text/event-stream": {
        "schema": {
            "description": "Each event; where it is `draft` or `done`, its data is a whole Answer document.",
            "type": "object",
            "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
        }
    }
}
ANY: dict[str, Any] = {"application/json": {"schema": {"type": "object"}}}
LINES: Responses = {
    200: {"content": {"application/jsonl": {"schema": {"type": "string"}}}, "description": "JSON lines"}
}
ERRORS: Responses = {"default": {"model": Failure, "description": "What went wrong"}}
ANSWER: Responses = {200: {"model": AnswerDocument, "content": STREAM, "description": "The answer, or its snapshots"}}
CHECKED: Responses = {
    200: {
        "model": AnswerDocument,
        "content": STREAM,
        "description": "The text as an answer",
    }
}
KEPT: Responses = {
    200: {"model": AnswerDocument, "description": "The finished answer"},
    202: {"model": AnswerDocument | None, "description": "The answer as far as it is"},
}
PICTURE: Responses = {200: {"content": {"image/webp": {}}, "description": "The picture"}}
READABLE: Responses = {200: {"content": {"text/html": {}}, "description": "A whole HTML document"}}
FILE: Responses = {
    200: {
        "content": {kind: {} for kind in ("application/pdf", "text/plain", "application/octet-stream")},
        "description": "The file, byte by byte",
    }
}
EXPORTED: Responses = {
    200: {
        "content": {form.media_type: {"schema": {"type": "string", "format": "binary"}} for form in FORMS.values()},
        "description": "The file",
    }
}
DRAFT: Responses = {
    200: {
        "content": {FORMS["docx"].media_type: {"schema": {"type": "string", "format": "binary"}}, **ANY},
        "description": "The commented copy; as JSON its path, findings, notes and Answer document",
    }
}
OTHERS: Responses = {200: {"content": {**ANY, **STREAM}, "description": "As the other tool's clients expect it"}}
