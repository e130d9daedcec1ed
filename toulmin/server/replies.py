"""What the server tells, described for the OpenAPI document; `wire` writes the Answer and the passages themselves."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from toulmin.formats.answer_reading import AnswerModel, PassageModel

Responses = dict[int | str, dict[str, Any]]


class Problem(BaseModel):
    """What went wrong, in words that say what to do."""

    message: str
    type: str
    param: str | None
    code: str


class Failure(BaseModel):
    """Every error has this one shape, which OpenAI's clients read too."""

    error: Problem


class Ranked(BaseModel):
    """A passage that was found."""

    passage: PassageModel
    score: float


class Hits(BaseModel):
    """Passages, best first."""

    query: str
    hits: list[Ranked]


class DocumentListed(BaseModel):
    """A document of the index; `uploaded` says whether a client brought it, who may take it out again."""

    number: int
    title: str
    path: str | None
    url: str | None
    record: str | None
    pages: int | None
    passages: int
    uploaded: bool = False


class NotRead(BaseModel):
    """A file that is not in the index, and why."""

    path: str
    reason: str


class Documents(BaseModel):
    """A page of the list of documents, and the first of the files that could not be read."""

    total: int
    passages: int
    offset: int
    documents: list[DocumentListed]
    skipped_total: int
    skipped: list[NotRead]
    uploads: bool


class Beside(BaseModel):
    """A passage with those before and after it in its document."""

    passage: PassageModel
    before: PassageModel | None
    after: PassageModel | None
    document: DocumentListed


class Refusal(BaseModel):
    """A file of an upload that was not taken, and why."""

    name: str
    reason: str


class Uploaded(BaseModel):
    """What became of the files of an upload, by the names that the client gave them."""

    read: list[str]
    skipped: list[Refusal]


class Started(BaseModel):
    """An answer that is being worked on."""

    id: str
    question: str


class Working(BaseModel):
    """The answers that are being worked on."""

    running: list[Started]


class Option(BaseModel):
    """An option of a method; its default is null where that is made when it is asked for."""

    name: str
    default: str | int | float | bool | None


class MethodListed(BaseModel):
    """A method: what it does in a line, and what a request may set."""

    name: str
    about: str
    options: list[Option]


class Health(BaseModel):
    """That the process answers."""

    status: Literal["ok"]
    version: str


class Readiness(BaseModel):
    """That questions are taken, and how many are being worked on."""

    status: Literal["ready"]
    running: int = Field(ge=0)


class Grounded(BaseModel):
    """A checked candidate in the shape of a check-grounding service; claims count UTF-8 bytes, as there."""

    supportScore: float | None = None
    citedChunks: list[dict[str, Any]]
    claims: list[dict[str, Any]]


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
ERRORS: Responses = {"default": {"model": Failure, "description": "What went wrong"}}
ANSWER: Responses = {200: {"model": AnswerModel, "content": STREAM, "description": "The answer, or its snapshots"}}
CHECKED: Responses = {
    200: {
        "model": AnswerModel | Grounded,
        "content": STREAM,
        "description": "The text as an answer, in the asked shape",
    }
}
KEPT: Responses = {
    200: {"model": AnswerModel, "description": "The finished answer"},
    202: {"model": AnswerModel | None, "description": "The answer as far as it is"},
}
OTHERS: Responses = {200: {"content": {**ANY, **STREAM}, "description": "As the other tool's clients expect it"}}
