"""What is wrong with a file in a dialect, in sentences: structure, types, limits and offsets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from toulmin.formats.export import CITATIONS, DIALECTS, REFERENCES, WORDS, words_in

Problems = Callable[[Any], list[str]]


def of_lines(check: Problems) -> Callable[[bytes], list[str]]:
    """Each problem names its line."""

    def problems(data: bytes) -> list[str]:
        numbered = enumerate(data.split(b"\n"), start=1)
        return [f"line {n}: {problem}" for n, line in numbered if line.strip() for problem in _read(line, check)]

    return problems


def of_document(check: Problems) -> Callable[[bytes], list[str]]:
    return lambda data: _read(data, check)


def _read(data: bytes, check: Problems) -> list[str]:
    try:
        document = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return [f"JSON in UTF-8 was expected: {error}."]
    return check(document)


def checker(dialect: str, deeper: Callable[[Any], Iterator[str]]) -> Problems:
    """Checks the structure in `dialect_shapes.json` and, if that is right, the content with `deeper`."""

    def problems(document: Any) -> list[str]:
        return list(misfits(document, shapes()[dialect])) or list(deeper(document))

    return problems


def selection(at: str, text: str, start: int, end: int, expected: str) -> Iterator[str]:
    """A problem if `text[start:end]`, in code points, is not `expected`."""
    if not 0 <= start <= end <= len(text):
        yield f"{at} points to {start}..{end} in a text of {len(text)} characters."
    elif text[start:end] != expected:
        yield f"{at} points to {text[start:end]!r} and says {expected!r}."


def positions(at: str, places: list[int], size: int, what: str) -> Iterator[str]:
    """Problems of positions in a list: outside or repeated."""
    for place in places:
        if place >= size:
            yield f"{at} names {what} {place}, but there are {size}, counted from 0."
    if len(set(places)) < len(places):
        yield f"{at} names the same one twice: {places}."


# ---------------------------------------------------------------- shapes of JSON values


Shape = str | list[Any] | Mapping[str, Any]

_TYPES = {
    "text": "a text",
    "count": "a whole number, 0 or more",
    "number": "a number",
    "flag": "true or false",
    "object": "an object",
}


@lru_cache(maxsize=1)
def shapes() -> dict[str, Any]:
    shapes: dict[str, Any] = json.loads(Path(__file__).with_name("dialect_shapes.json").read_text("utf-8"))
    return shapes


def misfits(value: Any, shape: Shape, at: str = "") -> Iterator[str]:
    """What does not fit: its place (`choices[0].message`), the expected and the actual value.

    A shape is a type ("text", "count", "number", "flag", "object"), the allowed texts ("=stop|length"), a list of one
    shape, or a dict from field to shape. A field ending in `?` may be missing or null; others may hold anything.
    """
    if isinstance(shape, Mapping):
        yield from _in_object(value, shape, at)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield _misfit(at, "a list", value)
            return
        for i, inner in enumerate(value):
            yield from misfits(inner, shape[0], f"{at}[{i}]")
    elif shape.startswith("="):
        if value not in (texts := shape[1:].split("|")):
            yield _misfit(at, " or ".join(map(repr, texts)), value)
    elif not _has_type(value, shape):
        yield _misfit(at, _TYPES[shape], value)


def _in_object(value: Any, shape: Mapping[str, Any], at: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _misfit(at, "an object", value)
        return
    for name, inner in shape.items():
        field = name.removesuffix("?")
        place = f"{at}.{field}" if at else field
        if value.get(field) is not None:
            yield from misfits(value[field], inner, place)
        elif not name.endswith("?"):
            yield f"{place} is missing."


def _has_type(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "flag"
    if kind == "count":
        return isinstance(value, int) and value >= 0
    return isinstance(value, {"text": str, "number": int | float, "object": dict}.get(kind, ()))


def _misfit(at: str, expected: str, value: Any) -> str:
    literal = repr(value)
    return (
        f"{at or 'the document'} should be {expected}, not {literal if len(literal) <= 60 else literal[:57] + '...'}."
    )


# ---------------------------------------------------------------- each dialect


def _references(document: Mapping[str, Any]) -> Iterator[str]:
    for i, row in enumerate(document["data"]):
        if row.get("annotations") is not None and len(row["annotations"]) < 2:
            yield f"data[{i}].annotations should be two or none: ALCE compares with two."


def _sentences_problems(document: Mapping[str, Any]) -> Iterator[str]:
    references, length = document["references"], sum(words_in(entry["text"]) for entry in document["answer"])
    if len(references) > REFERENCES:
        yield f"references should be at most {REFERENCES}, not {len(references)}."
    if len(set(references)) < len(references):
        yield "references names the same one twice."
    if length > WORDS:
        yield f"answer should have at most {WORDS} words, not {length}."
    if document.get("response_length", length) != length:
        yield f"response_length is {document['response_length']}, but answer has {length} words."
    for i, sentence in enumerate(document["answer"]):
        yield from positions(f"answer[{i}].citations", sentence["citations"], len(references), "reference")
        if not sentence["text"].strip():
            yield f"answer[{i}] has no words."


def _problems_of_25(document: Mapping[str, Any]) -> Iterator[str]:
    yield from _sentences_problems(document)
    for i, sentence in enumerate(document["answer"]):
        if len(sentence["citations"]) > CITATIONS:
            yield f"answer[{i}] should cite at most {CITATIONS} references, not {len(sentence['citations'])}."


_MARK_TEXT = re.compile(r"\[\d+\]")


def _completions(document: Mapping[str, Any]) -> Iterator[str]:
    for i, choice in enumerate(document["choices"]):
        message = choice["message"]
        if message.get("content") is None and message.get("refusal") is None:
            yield f"choices[{i}].message has neither content nor refusal."
        citations = [annotation["url_citation"] for annotation in message.get("annotations") or []]
        yield from _citing_marks(f"choices[{i}].message.annotations", message.get("content") or "", citations)


def _responses(document: Mapping[str, Any]) -> Iterator[str]:
    for i, output in enumerate(document["output"]):
        for j, part in enumerate(output["content"]):
            at = f"output[{i}].content[{j}]"
            if part.get("text" if part["type"] == "output_text" else "refusal") is None:
                yield f"{at} is of type {part['type']} and says nothing."
            yield from _citing_marks(f"{at}.annotations", part.get("text") or "", part.get("annotations") or [])


def _citing_marks(at: str, text: str, citations: list[dict[str, Any]]) -> Iterator[str]:
    addresses: dict[str, str] = {}
    for i, citation in enumerate(citations):
        start, end = citation["start_index"], citation["end_index"]
        mark = text[start:end]
        if text[:start].endswith("\\"):
            yield f"{at}[{i}] points to {start}..{end}, where {mark!r} is escaped and belongs to the words."
        elif not _MARK_TEXT.fullmatch(mark):
            yield f"{at}[{i}] points to {start}..{end}, where no mark like [1] stands but {mark!r}."
        elif addresses.setdefault(mark, citation["url"]) != citation["url"]:
            yield f"{at}[{i}] takes {mark} for {citation['url']!r}, an earlier one for {addresses[mark]!r}."
    for before, after in pairwise(citations):
        if after["start_index"] < before["end_index"]:
            yield f"{at} is not in the order of the text: {after['start_index']} follows {before['end_index']}."


def _blocks_problems(document: Mapping[str, Any]) -> Iterator[str]:
    texts = [entry["source"]["data"] for entry in document["documents"]]
    for i, block in enumerate(document["content"]):
        if not block["text"].strip():
            yield f"content[{i}] has no words; a block needs some."
        for j, location in enumerate(block.get("citations") or []):
            at, place = f"content[{i}].citations[{j}]", location["document_index"]
            if place >= len(texts):
                yield f"{at} names document {place}, but there are {len(texts)}, counted from 0."
            else:
                span = location["start_char_index"], location["end_char_index"]
                yield from selection(at, texts[place], *span, location["cited_text"])


CHECKS = {
    "alce": _references,
    "trec24": _sentences_problems,
    "trec25": _problems_of_25,
    "openai": _completions,
    "responses": _responses,
    "anthropic": _blocks_problems,
}


def problems(dialect: str, data: bytes) -> list[str]:
    """The problems of a whole file."""
    of = of_lines if DIALECTS[dialect].form == "lines" else of_document
    return of(checker(dialect, CHECKS[dialect]))(data)
