"""Short answers by SQuAD's rule"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toulmin.metrics.answered import Answered
from toulmin.metrics.cleaning import Read
from toulmin.metrics.columns import Column, Measured
from toulmin.text.overlap import normalise
from toulmin.text.rouge import Overlap


class Agreement(NamedTuple):
    alias: str
    is_exact: bool
    tokens: Overlap


def short(answered: Sequence[Answered], read: Read) -> Measured:
    """`em`, `token_precision`, `token_recall`, `token_f1` of answers in the style `short`.

    `em` is equality with any alias, both normalised; the others count words shared with the alias of highest F1.
    Questions without gold answers do not count; empty answers score 0.
    """
    agreements = [_agreement(entry, read) for entry in answered]
    columns = (
        Column("em", tuple(None if each is None else float(each.is_exact) for each in agreements)),
        Column("token_precision", tuple(None if each is None else each.tokens.precision for each in agreements)),
        Column("token_recall", tuple(None if each is None else each.tokens.recall for each in agreements)),
        Column("token_f1", tuple(None if each is None else each.tokens.fmeasure for each in agreements)),
    )
    return Measured(columns, reasons=tuple(_nearest_reason(each) for each in agreements))


def wants_words(entry: Answered) -> bool:
    return entry.answer.style == "short" and bool(_aliases(entry))


def word_overlap(answer: str, alias: str) -> Overlap:
    """Words shared by two normalised texts, with repetitions; 1 if both are empty."""
    ours, theirs = Counter(answer.split()), Counter(alias.split())
    if not ours or not theirs:
        same = float(ours == theirs)
        return Overlap(same, same)
    shared = (ours & theirs).total()
    return Overlap(shared / ours.total(), shared / theirs.total())


def agreement(answer: str, aliases: Sequence[str]) -> Agreement:
    """With the nearest alias, the first of equals; there must be one."""
    ours = normalise(answer)
    beside = [(alias, word_overlap(ours, normalise(alias))) for alias in aliases]
    alias, tokens = max(beside, key=lambda pair: pair[1].fmeasure)
    return Agreement(alias, any(ours == normalise(alias) for alias in aliases), tokens)


def _aliases(entry: Answered) -> tuple[str, ...]:
    return tuple(alias for aliases in entry.item.gold.answers or () for alias in aliases)


def _agreement(entry: Answered, read: Read) -> Agreement | None:
    text = read(entry) if wants_words(entry) else None
    return None if text is None else agreement(text, _aliases(entry))


def _nearest_reason(match: Agreement | None) -> Mapping[str, Any]:
    return {} if match is None else {"nearest_answer": {"text": match.alias, "exact": match.is_exact}}
