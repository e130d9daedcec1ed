"""Replies in JSON of a set form: the schema that a server is held to, and what its values say.

The schemas keep to what every server that is held to one understands: no lengths of texts, all fields required.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toulmin.data import Citation, Claim, Passage, Style
from toulmin.parsing.abstaining import is_abstention
from toulmin.parsing.citing import Draft, merge_entities, resolve_labels, without_marks
from toulmin.parsing.lines import has_words
from toulmin.parsing.marks import LabelRange
from toulmin.parsing.replying import read_reply

Schema = Mapping[str, Any]

# ---------------------------------------------------------------- schemas


TEXT: Schema = {"type": "string"}
TEXT_OR_NONE: Schema = {"type": ["string", "null"]}
_TYPES: Mapping[str, type] = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}
_MOST_CITED = 3


def fields(**kinds: Schema) -> Schema:
    """An object of these fields."""
    return {"type": "object", "properties": kinds, "required": list(kinds), "additionalProperties": False}


def several(item: Schema, least: int = 0, most: int | None = None) -> Schema:
    bounds = {"minItems": least} | ({} if most is None else {"maxItems": most})
    return {"type": "array", "items": item, **bounds}


def one_of(values: Sequence[str] | Sequence[int]) -> Schema:
    return {"type": "string" if isinstance(values[0], str) else "integer", "enum": list(values)}


def labels(offered: int, most: int = _MOST_CITED) -> Schema:
    return several(one_of(range(1, offered + 1)), 1, most)


def claims(offered: Sequence[Passage], style: Style) -> Schema | None:
    """Claims that each cite passages; None without passages, and for reports, whose headings are part of them."""
    if not offered or style == "report":
        return None
    item = fields(text=TEXT, passages=labels(len(offered), 1 if style == "list" else _MOST_CITED))
    return fields(claims=several(item, most=1 if style == "short" else None))


def sketch(schema: Schema) -> Any:
    """An example of the form, for people and models to read."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {name: sketch(kind) for name, kind in schema["properties"].items()}
    return [sketch(schema["items"])] if schema["type"] == "array" else "..."


# ---------------------------------------------------------------- replies


def fields_of(text: str, schema: Schema | None) -> Mapping[str, Any] | None:
    """The object that the whole text is, if it is of the schema."""
    if schema is None or not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if _fits(value, schema) else None


def _fits(value: Any, schema: Schema) -> bool:
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if isinstance(value, bool) or not any(isinstance(value, _TYPES[kind]) for kind in kinds):
        return False
    if isinstance(value, dict):
        known = schema["properties"]
        return value.keys() == known.keys() and all(_fits(value[name], known[name]) for name in known)
    if isinstance(value, list):
        return len(value) >= schema["minItems"] and all(_fits(item, schema["items"]) for item in value)
    return value in schema.get("enum", (value,))


def texts_of(listed: Sequence[str]) -> tuple[str, ...]:
    """On one line each, without empty and repeated ones."""
    lines = (" ".join(text.split()) for text in listed)
    return tuple(dict.fromkeys(line for line in lines if has_words(line)))


def draft_of(items: Sequence[Mapping[str, Any]], offered: Sequence[Passage], style: Style) -> Draft:
    """The claims of `claims`, sentence by sentence, without talk."""
    if style == "list":
        named = [(without_marks(item["text"]), _labels(item)) for item in items]
        return Draft(merge_entities(((w, marks) for w, marks in named if not is_abstention(w, cites=True)), offered))
    statements = tuple(claim for item in items for claim in _statements(item, offered))
    return Draft(statements[:1] if style == "short" else statements)


def _statements(item: Mapping[str, Any], offered: Sequence[Passage]) -> Iterator[Claim]:
    named = resolve_labels(_labels(item), offered).ids
    for claim in read_reply(item["text"], offered, "long").claims:
        yield replace(claim, citations=tuple(Citation(id) for id in dict.fromkeys((*claim.cited, *named))))


def _labels(item: Mapping[str, Any]) -> list[LabelRange]:
    return [LabelRange(n, n) for n in item["passages"]]


def in_json(draft: Draft, offered: Sequence[Passage]) -> str:
    """The reply that says the draft, as a worked example shows it."""
    places = {passage.id: n for n, passage in reversed(list(enumerate(offered, start=1)))}
    rows = [{"text": claim.text, "passages": [places[id] for id in claim.cited]} for claim in draft.claims]
    return json.dumps({"claims": rows}, ensure_ascii=False)
