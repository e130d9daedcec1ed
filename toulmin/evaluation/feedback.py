"""Readers' opinions on sentences, beside the judge's verdicts, in a file of JSON lines."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple, get_args

import orjson

from toulmin.data import Answer, Claim
from toulmin.errors import DiskFull, SourceError
from toulmin.formats.answer_json import plain

_PIECE = 1 << 16

Saying = Literal["right", "wrong", "wrong source"]
"""Of a sentence: its source says it; it is not true of its source; another source than the cited one is meant."""


class Word(NamedTuple):
    """A reader's last opinion on a claim, with the cited passages and the verdict at that time."""

    answer: str
    claim: int
    says: Saying
    text: str
    passages: tuple[Mapping[str, str], ...]
    label: str | None
    judge: str | None


def is_feedback(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return b'"says":' in file.readline(1_000_000)


def read_feedback(path: Path) -> list[Word]:
    """The last word on each claim, in order of first words, without withdrawn ones.

    Raises `SourceError` for a line that is no row of feedback.
    """
    rows: dict[tuple[str, int], Mapping[str, Any]] = {}
    place = ""
    try:
        with path.open("rb") as file:
            for n, line in enumerate(file, start=1):
                place = f", line {n}"
                row = json.loads(line)
                rows[row["answer"], row["claim"]] = row
        place = ""
        return [_word(row) for row in rows.values() if row["says"] is not None]
    except (ValueError, KeyError, TypeError) as error:
        expected = "a JSON object with `answer`, `claim`, `says` and `text` was expected"
        raise SourceError(f"{path}{place}: {expected}.") from error


def _word(row: Mapping[str, Any]) -> Word:
    if row["says"] not in get_args(Saying):
        raise TypeError(row["says"])
    support = row.get("support") or {}
    passages = tuple(row.get("passages") or ())
    return Word(
        row["answer"], row["claim"], row["says"], row["text"], passages, support.get("label"), support.get("judge")
    )


def feedback_document(path: Path) -> dict[str, Any]:
    """How often readers agree with each verdict, in the form of `score`; `n` counts sentences with that verdict
    ("unchecked": none).
    """
    words = read_feedback(path)
    counts = Counter((word.label or "unchecked", word.says) for word in words)
    totals = Counter(word.label or "unchecked" for word in words)
    metrics = {
        f"{label}: readers say {says}": {"value": 100 * counts[label, says] / totals[label], "low": None, "high": None,
                                         "n": totals[label]}
        for label, says in product(totals, get_args(Saying))
    }  # fmt: skip
    return {
        "profile": "feedback",
        "judge": ", ".join(sorted({word.judge for word in words if word.judge})) or None,
        "n": len(words),
        "failed": 0,
        "metrics": metrics,
        "notes": ["Each question is a sentence: its last opinion from readers, beside the judge's verdict."],
    }


# ---------------------------------------------------------------- keeping it


class Feedback:
    """A file of at most so many bytes, which is read once, as it grows: what it says of each answer is in memory."""

    def __init__(self, path: Path, most: int) -> None:
        self.path, self._most = path, most
        self._lock = Lock()
        self._words: dict[str, dict[int, Saying | None]] = {}
        self._read = 0  # bytes

    def add(self, answer: Answer, n: int, says: Saying | None) -> None:
        """Saves an opinion on the n-th claim; None withdraws it.

        Raises `SourceError` for a claim that does not exist, and if the file is full.
        """
        if not 0 <= n < len(answer.claims):
            raise SourceError(f"The answer has {len(answer.claims)} claims, counted from 0, not one with number {n}.")
        if self._size() >= self._most:
            held = f"Feedback has reached {self._most / 1e6:,.0f} MB, and no more is kept"
            raise DiskFull(f"{held}: save `GET /v1/feedback` and move {self.path.name} away, or raise feedback_mb.")
        row = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "answer": answer.id, "claim": n, "says": says}
        line = orjson.dumps(plain(row | _row(answer, answer.claims[n])), option=orjson.OPT_APPEND_NEWLINE)
        # Only its owner may read it, since it quotes documents.
        with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:
            file.write(line)

    def of_answer(self, id: str) -> Mapping[int, Saying]:
        with self._lock:
            self._catch_up()
            return {claim: says for claim, says in self._words.get(id, {}).items() if says is not None}

    def pieces(self) -> Iterator[bytes]:
        if self.path.is_file():
            with self.path.open("rb") as file:
                yield from iter(partial(file.read, _PIECE), b"")

    def _size(self) -> int:
        return self.path.stat().st_size if self.path.is_file() else 0

    def _catch_up(self) -> None:
        size = self._size()
        if size < self._read:  # it was moved away
            self._words, self._read = {}, 0
        if size == self._read:
            return
        with self.path.open("rb") as file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):  # it is being written
                    return
                self._read += len(line)
                with suppress(ValueError, KeyError, TypeError):  # a damaged line
                    row = orjson.loads(line)
                    self._words.setdefault(row["answer"], {})[row["claim"]] = row["says"]


def _row(answer: Answer, claim: Claim) -> dict[str, Any]:
    cited = [answer.passage(id) for id in claim.cited]
    return {
        "question": answer.question,
        "text": claim.text,
        "passages": [{"id": each.id, "title": each.title, "text": each.text} for each in cited],
        "support": claim.support,
    }
