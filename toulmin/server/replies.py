"""The server's replies, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from toulmin.build.originals import State as FileState
from toulmin.checking.recheck import State
from toulmin.data import Box
from toulmin.evaluation.feedback import Saying
from toulmin.formats.answer_reading import AnswerDocument, PassageDocument
from toulmin.formats.press import FORMS
from toulmin.originals.readable import Mark
from toulmin.server.engine import EncodingProgress
from toulmin.server.library import DocumentListed

Responses = dict[int | str, dict[str, Any]]


class Problem(BaseModel):
    message: str
    type: str
    param: str | None
    code: str


class Failure(BaseModel):
    """The shape of every error, as OpenAI's clients read it."""

    error: Problem


Ranked = create_model("Ranked", passage=(PassageDocument, ...), score=(float, ...))
Hits = create_model("Hits", query=(str, ...), hits=(list[Ranked], ...))  # type: ignore[valid-type]


class NotRead(BaseModel):
    """A file that could not be indexed, with the reason."""

    path: str
    reason: str
    upload: str | None


class Documents(BaseModel):
    """A page of documents, the first unreadable files, and the progress of encoding.

    `total` counts documents of the name and kind, `kinds` those of the name; all paths begin with `folder`.
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
    encoded: EncodingProgress | None


class LibrarySummary(BaseModel):
    """The contents of an index, and questions made from its headings."""

    documents: int
    passages: int
    kinds: dict[str, int]
    examples: list[str]


class FeedbackRecord(BaseModel):
    """Readers' latest feedback on an answer's claims, by place from 0."""

    claims: dict[int, Saying]


class Beside(BaseModel):
    passage: PassageDocument
    before: PassageDocument | None
    after: PassageDocument | None
    document: DocumentListed


class Original(BaseModel):
    """How to show a document's file: a PDF by pages (`sizes` in points), anything else as `readable`.

    `start` and `end` are offsets in the document's text; `reason` is set if nothing can be shown.
    """

    number: int
    title: str
    path: str | None
    kind: Literal["pages", "text"]
    state: FileState
    reason: str | None
    page: int | None
    sizes: list[tuple[float, float]]
    marks: list[Mark]
    boxes: list[Box]
    start: int | None
    end: int | None


class Now(BaseModel):
    """A claim's current citations and verdict."""

    citations: list[dict[str, Any]]
    support: dict[str, Any] | None


class ClaimNow(BaseModel):
    """A claim's state (null: it was unsupported when saved), and the nearest sentence if it fell."""

    text: str
    state: State | None
    now: Now
    says: str | None
    passages: list[PassageDocument]


class Recheck(BaseModel):
    """A kept answer, rechecked against the current sources."""

    id: str
    path: str | None
    question: str
    counts: dict[str, int]
    judge_pairs: int
    edited: int
    claims: list[ClaimNow]


class Change(BaseModel):
    """How many claims were supported, and how many are no longer."""

    claims: int
    fallen: int


class Changes(BaseModel):
    """Kept answers, by id, that cite a changed file."""

    changed: dict[str, Change]


class Refusal(BaseModel):
    name: str
    reason: str


class UploadReport(BaseModel):
    read: list[str]
    skipped: list[Refusal]


class AnswerTicket(BaseModel):
    id: str
    question: str


class Working(BaseModel):
    running: list[AnswerTicket]


class Option(BaseModel):
    """`default` is null if it is computed later."""

    name: str
    default: str | int | float | bool | None


class MethodListed(BaseModel):
    name: str
    about: str
    options: list[Option]


class FormatListed(BaseModel):
    """A format of `export`; `styles`: whether references can have a style."""

    name: str
    about: str
    ending: str
    media_type: str
    styles: bool


class Formats(BaseModel):
    """The formats and the styles beside `plain`: the common ones, or those whose names match.

    Styles need the extra `cite`.
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
            "description": "Each event; the data of `draft` and `done` is a whole Answer document.",
            "type": "object",
            "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
        }
    }
}
ANY: dict[str, Any] = {"application/json": {"schema": {"type": "object"}}}
BYTES: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}


def _ok(description: str, content: dict[str, Any], **more: Any) -> Responses:
    return {200: {"description": description, "content": content, **more}}


LINES = _ok("JSON lines", {"application/jsonl": {"schema": {"type": "string"}}})
ERRORS: Responses = {"default": {"model": Failure, "description": "What went wrong"}}
ANSWER = _ok("The answer, or its snapshots", STREAM, model=AnswerDocument)
KEPT: Responses = {
    200: {"model": AnswerDocument, "description": "The finished answer"},
    202: {"model": AnswerDocument | None, "description": "The newest draft"},
}
PICTURE = _ok("The picture", {"image/webp": {}})
READABLE = _ok("A whole HTML document", {"text/html": {}})
FILE = _ok("The bytes of the file", {"application/pdf": {}, "text/plain": {}, "application/octet-stream": {}})
EXPORTED = _ok("The file", {form.media_type: BYTES for form in FORMS.values()})
DRAFT = _ok(
    "The commented copy; as JSON its path, findings, notes and Answer document",
    {FORMS["docx"].media_type: BYTES, **ANY},
)
OTHERS = _ok("In the format of the other tool", {**ANY, **STREAM})
