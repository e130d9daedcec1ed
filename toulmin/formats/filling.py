"""A caller's JSON schema, filled from an answer by the names of its fields.

Rules of this file
* A value is a part of the Answer document or of a passage that it cites; nothing is guessed from the words.
* What may be missing must be nullable or optional, so a schema is accepted or refused before an answer is made.
* Keywords that are not checked here are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from toulmin.data import Answer, Citation, Claim, Passage, Quote, Source, Support
from toulmin.errors import UsageError
from toulmin.formats import answer_json
from toulmin.formats.clean_text import address

MOST = 50_000  # values; an answer has some thousands
DEEPEST = 40
# Other names of the parts, without `_`, `-` and capitals.
NAMES = {
    "text": "answer response reply content summary result output message claim sentence statement fact point",
    "claims": "sentences statements facts points keypoints findings items answers",
    "sources": "references citations evidence documents",
    "label": "verdict",
    "score": "confidence probability",
    "quote": "excerpt snippet",
}
_PART_OF = {name: part for part, names in NAMES.items() for name in names.split()}
_NONE: dict[str, Any] = {"source": "", "quote": ""}  # of a claim without citations
_REMARKS = {"title", "description", "default", "examples", "$schema"}  # keywords that allow every value
_NUMBER = int | float
_KINDS: Any = {"string": str, "boolean": bool, "integer": int, "number": _NUMBER, "array": list, "object": Mapping}


class Schema(BaseModel):
    """The keywords of JSON Schema that are filled and checked."""

    model_config = ConfigDict(extra="allow")
    ref: str | None = Field(None, alias="$ref")
    defs: dict[str, Schema] = Field({}, alias="$defs")
    type: str | list[str] | None = None
    any_of: list[Schema] = Field([], alias="anyOf")
    enum: list[Any] | None = None
    const: Any = None
    minimum: float = float("-inf")
    maximum: float = float("inf")
    items: Schema | None = None
    properties: dict[str, Schema] = {}
    required: list[str] = []
    additional: bool | Schema = Field(True, alias="additionalProperties")


_NOTHING = Schema.model_validate({})


class Misfit(UsageError):
    """A value that a schema does not allow."""


def check(schema: Schema) -> None:
    """Raises `UsageError` unless answers fit the schema, but for the values of an `enum`."""
    if not any(_part_of(name, _tree(_FULL)) is not None for name in schema.properties):
        raise Misfit("fields are filled by their names: text, claims, sources, status and others; none is here.")
    for sample in (_FULL, _BARE):
        fill(schema, sample)


def fill(schema: Schema, answer: Answer) -> Any:
    """The value of the schema; raises `UsageError` for an answer that does not fit."""
    return _Filling(schema).value(schema, _tree(answer), "$")


class _Filling:
    def __init__(self, root: Schema) -> None:
        self._definitions = {"#": root} | {f"#/$defs/{name}": schema for name, schema in root.defs.items()}
        self._made = 0

    def value(self, schema: Schema, part: Any, place: str, depth: int = 0) -> Any:
        self._made += 1
        if self._made > MOST or depth > DEEPEST:
            raise UsageError("the schema is too large, or refers to itself.")
        if unknown := (schema.model_extra or {}).keys() - _REMARKS:
            raise UsageError(f"{place} has the keyword {min(unknown)!r}, which is not checked here.")
        kinds = [schema.type] if isinstance(schema.type, str) else schema.type or []
        if schema.ref is not None:
            return self._first([self._definitions.get(schema.ref, _NOTHING)], part, place, depth + 1)
        if schema.any_of or len(kinds) != 1:
            options = schema.any_of or [schema.model_copy(update={"type": kind}) for kind in kinds]
            return self._first(options, part, place, depth + 1)
        value = self._of_kind(schema, kinds[0], part, place, depth + 1)
        is_const = "const" in schema.model_fields_set
        if (schema.enum is not None and value not in schema.enum) or (is_const and value != schema.const):
            raise Misfit(f"{place} is {value!r}, which the schema does not allow.")
        return value

    def _first(self, options: Sequence[Schema], part: Any, place: str, depth: int) -> Any:
        misfit = Misfit(f"{place} has no type that is in the schema.")
        for option in options:
            try:
                return self.value(option, part, place, depth)
            except Misfit as error:
                misfit = error
        raise misfit

    def _of_kind(self, schema: Schema, kind: str, part: Any, place: str, depth: int) -> Any:
        if isinstance(part, Mapping) and kind in ("string", "integer"):
            part = part.get("words", part.get("text")) if kind == "string" else part.get("n")
        if not isinstance(part, _KINDS.get(kind, NoneType)) or (isinstance(part, bool) and kind != "boolean"):
            raise Misfit(
                f"{place}: not every answer has a part of this name and type ({kind}); rename it, or let it be null."
            )
        if isinstance(part, list):
            return [self.value(schema.items or _NOTHING, item, f"{place}[]", depth) for item in part]
        if isinstance(part, Mapping):
            return self._object(schema, part, place, depth)
        if isinstance(part, _NUMBER) and not schema.minimum <= part <= schema.maximum:
            raise Misfit(f"{place} is {part}, which is out of its bounds.")
        return part

    def _object(self, schema: Schema, part: Mapping[str, Any], place: str, depth: int) -> dict[str, Any]:
        inner, more = schema.properties, schema.additional
        if not inner:  # a table of settings or counts
            if not isinstance(more, Schema):
                return dict(part) if more else {}
            inner = dict.fromkeys(part, more)
        parts = {name: _part_of(name, part) for name in inner}
        return {
            name: self.value(inner[name], value, f"{place}.{name}", depth)
            for name, value in parts.items()
            if name in schema.required or value is not None
        }


def _part_of(name: str, part: Mapping[str, Any]) -> Any:
    plain = name.lower().replace("_", "").replace("-", "")
    return part.get(name, part.get(_PART_OF.get(plain, plain)))


# ---------------------------------------------------------------- what a schema is filled from


def _tree(answer: Answer) -> dict[str, Any]:
    """The Answer document with the cited passages as `sources`; `words` is a part as a string, if not its `text`."""
    document = answer_json.document(answer)
    sources = {passage.id: _source(passage, number) for number, passage in enumerate(answer.cited, start=1)}
    claims = [_claim(claim, sources) for claim in document["claims"]]
    return {**document, "claims": claims, "sources": list(sources.values())}


def _source(passage: Passage, number: int) -> dict[str, Any]:
    written = answer_json.passage_document(passage, number)
    return {**written["source"], **written, "words": answer_json.plain(address(passage))}


def _claim(claim: dict[str, Any], sources: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """With the parts of its verdict and of its first source, and the decisive words, or else the whole passage."""
    pairs = [(sources[citation["passage"]], citation) for citation in claim["citations"]]
    cited = [source | {"page": citation["page"] or source["page"]} for source, citation in pairs]
    citations = [{**source, **citation} for source, citation in zip(cited, claim["citations"], strict=True)]
    first = {**cited[0], "source": cited[0], "quote": citations[0]["selector"]["exact"]} if cited else _NONE
    more = {**first, **(claim["support"] or {}), "sources": cited}
    return {**more, **claim, "citations": citations, "words": claim["text"]}


# Every answer has the parts of the second; each part of the first has its type.
_CITED = Passage.of("Words.", "Title", Source(0, 6, "path", "url", page=1))
_CLAIM = Claim(
    "Words.", (Citation(_CITED.id, Quote(0, 6, "Words.")),), Support("supported", 1.0, "judge", (_CITED.id,), "why")
)
_FULL = Answer("Why?", "long", "best", "answered", (_CLAIM,), (_CITED,))
_BARE = Answer("Why?", "long", "best", "answered", (Claim("Words."), Claim("Words.")))
