"""What a dialect is, and the shapes of its JSON values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any, Literal, NamedTuple

from toulmin.data import Answer
from toulmin.datasets.item import Item

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
    shapes: dict[str, Any] = json.loads(resources.files("toulmin.formats").joinpath("shapes.json").read_text("utf-8"))
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


# ---------------------------------------------------------------- what a dialect is


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Run:
    """`settings` are the run's, and `team_id` for TREC."""

    id: str
    settings: Mapping[str, Any] = field(default_factory=dict)


class DialectOutput(NamedTuple):
    """One answer in a dialect; `notes` list what was cut."""

    document: dict[str, Any]
    notes: tuple[str, ...] = ()


class Piece(NamedTuple):
    """The next bytes of a file, possibly none, and notes on them."""

    data: bytes
    notes: tuple[str, ...] = ()


class QuestionAnswer(NamedTuple):
    item: Item
    answer: Answer


@dataclass(frozen=True, slots=True)
class Dialect:
    """Writes a file in a dialect piece by piece.

    `form` is `lines` (JSON lines, one per answer) or `document` (one per run). `unit` is what offsets count, None
    without offsets. `keeps_failed`: failed answers are written empty.
    """

    help: str
    form: Literal["lines", "document"]
    unit: Literal["code points"] | None
    pieces: Callable[[Iterable[QuestionAnswer], Run], Iterator[Piece]]
    keeps_failed: bool = False


def lines(
    write: Callable[[Item, Answer, Run], DialectOutput],
) -> Callable[[Iterable[QuestionAnswer], Run], Iterator[Piece]]:
    def pieces(answers: Iterable[QuestionAnswer], run: Run) -> Iterator[Piece]:
        for asked in answers:
            document, notes = write(asked.item, asked.answer, run)
            yield Piece(dumps(document) + b"\n", tuple(f"{asked.item.id}: {note}" for note in notes))

    return pieces


def dumps(document: Any) -> bytes:
    """JSON in one line of UTF-8; lone surrogates become U+FFFD, unknown types text.

    Unlike an Answer's JSON it keeps a record's large whole numbers.
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=str)
    return _LONE_SURROGATE.sub("\ufffd", text).encode("utf-8")
