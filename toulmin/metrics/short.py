"""Short answers by SQuAD's rule"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toulmin.metrics.answered import Answered
from toulmin.metrics.cleaning import Read
from toulmin.metrics.columns import Column, Measured
from toulmin.text.overlap import normalised
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
    found = [_agreement(one, read) for one in answered]
    columns = (
        Column("em", tuple(None if each is None else float(each.is_exact) for each in found)),
        Column("token_precision", tuple(None if each is None else each.tokens.precision for each in found)),
        Column("token_recall", tuple(None if each is None else each.tokens.recall for each in found)),
        Column("token_f1", tuple(None if each is None else each.tokens.fmeasure for each in found)),
    )
    return Measured(columns, reasons=tuple(_reason(each) for each in found))


def wants_words(one: Answered) -> bool:
    return one.answer.style == "short" and bool(_aliases(one))


def shared_words(answer: str, alias: str) -> Overlap:
    """Words shared by two normalised texts, with repetitions; 1 if both are empty."""
    ours, theirs = Counter(answer.split()), Counter(alias.split())
    if not ours or not theirs:
        same = float(ours == theirs)
        return Overlap(same, same)
    shared = (ours & theirs).total()
    return Overlap(shared / ours.total(), shared / theirs.total())


def agreement(answer: str, aliases: Sequence[str]) -> Agreement:
    """With the nearest alias, the first of equals; there must be one."""
    ours = normalised(answer)
    beside = [(alias, shared_words(ours, normalised(alias))) for alias in aliases]
    alias, tokens = max(beside, key=lambda pair: pair[1].fmeasure)
    return Agreement(alias, any(ours == normalised(alias) for alias in aliases), tokens)


def _aliases(one: Answered) -> tuple[str, ...]:
    return tuple(alias for aliases in one.item.gold.answers or () for alias in aliases)


def _agreement(one: Answered, read: Read) -> Agreement | None:
    text = read(one) if wants_words(one) else None
    return None if text is None else agreement(text, _aliases(one))


def _reason(found: Agreement | None) -> Mapping[str, Any]:
    return {} if found is None else {"nearest_answer": {"text": found.alias, "exact": found.is_exact}}
