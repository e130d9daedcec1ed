"""Short answers: SQuAD's metrics, ALCE's string recall and QA metrics, and DR.

String recall looks for aliases as substrings, both normalised: "5" is in "1954".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple, Protocol

from toulmin.datasets.item import Part
from toulmin.metrics.answered import Answered
from toulmin.metrics.cleaning import Read
from toulmin.metrics.columns import Column, Derived, Measured
from toulmin.metrics.short import Agreement, agreement

NAMES = ("QA-EM", "QA-F1", "QA-Hit")
# VTG's Table 2 takes the arithmetic mean of Disambig-F1 and ROUGE-L, the ASQA paper the geometric one.
DERIVED = (
    Derived("dr_mean", ("QA-F1", "rougeLsum"), lambda of: sum(of) / len(of)),
    Derived("dr", ("QA-F1", "rougeLsum"), lambda of: sqrt(of[0] * of[1])),
)


class Reader(Protocol):
    """An extractive QA model."""

    @property
    def name(self) -> str:
        """Its name in tables."""
        ...

    def answers(self, asked: Sequence[tuple[str, str]]) -> Sequence[str]:
        """For each (question, text) the words that answer it, or an empty string."""
        ...


class _Reply(NamedTuple):
    question: str
    text: str
    found: Agreement

    @classmethod
    def of(cls, part: Part, text: str) -> _Reply:
        return cls(part.question, text, agreement(text, part.answers))


def qa(answered: Sequence[Answered], read: Read, reader: Reader) -> Measured:
    """A reader answers each sub-question from the answer's text: `QA-EM`, `QA-F1`, `QA-Hit`.

    Exact match and word F1 with the best alias, both normalised, are averaged over sub-questions; a hit has all
    exact. Empty texts are read as one space, as in ALCE. Items without answered sub-questions do not count.
    """
    texts = [read(entry) for entry in answered]
    parts = [() if text is None else _parts(entry) for entry, text in zip(answered, texts, strict=True)]
    asked = [(part.question, text or " ") for questions, text in zip(parts, texts, strict=True) for part in questions]
    replies = iter(reader.answers(asked))
    rows = [[_Reply.of(part, next(replies)) for part in questions] for questions in parts]
    columns = (
        Column("QA-EM", tuple(_mean([reply.found.is_exact for reply in row]) for row in rows)),
        Column("QA-F1", tuple(_mean([reply.found.tokens.fmeasure for reply in row]) for row in rows)),
        Column("QA-Hit", tuple(float(all(reply.found.is_exact for reply in row)) if row else None for row in rows)),
    )
    return Measured(columns, reasons=tuple(map(_replies_reason, rows)), notes=(f"QA metrics by {reader.name}.",))


def disambiguation(answered: Sequence[Answered]) -> Measured:
    """`dr_mean` and `dr`, from QA-F1 and rougeLsum."""
    return Measured((), DERIVED)


def _parts(entry: Answered) -> tuple[Part, ...]:
    return tuple(part for part in entry.item.gold.parts or () if part.answers)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _replies_reason(row: Sequence[_Reply]) -> Mapping[str, Any]:
    if not row:
        return {}
    return {"asked": [{"text": each.question, "reply": each.text, "exact": each.found.is_exact} for each in row]}
