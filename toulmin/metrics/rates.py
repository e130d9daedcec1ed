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
        tuple(Column(status, tuple(float(one.answer.status == status) for one in answered)) for status in STATUSES)
    )


def abstention(answered: Sequence[Answered]) -> Measured:
    """Compared with what the dataset calls answerable; failed answers do not count.

    `unanswerable_abstained` is the share of unanswerable questions with an abstention, `answerable_answered` of
    answerable ones with an answer; empty columns are left out.
    """
    columns = (
        Column("unanswerable_abstained", tuple(_is(one, "abstained", answerable=False) for one in answered)),
        Column("answerable_answered", tuple(_is(one, "answered", answerable=True) for one in answered)),
    )
    return Measured(tuple(column for column in columns if column.n))


def _is(one: Answered, status: Status, *, answerable: bool) -> float | None:
    counts = not one.is_failed and one.item.gold.answerable is answerable
    return float(one.answer.status == status) if counts else None
