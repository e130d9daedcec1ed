"""Rates of answers and abstentions"""

from __future__ import annotations

from collections.abc import Sequence

from toulmin.data import Status
from toulmin.metrics.answered import Answered
from toulmin.metrics.columns import Column, Measured

STATUSES: tuple[Status, ...] = ("answered", "abstained", "failed")


def rates(answered: Sequence[Answered]) -> Measured:
    """Shares of all questions, which add up to 100."""
    return Measured(
        tuple(Column(status, tuple(float(entry.answer.status == status) for entry in answered)) for status in STATUSES)
    )


def abstention(answered: Sequence[Answered]) -> Measured:
    """Compared with what the dataset calls answerable; failed answers do not count.

    `unanswerable_abstained` is the share of unanswerable questions with an abstention, `answerable_answered` of
    answerable ones with an answer; empty columns are left out.
    """
    columns = (
        Column(
            "unanswerable_abstained", tuple(_status_value(entry, "abstained", answerable=False) for entry in answered)
        ),
        Column("answerable_answered", tuple(_status_value(entry, "answered", answerable=True) for entry in answered)),
    )
    return Measured(tuple(column for column in columns if column.n))


def _status_value(entry: Answered, status: Status, *, answerable: bool) -> float | None:
    counts = not entry.is_failed and entry.item.gold.answerable is answerable
    return float(entry.answer.status == status) if counts else None
