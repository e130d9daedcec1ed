"""The text that each profile compares"""

from __future__ import annotations

from collections.abc import Callable

from toulmin.metrics.alce_statements import first_line, without_numbers
from toulmin.metrics.answered import Answered
from toulmin.metrics.statements import whole_text

Read = Callable[[Answered], str | None]
"""What a profile reads of an answer; None where there is nothing to score."""


def alce_text(answered: Answered) -> str:
    """The output without citations; empty for a failed answer, as in ALCE."""
    return without_numbers(first_line(answered.output))


def honest_text(answered: Answered) -> str | None:
    """The claims' text, empty for an abstention; None for a failed answer."""
    return None if answered.is_failed else whole_text(answered.answer)


def prose_text(answered: Answered) -> str | None:
    """`honest_text`; None where a list or a short answer is wanted."""
    return None if answered.item.style in ("list", "short") else honest_text(answered)
