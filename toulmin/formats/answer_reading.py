"""The types of an Answer document, made from the dataclasses of `data`, and its reader.

Unknown fields are ignored. Rendered parts (text, offsets, numbers) are only checked for their form.

`python -m toulmin.formats.answer_reading [FILE]` writes the schema, by default to `docs/answer.schema.json`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, make_dataclass
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Literal, get_type_hints

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from toulmin import data
from toulmin.errors import UsageError

Count = Annotated[int, Field(ge=0)]
Number = Annotated[int, Field(ge=1)]
Amount = Annotated[float, Field(ge=0)]


def describe(kind: type, /, **changes: Any) -> Any:
    """A document's type: the fields of `kind`, all required.

    `changes` are additional fields, or other types; None removes a field.
    """
    hints = get_type_hints(kind)
    shape = {field.name: hints[field.name] for field in fields(kind)} | changes
    required = [(name, hint) for name, hint in shape.items() if hint is not None]
    name = f"{kind.__name__.removesuffix('Document')}Document"
    return make_dataclass(name, required, namespace={"__doc__": kind.__doc__}, frozen=True)


def _many(kind: Any) -> Any:
    return GenericAlias(tuple, (kind, ...))


SourceDocument = describe(data.Source, start=Count, end=Count, page=Number | None)
PassageDocument = describe(data.Passage, n=Number | None, source=SourceDocument)
QuoteDocument = describe(data.Quote, start=Count, end=Count)
SelectorDocument = make_dataclass(
    "TextQuoteSelector",
    [("type", Literal["TextQuoteSelector"]), ("exact", str), ("prefix", str), ("suffix", str)],
    namespace={"__doc__": "The cited words and what stands around them (W3C Web Annotation)."},
)
CitationDocument = describe(
    data.Citation,
    n=Number,
    quote=QuoteDocument | None,
    boxes=_many(describe(data.Box, page=Number)),
    page=Number | None,
    selector=SelectorDocument,
    link=str | None,
)
SupportDocument = describe(data.Support, score=Annotated[float, Field(ge=0, le=1)])
ClaimDocument = describe(
    data.Claim, start=Count, end=Count, citations=_many(CitationDocument), support=SupportDocument | None
)
CostDocument = make_dataclass("CostDocument", [("usd", Amount)], namespace={"__doc__": "The cost of an answer."})
UsageDocument = describe(
    data.Usage,
    calls=dict[str, Count],
    tokens=GenericAlias(dict, (str, describe(data.Tokens, input=Count, output=Count))),
    usd=None,
    cost=CostDocument | None,
    judge_pairs=Count,
    searches=Count,
    seconds=Amount,
)
AnswerDocument = describe(
    data.Answer,
    schema=Literal[1],
    text=str,
    version=str,
    claims=_many(ClaimDocument),
    passages=_many(PassageDocument),
    questions=_many(describe(data.SubQuestion)),
    usage=UsageDocument,
    rounds=_many(describe(data.Round, scores=dict[str, float | None] | None)),
    invalid_citations=Count,
)
_LATER = frozenset(
    "section elsewhere written relevance asked selector link place digest boxes page page_label metadata".split()
)
_DOCUMENT, _ANSWER = TypeAdapter[Any](AnswerDocument), TypeAdapter(data.Answer)


def answer_schema() -> dict[str, Any]:
    """JSON schema, draft 2020-12."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_DOCUMENT.json_schema(), "title": "Answer"}


def read_answer(written: bytes | str | Mapping[str, Any]) -> data.Answer:
    """Raises `UsageError` naming the wrong field. Fields that earlier versions did not write may be absent."""
    document = _decode(written)
    try:
        _DOCUMENT.validate_json(orjson.dumps(document), strict=True)
    except TypeError:  # orjson writes no half of a surrogate pair
        raise UsageError("An Answer document is JSON in UTF-8, but texts of this one are not.") from None
    except ValidationError as error:
        if not all(fault["type"] == "missing" and fault["loc"][-1] in _LATER for fault in error.errors()):
            raise UsageError(_explain(error)) from None
    try:
        return _ANSWER.validate_json(orjson.dumps(_vocabulary(document)), strict=True)
    except ValidationError as error:
        fault = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise UsageError(f"The Answer document contradicts itself: {fault}.") from None


def _decode(written: bytes | str | Mapping[str, Any]) -> Any:
    if isinstance(written, Mapping):
        return dict(written)
    try:
        return orjson.loads(written)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"An Answer document is JSON in UTF-8, but this cannot be read: {error}.") from None


def _vocabulary(document: Mapping[str, Any]) -> dict[str, Any]:
    """Restores the dataclasses' form of the cost, and drops scores that JSON cannot hold."""
    usage = {**document["usage"], "usd": (document["usage"]["cost"] or {}).get("usd")}
    rounds = [
        {**row, "scores": row["scores"] and {k: v for k, v in row["scores"].items() if v is not None}}
        for row in document["rounds"]
    ]
    return {**document, "usage": usage, "rounds": rounds}


def _explain(error: ValidationError) -> str:
    """The first fault by its place ("claims[2].support.label"), and the number of others."""
    first, *others = error.errors(include_url=False, include_context=False)
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    more = f" ({len(others)} more like it)" if others else ""
    came = repr(first["input"])
    shown = came if len(came) <= 80 else came[:77] + "..."
    return f"An Answer document of schema 1 is expected; {place or 'it'}: {first['msg']}, got {shown}{more}."


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/answer.schema.json")
    target.write_bytes(orjson.dumps(answer_schema(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
