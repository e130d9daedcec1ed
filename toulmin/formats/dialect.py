"""What a dialect is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from toulmin.data import Answer
from toulmin.datasets.item import Item
from toulmin.formats.answer_json import plain


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


Pieces = Callable[[Iterable[QuestionAnswer], Run], Iterator[Piece]]


@dataclass(frozen=True, slots=True)
class Dialect:
    """Writes a file in a dialect piece by piece.

    `form` is `lines` (JSON lines, one per answer) or `document` (one per run). `unit` is what offsets count, None
    without offsets. `keeps_failed`: failed answers are written empty.
    """

    help: str
    form: Literal["lines", "document"]
    unit: Literal["code points"] | None
    pieces: Pieces
    keeps_failed: bool = False


def lines(write: Callable[[Item, Answer, Run], DialectOutput]) -> Pieces:
    def pieces(answers: Iterable[QuestionAnswer], run: Run) -> Iterator[Piece]:
        for item, answer in answers:
            document, notes = write(item, answer, run)
            yield Piece(dumps(document) + b"\n", tuple(f"{item.id}: {note}" for note in notes))

    return pieces


def dumps(document: Any) -> bytes:
    """JSON in one line of UTF-8; lone surrogates become U+FFFD, unknown types text.

    Unlike an Answer's JSON it keeps a record's large whole numbers.
    """
    return str(plain(json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=str))).encode("utf-8")
