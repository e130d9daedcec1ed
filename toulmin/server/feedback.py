"""What readers say of sentences, kept in a file of JSON lines that `toulmin score` and the judge's training read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from toulmin.data import Answer, Claim
from toulmin.errors import SourceError
from toulmin.evaluation.feedback import Saying, words_in
from toulmin.formats.answer_json import plain

_MOST_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class Feedback:
    """The file, which comes about with the first word."""

    path: Path

    def add(self, answer: Answer, n: int, says: Saying | None) -> None:
        """Keeps what somebody says of the n-th claim; None takes it back.

        Raises `SourceError` for a claim that is not there, and where the file has become too large.
        """
        if not 0 <= n < len(answer.claims):
            raise SourceError(f"The answer has {len(answer.claims)} claims, counted from 0, not one with number {n}.")
        if self.path.is_file() and self.path.stat().st_size > _MOST_BYTES:
            raise SourceError(f"{self.path} has reached {_MOST_BYTES:,} bytes; move it away to keep more.")
        row = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "answer": answer.id, "claim": n, "says": says}
        line = orjson.dumps(plain(row | _words(answer, answer.claims[n])), option=orjson.OPT_APPEND_NEWLINE)
        # Only its owner may read it, since it quotes documents.
        with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:
            file.write(line)

    def of_answer(self, id: str) -> Mapping[int, Saying]:
        """What was last said of each claim of an answer."""
        lines = (line for line in self.data().splitlines() if id.encode() in line)
        return {word.claim: word.says for word in words_in(lines, self.path) if word.answer == id}

    def data(self) -> bytes:
        return self.path.read_bytes() if self.path.is_file() else b""


def _words(answer: Answer, claim: Claim) -> dict[str, Any]:
    cited = [answer.passage(id) for id in claim.cited]
    return {
        "question": answer.question,
        "text": claim.text,
        "passages": [{"id": one.id, "title": one.title, "text": one.text} for one in cited],
        "support": claim.support,
    }
