"""Schemas for replies in JSON, and the results of such replies.

The schemas use only what every server understands: all fields required, lengths of texts in brief ones alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from toulmin.data import Claim, Passage, Style
from toulmin.parsing.abstaining import is_abstention
from toulmin.parsing.citing import Draft, Labels, merge_entities, resolve_labels, with_citations, without_marks
from toulmin.parsing.lines import has_words
from toulmin.parsing.marks import LabelRange
from toulmin.parsing.replying import read_reply
from toulmin.parsing.wrapping import without_thinking
from toulmin.text.language import sentences

Schema = Mapping[str, Any]

# ---------------------------------------------------------------- schemas


TEXT: Schema = {"type": "string"}
TEXT_OR_NONE: Schema = {"type": ["string", "null"]}
_TYPES: Mapping[str, type] = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}
_MOST_CITED = 3
_LONGEST = 400  # characters of a brief answer
_STOP = re.compile(r"[.!?。！？]+$")
_ENDED = re.compile(r"[.!?…。！？][\W_]*$")


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
    """Claims that cite passages; None without passages, and for reports, which have headings."""
    if not offered or style == "report":
        return None
    item = fields(text=TEXT, passages=labels(len(offered), 1 if style == "list" else _MOST_CITED))
    return fields(claims=several(item, most=1 if style == "short" else None))


def brief(schema: Schema) -> Schema:
    """One text with passages in place of claims, for a small model; lists stay."""
    item = schema["properties"].get("claims", {}).get("items")
    if item is None or item["properties"]["passages"]["maxItems"] == 1:
        return schema
    # Of the servers that small models run on all know a length; without one such a model may write to its limit.
    return fields(answer={**TEXT, "maxLength": _LONGEST}, passages=item["properties"]["passages"])


def sketch(schema: Schema) -> str:
    """The form in words, because models copy an example in JSON."""
    if "enum" in schema:
        values = schema["enum"]
        return f"a number from {values[0]} to {values[-1]}" if schema["type"] == "integer" else " or ".join(values)
    if schema["type"] == "object":
        return "{" + ", ".join(f'"{name}": {sketch(kind)}' for name, kind in schema["properties"].items()) + "}"
    if schema["type"] == "array":
        return f"[{sketch(schema['items'])}{'' if schema.get('maxItems') == 1 else ', ...'}]"
    return "a text" if schema["type"] == "string" else "a text or null"


# ---------------------------------------------------------------- replies


def fields_of(text: str, schema: Schema | None) -> Mapping[str, Any] | None:
    """The object of the schema in a reply, if any.

    Talk and fences around it, more fields, numbers out of range and a missing end are accepted.
    """
    if schema is None:
        return None
    # First as it stands: what marks thinking may be a word of a text in JSON.
    found = _object_in(text, schema) if text.lstrip().startswith("{") else None
    return _object_in(without_thinking(text), schema) if found is None else found


def _object_in(reply: str, schema: Schema) -> Mapping[str, Any] | None:
    start = reply.find("{")
    if start < 0:
        return None
    try:
        value = _whole_items(_decode(reply[start:]), schema)
    except (ValueError, RecursionError):
        return None
    short = brief(schema)
    if short is not schema and _fits(value, short):
        value = {"claims": [{"text": value["answer"], "passages": value["passages"]}]}
    return value if _fits(value, schema) else None


def _decode(text: str) -> Any:
    """JSON at the beginning of a text, which may be cut off."""
    with suppress(ValueError):
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    import pydantic_core  # slow to load, and only needed for JSON that was cut off

    return pydantic_core.from_json(text.encode("utf-8", "replace"), allow_partial="trailing-strings")


def _whole_items(value: Any, schema: Schema) -> Any:
    """Without list items outside the schema, such as one that is cut off."""
    if not isinstance(value, dict):
        return value
    kinds = schema["properties"]
    lists = [name for name in value if kinds.get(name, TEXT)["type"] == "array" and isinstance(value[name], list)]
    return {**value, **{name: [item for item in value[name] if _fits(item, kinds[name]["items"])] for name in lists}}


def _fits(value: Any, schema: Schema) -> bool:
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if isinstance(value, bool) or not any(isinstance(value, _TYPES[kind]) for kind in kinds):
        return False
    if isinstance(value, dict):
        return all(name in value and _fits(value[name], kind) for name, kind in schema["properties"].items())
    if isinstance(value, list):
        return all(_fits(item, schema["items"]) for item in value)
    return isinstance(value, int) or value in schema.get("enum", (value,))


def texts_of(listed: Sequence[str]) -> tuple[str, ...]:
    """On one line each, without empty and repeated ones."""
    lines = (" ".join(text.split()) for text in listed)
    return tuple(dict.fromkeys(line for line in lines if has_words(line)))


def draft_of(items: Sequence[Mapping[str, Any]], offered: Sequence[Passage], style: Style) -> Draft:
    """The claims of `claims`, sentence by sentence, without talk."""
    invalid = sum(cited(item, offered).invalid for item in items)
    if style == "list":
        named = [(without_marks(item["text"]), _ranges(item)) for item in items]
        kept = ((words, marks) for words, marks in named if not is_abstention(words, cites=True))
        return Draft(merge_entities(kept, offered), invalid)
    statements = tuple(claim for item in items for claim in _statements(item, offered))
    return Draft(statements[:1] if style == "short" else statements, invalid)


def cited(item: Mapping[str, Any], offered: Sequence[Passage]) -> Labels:
    return resolve_labels(_ranges(item), offered)


def _ranges(item: Mapping[str, Any]) -> list[LabelRange]:
    return [LabelRange(n, n) for n in item["passages"]]


def _statements(item: Mapping[str, Any], offered: Sequence[Passage]) -> Iterator[Claim]:
    named = cited(item, offered).ids
    text = item["text"] if len(item["text"]) < _LONGEST else without_cut_end(item["text"])
    for claim in read_reply(text, offered, "long").claims:
        yield with_citations(claim, (*claim.cited, *named))


def without_cut_end(text: str) -> str:
    """Without a last sentence that is cut off; empty if no whole one is before it."""
    if _ENDED.search(without_marks(text)) or not has_words(text):
        return text
    whole = text[: sentences(text)[-1].start]
    return whole if has_words(whole) and not whole.rstrip("*_ \n").endswith((":", "：")) else ""


# ---------------------------------------------------------------- between claims in JSON and prose with marks


def in_prose(items: Sequence[Mapping[str, Any]], style: Style) -> str:
    """The claims with marks before their stops."""
    return (", " if style == "list" else " ").join(map(_with_marks, items))


def _with_marks(item: Mapping[str, Any]) -> str:
    words = " ".join(item["text"].split())
    stop = _STOP.search(words)
    end = stop.start() if stop else len(words)
    marks = "".join(f"[{n}]" for n in item["passages"])
    return f"{words[:end]} {marks}".rstrip() + words[end:]


def in_json(draft: Draft, offered: Sequence[Passage]) -> str:
    """The draft as a reply, for a worked example."""
    places = {passage.id: n for n, passage in reversed(list(enumerate(offered, start=1)))}
    rows = [{"text": claim.text, "passages": [places[id] for id in claim.cited]} for claim in draft.claims]
    return json.dumps({"claims": rows}, ensure_ascii=False)
