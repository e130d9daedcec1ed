"""JSON as words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple


class Shape(NamedTuple):
    """The names that a prompt's result may have in an object, likeliest first; `titled`: parts have titles and
    texts.
    """

    names: tuple[str, ...]
    titled: bool = False


class _Field(NamedTuple):
    key: str
    word: str
    value: Any


_START = re.compile(r"^[^\S\n]{0,80}(?=\{\s{0,80}\"|\[\s{0,80}[\"{])", re.MULTILINE)
_TALK = 400  # characters around JSON that may be courtesy
_REST_OF_LINE = re.compile(r"[^\S\n]*(?:`{3,}[^\S\n]*)?(?:\n|$)")
_KEY_WORD = re.compile(r"[A-Za-z][a-z]*|[^\W\d_]+")
_LABELS = re.compile(r"\W*(?:[a-z]+\W*)?\d{1,4}(?:\W+\d{1,4})*\W*", re.IGNORECASE)
_CITING = frozenset("citation cite source reference ref passage document doc evidence".split())
_ASIDE = frozenset(
    "reasoning reason explanation thought thinking analysis rationale justification why purpose confidence score"
    " question query topic draft change note id index start end".split()
)
_TITLE = frozenset("title name heading aspect".split())
_NAME_OF_SOURCE = ("id", "number", "index", "label", "citation", "passage", "document", "source")


def as_words(text: str, shape: Shape) -> str:
    """The text with its JSON (lines that begin with `{"`, `["` or `[{`) put into words.

    An object becomes its main value, with cited labels as marks after it, a list becomes bullets; reasons, scores
    and the like are left out. JSON that was cut off counts as far as it goes; an example in a longer reply stays.
    """
    pieces: list[str] = []
    at = wrapped = 0
    while start := _START.search(text, at):
        reading = _read_json(text, start.end(), shape)
        if reading is None:
            break
        pieces += [text[at : start.start()], reading.words]
        at = reading.end
        wrapped += reading.end - start.end()
    return "".join([*pieces, text[at:]]) if len(text) - wrapped <= max(_TALK, wrapped) else text


class _Reading(NamedTuple):
    words: str
    end: int


def _read_json(text: str, start: int, shape: Shape) -> _Reading | None:
    try:
        value, end = _decode(text, start)
        is_whole = _REST_OF_LINE.match(text, end) is not None
        return _Reading(_encodable("\n".join(_lines(value, shape))), end) if is_whole else None
    except (ValueError, RecursionError):
        return None


def _decode(text: str, start: int) -> tuple[Any, int]:
    """The value that begins there, and where it ends. Raises `ValueError` if it is not JSON."""
    with suppress(ValueError):
        return json.JSONDecoder(strict=False).raw_decode(text, start)
    cut_off = _encodable(text[start:]).rstrip("` \n")
    import pydantic_core  # slow to load, and only needed for JSON that was cut off

    return pydantic_core.from_json(cut_off, allow_partial="trailing-strings"), len(text)


def _encodable(text: str) -> str:
    """Replaces lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _lines(value: Any, shape: Shape) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _of_object(value, shape)
    elif isinstance(value, list):
        bullets = (" ".join(_lines(item, shape)) for item in value)
        yield from (f"- {words}" for words in bullets if words.strip())
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _of_object(record: Mapping[str, Any], shape: Shape) -> Iterator[str]:
    fields = [_Field(key.replace("_", " "), _last_word(key), value) for key, value in record.items()]
    marks = "".join(f"[{n}]" for field in fields if field.word in _CITING for n in _labels(field.value))
    fields = [field for field in fields if field.word not in _CITING or not (marks or _labels(field.value))]
    lines = list(_result(fields, shape, bool(marks)))
    yield from lines[:-1]
    yield f"{lines[-1]} {marks}".strip() if lines else marks


def _last_word(key: str) -> str:
    """Such as "answer" for "final_answers" and "correctedAnswer"."""
    words = _KEY_WORD.findall(key)
    return words[-1].lower().removesuffix("s") if words else ""


def _result(fields: list[_Field], shape: Shape, is_cited: bool) -> Iterator[str]:
    present = [field for field in fields if field.value is not None]
    title = next((f for f in present if f.word in _TITLE and isinstance(f.value, str)), None)
    texts = [field for field in present if isinstance(field.value, str | list | dict) and field is not title]
    best = next((name for name in shape.names if any(field.word == name for field in texts)), None)
    if title is not None and shape.titled:
        yield f"{title.value}: {' '.join(line for field in texts for line in _lines(field.value, shape))}"
    elif best is not None:
        yield from (line for field in texts if field.word == best for line in _lines(field.value, shape))
    elif not any(field.word in shape.names and field.value is None for field in fields):
        yield from _each(_without_asides(present, is_cited), shape)


def _without_asides(fields: list[_Field], is_cited: bool) -> list[_Field]:
    main = [field for field in fields if field.word not in _ASIDE]
    return main if main or is_cited else fields


def _each(fields: list[_Field], shape: Shape) -> Iterator[str]:
    for field in fields:
        if isinstance(field.value, bool):
            yield field.key if field.value else f"not {field.key}"
            continue
        lines = list(_lines(field.value, shape))
        if len(fields) == 1 and not (shape.titled and isinstance(field.value, str)):
            yield from lines
        elif isinstance(field.value, list):
            yield from [f"{field.key}:", *lines]
        else:
            yield f"{field.key}: {' '.join(lines)}"


def _labels(value: Any) -> list[int]:
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int):
        return [value]
    if isinstance(value, str):
        return [int(n) for n in re.findall(r"\d+", value)] if _LABELS.fullmatch(value) else []
    if isinstance(value, list):
        return [n for item in value for n in _labels(item)]
    if isinstance(value, dict):
        return next((numbers for name in _NAME_OF_SOURCE if (numbers := _labels(value.get(name)))), [])
    return []
