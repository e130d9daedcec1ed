"""What a dialect is: how answers of a run are written for other tools, and how to tell whether that was done well."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from toulmin.data import Answer
from toulmin.datasets.item import Item

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Run:
    """What a dialect says of a run as a whole; `settings` are those of the run, and `team_id` for TREC."""

    id: str
    settings: Mapping[str, Any] = field(default_factory=dict)


class Written(NamedTuple):
    """One answer in a dialect; the notes say what had to be cut."""

    document: dict[str, Any]
    notes: tuple[str, ...] = ()


class Piece(NamedTuple):
    """The next bytes of a file, and what is to be said about them. Bytes may be empty where there are only notes."""

    data: bytes
    notes: tuple[str, ...] = ()


class Asked(NamedTuple):
    """An answer beside the question that it answers."""

    item: Item
    answer: Answer


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file in a dialect comes to be, piece by piece, and what is wrong with one.

    `form` is `lines` (one JSON document a line, one line an answer) or `document` (one for the run). `unit` is what its
    offsets count, None where it has none. `problems` takes the bytes of a whole file and says in words what is wrong.
    """

    form: Literal["lines", "document"]
    unit: Literal["code points", "UTF-8 bytes"] | None
    pieces: Callable[[Iterable[Asked], Run], Iterator[Piece]]
    problems: Callable[[bytes], list[str]]


def lines(write: Callable[[Item, Answer, Run], Written]) -> Callable[[Iterable[Asked], Run], Iterator[Piece]]:
    """The pieces of a dialect of lines: a line for each answer, in order."""

    def pieces(given: Iterable[Asked], run: Run) -> Iterator[Piece]:
        for asked in given:
            document, notes = write(asked.item, asked.answer, run)
            yield Piece(dumps(document) + b"\n", tuple(f"{asked.item.id}: {note}" for note in notes))

    return pieces


def dumps(document: Any) -> bytes:
    """JSON in one line of UTF-8; half a surrogate pair becomes U+FFFD, and what JSON does not know, its words.

    Unlike the JSON of `wire` it keeps the large whole numbers that a dataset's record may hold.
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=str)
    return _LONE_SURROGATE.sub("\ufffd", text).encode("utf-8")
