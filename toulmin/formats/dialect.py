"""What a dialect is."""

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
    """A whole run; `settings` are its settings, and `team_id` for TREC."""

    id: str
    settings: Mapping[str, Any] = field(default_factory=dict)


class Written(NamedTuple):
    """One answer in a dialect; `notes` say what was cut."""

    document: dict[str, Any]
    notes: tuple[str, ...] = ()


class Piece(NamedTuple):
    """The next bytes of a file, possibly none, and notes on them."""

    data: bytes
    notes: tuple[str, ...] = ()


class Asked(NamedTuple):
    """An answer with its question."""

    item: Item
    answer: Answer


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file in a dialect is written, piece by piece, and checked.

    `form` is `lines` (JSON lines, one per answer) or `document` (one per run). `unit` is what offsets count, None
    without offsets. `problems` takes a whole file and returns sentences.
    """

    form: Literal["lines", "document"]
    unit: Literal["code points", "UTF-8 bytes"] | None
    pieces: Callable[[Iterable[Asked], Run], Iterator[Piece]]
    problems: Callable[[bytes], list[str]]


def lines(write: Callable[[Item, Answer, Run], Written]) -> Callable[[Iterable[Asked], Run], Iterator[Piece]]:
    def pieces(answers: Iterable[Asked], run: Run) -> Iterator[Piece]:
        for asked in answers:
            document, notes = write(asked.item, asked.answer, run)
            yield Piece(dumps(document) + b"\n", tuple(f"{asked.item.id}: {note}" for note in notes))

    return pieces


def dumps(document: Any) -> bytes:
    """JSON in one line of UTF-8; half a surrogate pair becomes U+FFFD, what JSON does not know text.

    Unlike an Answer's JSON it keeps a record's large whole numbers.
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=str)
    return _LONE_SURROGATE.sub("\ufffd", text).encode("utf-8")
