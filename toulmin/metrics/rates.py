"""How often there was an answer, and whether there was one where there should be."""

from __future__ import annotations

from collections.abc import Sequence

from toulmin.data import Status
from toulmin.metrics.answered import Answered
from toulmin.metrics.columns import Column, Measured

STATUSES: tuple[Status, ...] = ("answered", "abstained", "failed")


def rates(answered: Sequence[Answered]) -> Measured:
    """The shares `answered`, `abstained` and `failed` of all questions, which add up to 100."""
    return Measured(
        tuple(Column(status, tuple(float(one.answer.status == status) for one in answered)) for status in STATUSES)
    )


def abstention(answered: Sequence[Answered]) -> Measured:
    """Abstentions against what the dataset says of its questions; failed answers do not count.

    `unanswerable_abstained` is the share of unanswerable questions that were abstained on, `answerable_answered` that
    of answerable ones that were answered; a column that no question counts in is left out.
    """
    columns = (
        Column("unanswerable_abstained", tuple(_is(one, "abstained", answerable=False) for one in answered)),
        Column("answerable_answered", tuple(_is(one, "answered", answerable=True) for one in answered)),
    )
    return Measured(tuple(column for column in columns if column.n))


def _is(one: Answered, status: Status, *, answerable: bool) -> float | None:
    counts = not one.is_failed and one.item.gold.answerable is answerable
    return float(one.answer.status == status) if counts else None
