"""What an Answer document must look like, checked field by field, and the way back into the vocabulary.

The models mirror the document that `writing` makes; nothing else in the package works on them. Fields that a later
version adds are ignored. What is rendered from the claims (text, places, numbers) is only checked for its form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toulmin.data import (
    Answer,
    Citation,
    Claim,
    Dropped,
    Label,
    Outcome,
    Passage,
    Quote,
    Round,
    RoundKind,
    Section,
    Source,
    Status,
    Style,
    SubQuestion,
    Support,
    Tokens,
    Usage,
)
from toulmin.errors import UsageError

Count = Annotated[int, Field(ge=0)]
Number = Annotated[int, Field(ge=1)]


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)


class QuoteModel(_Model):
    """The decisive sentence: `text` of the passage from `start` to `end`, in code points."""

    start: Count
    end: Count
    text: str

    def value(self) -> Quote:
        """The quote in the vocabulary."""
        return Quote(self.start, self.end, self.text)


class CitationModel(_Model):
    """A claim's pointer to a passage, and the number by which the text shows it."""

    passage: str
    n: Number
    quote: QuoteModel | None

    def value(self) -> Citation:
        """The citation in the vocabulary."""
        return Citation(self.passage, self.quote.value() if self.quote else None)


class SupportModel(_Model):
    """A judge's verdict; `score` is the probability that the evidence supports the claim."""

    label: Label
    score: Annotated[float, Field(ge=0, le=1)]
    judge: str
    evidence: list[str]
    reason: str | None

    def value(self) -> Support:
        """The verdict in the vocabulary."""
        return Support(self.label, self.score, self.judge, tuple(self.evidence), self.reason)


class ClaimModel(_Model):
    """One sentence or entity; `text[start:end]` of the answer, in code points, is the claim with its marks."""

    text: str
    start: Count
    end: Count
    citations: list[CitationModel]
    support: SupportModel | None
    section: str | None

    def value(self) -> Claim:
        """The claim in the vocabulary."""
        citations = tuple(citation.value() for citation in self.citations)
        return Claim(self.text, citations, self.support.value() if self.support else None, self.section)


class SourceModel(_Model):
    """Where a passage stands: the extracted text of the file or page from `start` to `end`, in code points."""

    path: str | None
    url: str | None
    record: str | None
    page: Number | None
    start: Count
    end: Count


class PassageModel(_Model):
    """A passage that was read; `n` is its number in the text, null where it is not cited."""

    id: str
    n: Number | None
    title: str
    text: str
    source: SourceModel

    def value(self) -> Passage:
        """The passage in the vocabulary."""
        at = self.source
        return Passage(self.id, self.title, self.text, Source(at.start, at.end, at.path, at.url, at.record, at.page))


class SectionModel(_Model):
    """A titled part of a report."""

    title: str
    description: str

    def value(self) -> Section:
        """The section in the vocabulary."""
        return Section(self.title, self.description)


class QuestionModel(_Model):
    """A question that a plan raised, and what became of it."""

    text: str
    outcome: Outcome
    passages: list[str]

    def value(self) -> SubQuestion:
        """The question in the vocabulary."""
        return SubQuestion(self.text, self.outcome, tuple(self.passages))


class TokensModel(_Model):
    """Tokens that went into a model and came out of it."""

    input: Count
    output: Count


class CostModel(_Model):
    """What an answer cost in money."""

    usd: Annotated[float, Field(ge=0)]


class UsageModel(_Model):
    """What an answer took; `cost` is null where a price is unknown."""

    calls: dict[str, Count]
    tokens: dict[str, TokensModel]
    cost: CostModel | None
    judge_pairs: Count
    searches: Count
    seconds: Annotated[float, Field(ge=0)]

    def value(self) -> Usage:
        """The usage in the vocabulary."""
        tokens = {role: Tokens(t.input, t.output) for role, t in self.tokens.items()}
        usd = self.cost.usd if self.cost else None
        return Usage(self.calls, tokens, usd, self.judge_pairs, self.searches, self.seconds)


class DroppedModel(_Model):
    """A text that did not stay, and why."""

    text: str
    why: str


class RoundModel(_Model):
    """One step of the method's story."""

    kind: RoundKind
    n: int
    trial: int | None
    role: str | None
    read: list[str]
    text: str | None
    kept: list[str]
    dropped: list[DroppedModel]
    queries: list[str]
    scores: dict[str, float | None] | None
    chosen: bool | None

    def value(self) -> Round:
        """The round in the vocabulary."""
        scores = None if self.scores is None else {k: v for k, v in self.scores.items() if v is not None}
        return Round(
            self.kind,
            self.n,
            self.trial,
            self.role,
            tuple(self.read),
            self.text,
            tuple(self.kept),
            tuple(Dropped(dropped.text, dropped.why) for dropped in self.dropped),
            tuple(self.queries),
            scores,
            self.chosen,
        )


class AnswerModel(_Model):
    """An answer whose every claim is proven by the passages it cites; `text` is rendered from `claims`."""

    model_config = ConfigDict(title="Answer")

    schema_version: Literal[1] = Field(alias="schema")
    id: str
    question: str
    style: Style
    method: str
    status: Status
    text: str
    claims: list[ClaimModel]
    passages: list[PassageModel]
    sections: list[SectionModel]
    questions: list[QuestionModel]
    usage: UsageModel
    rounds: list[RoundModel]
    invalid_citations: Count
    notes: list[str]
    settings: dict[str, Any]
    version: str

    def value(self) -> Answer:
        """The answer in the vocabulary, which checks what no schema can say."""
        return Answer(
            self.question,
            self.style,
            self.method,
            self.status,
            tuple(claim.value() for claim in self.claims),
            tuple(passage.value() for passage in self.passages),
            tuple(section.value() for section in self.sections),
            tuple(question.value() for question in self.questions),
            self.usage.value(),
            tuple(one.value() for one in self.rounds),
            self.invalid_citations,
            tuple(self.notes),
            self.settings,
            self.id,
        )


def answer_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the Answer document."""
    described = AnswerModel.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **described}


def read_answer(data: bytes | str | Mapping[str, Any]) -> Answer:
    """The Answer that a document describes; raises `UsageError` naming the field that is wrong."""
    try:
        return AnswerModel.model_validate(_decoded(data)).value()
    except ValidationError as error:
        raise UsageError(_explained(error)) from None
    except ValueError as error:
        raise UsageError(f"The Answer document contradicts itself: {error}.") from None


def _decoded(data: bytes | str | Mapping[str, Any]) -> object:
    if isinstance(data, Mapping):
        return dict(data)
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"An Answer document is JSON in UTF-8, but this cannot be read: {error}.") from None


def _explained(error: ValidationError) -> str:
    """The first fault by its place ("claims[2].support.label"), and how many more there are."""
    first, *others = error.errors(include_url=False, include_context=False)
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    more = f" ({len(others)} more like it)" if others else ""
    came = repr(first["input"])
    shown = came if len(came) <= 80 else came[:77] + "..."
    return f"An Answer document of schema 1 is expected; {place or 'it'}: {first['msg']}, got {shown}{more}."
