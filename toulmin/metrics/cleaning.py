"""The text of an answer that each profile compares with what is known to be right."""

from __future__ import annotations

from collections.abc import Callable

from toulmin.metrics.alce_statements import cited_text, without_numbers
from toulmin.metrics.answered import Answered
from toulmin.metrics.statements import whole_text

Read = Callable[[Answered], str | None]
"""What a profile reads of an answer; None where there is nothing to score."""


def alce_text(answered: Answered) -> str:
    """The clean text of an output (metrics 1.0); a failed answer is an empty output, as ALCE would have had it."""
    return without_numbers(cited_text(answered.output))


def honest_text(answered: Answered) -> str | None:
    """The words of an answer's claims, empty for an abstention; None for an answer that failed."""
    return None if answered.is_failed else whole_text(answered.answer)


def prose_text(answered: Answered) -> str | None:
    """`honest_text` of an answer that should be prose; None where the question wants a list or a short answer."""
    return None if answered.item.style in ("list", "short") else honest_text(answered)
