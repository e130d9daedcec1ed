"""What readers said of sentences, beside what the judge had said of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

from toulmin.errors import SourceError

Saying = Literal["right", "wrong", "wrong source"]
"""Of a sentence: its source says it; it is not true of its source; another source than the cited one is meant."""


@dataclass(frozen=True, slots=True)
class Word:
    """What somebody last said of a claim, with the passages that it cites and the verdict that it had."""

    answer: str
    claim: int
    says: Saying
    text: str
    passages: tuple[Mapping[str, str], ...]
    label: str | None
    judge: str | None


def is_feedback(path: Path) -> bool:
    """Whether a file begins as one of feedback does."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return b'"says":' in file.readline(1_000_000)


def read_feedback(path: Path) -> list[Word]:
    """The last word on each claim, in the order of the claims' first words; what was taken back is left out.

    Raises `SourceError` for a line that is no row of feedback.
    """
    return words_in(path.read_bytes().splitlines(), path)


def words_in(lines: Iterable[bytes], path: Path) -> list[Word]:
    """As `read_feedback`, of some lines."""
    rows: dict[tuple[str, int], Mapping[str, Any]] = {}
    for n, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            rows[row["answer"], row["claim"]] = row
        except (ValueError, KeyError, TypeError) as error:
            raise _misfit(path, n) from error
    try:
        return [_word(row) for row in rows.values() if row["says"] is not None]
    except (KeyError, TypeError) as error:
        raise _misfit(path, None) from error


def _misfit(path: Path, line: int | None) -> SourceError:
    place = "" if line is None else f", line {line}"
    return SourceError(f"{path}{place}: a JSON object with `answer`, `claim`, `says` and `text` was expected.")


def _word(row: Mapping[str, Any]) -> Word:
    if row["says"] not in get_args(Saying):
        raise TypeError(row["says"])
    support = row.get("support") or {}
    passages = tuple(row.get("passages") or ())
    return Word(
        row["answer"], row["claim"], row["says"], row["text"], passages, support.get("label"), support.get("judge")
    )


def feedback_document(path: Path) -> dict[str, Any]:
    """How often readers said what of sentences with each verdict, in the form of `score`; a metric's `n` is how many
    sentences had the verdict ("unchecked": none).
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
        "notes": ["A question is a sentence here: what readers last said of it, beside the verdict that it had."],
    }
