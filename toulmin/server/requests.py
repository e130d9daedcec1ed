"""Validated requests, and their settings.

Rules of this file
* Files, servers and models belong to the server's owner: a request sets no model, judge, encoder or folder. It chooses
  methods, styles, policies and amounts within the owner's limits.
* Unknown fields are refused by name; `openai_requests.py` has the fields of OpenAI's clients.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints

from toulmin.build.jobs import METHODS
from toulmin.build.sources import LONGEST_QUESTION
from toulmin.config import Settings
from toulmin.data import Passage, Policy, Source, Style
from toulmin.driver.budget import Budget
from toulmin.errors import CodeRefused
from toulmin.evaluation.feedback import Saying

MOST_PASSAGES = 500  # sent with a text to check
LONGEST_TEXT = 400_000  # characters of a text to check, and of a passage
MOST_TURNS = 1_000  # of a conversation
LONGEST_WAIT = 600.0  # seconds for one answer
Words = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_QUESTION)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TEXT)]
# Strict, as in the OpenAPI document: `true` is no number of seconds, and "5" is no count.
Count = Annotated[int, Field(strict=True, ge=1, le=200)]
Amount = Annotated[int, Field(strict=True, ge=1, le=100_000_000)]
Number = Annotated[int, Field(strict=True, ge=0, le=10**12)]
Seconds = Annotated[float, Field(strict=True, gt=0, le=LONGEST_WAIT)]
Plain = str | int | float | bool
Filters = Annotated[list[Annotated[str, StringConstraints(max_length=300)]], Field(max_length=20)]


class RequestBody(BaseModel):
    model_config = ConfigDict(extra="forbid")


class EarlierTurn(RequestBody):
    """An earlier question. If this server keeps the answer `id`, its passages are read again."""

    question: Words
    answer: Annotated[str, StringConstraints(max_length=LONGEST_TEXT)] = ""
    id: Annotated[str, StringConstraints(max_length=200)] | None = None


class AnswerOptions(RequestBody):
    only: Filters | None = None
    unsupported: Policy | None = None
    k: Count | None = None
    deadline: Seconds | None = None
    options: dict[str, Plain] = Field(default_factory=dict, max_length=50)
    stream: StrictBool = False


class Question(AnswerOptions):
    """A question. With a `history` it is rewritten to read alone, unless `rewrite` is false.

    With the number of a `document` only that one is read.
    """

    question: Words
    history: Annotated[list[EarlierTurn], Field(max_length=MOST_TURNS)] = Field(default_factory=list)
    rewrite: StrictBool = True
    document: Number | None = None
    method: str | None = None
    style: Style | None = None
    max_calls: Amount | None = None
    max_tokens: Amount | None = None


class RequestPassage(RequestBody):
    """A passage; `[n]` in the text names the n-th."""

    text: Text
    title: Annotated[str, StringConstraints(max_length=2_000)] = ""
    id: Annotated[str, StringConstraints(max_length=200)] | None = None

    def passage(self) -> Passage:
        """The id comes from the content; the client's id becomes the record."""
        return Passage.of(self.text, self.title, Source(0, len(self.text), record=self.id))


class TextToCheck(AnswerOptions):
    """A text and its cited passages; without passages the index is searched."""

    text: Text
    passages: Annotated[list[RequestPassage], Field(max_length=MOST_PASSAGES)] | None = None
    repair: StrictBool = False


class Opinion(RequestBody):
    """A reader's feedback on a claim, counted from 0; null withdraws it."""

    claim: Annotated[int, Field(strict=True, ge=0, le=100_000)]
    says: Saying | None


class Query(RequestBody):
    query: Words
    k: Count = 10
    only: Filters | None = None


# ---------------------------------------------------------------- settings


def settings_for(ground: Settings, asked: Question | TextToCheck) -> Settings:
    """The request's settings over the server's, within the owner's limits."""
    values = {name: getattr(asked, name, None) for name in ("method", "style", "unsupported", "k", "only")}
    if METHODS.names_code(values["method"] or ""):
        raise CodeRefused(f"A request should name a listed method (GET /v1/methods), not code: {values['method']!r}.")
    limits = {name: getattr(asked, name, None) for name in ("max_calls", "max_tokens", "deadline")}
    least = {name: _least(getattr(ground, name), limit) for name, limit in limits.items()}
    return ground.override(**values, **least, options=asked.options)


def _least(ours: float | None, theirs: float | None) -> Any:
    return min((limit for limit in (ours, theirs) if limit is not None), default=None)


def with_deadline(budget: Budget) -> Budget:
    """The budget with at most `LONGEST_WAIT` seconds."""
    return replace(budget, seconds=LONGEST_WAIT if budget.seconds is None else min(budget.seconds, LONGEST_WAIT))
