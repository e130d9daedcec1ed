"""ALCE's recall of short answers"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from toulmin.datasets.item import Aliases
from toulmin.metrics.answered import Answered
from toulmin.metrics.cleaning import alce_text, honest_text
from toulmin.metrics.columns import Column, Measured
from toulmin.text.overlap import normalised

NAMES = ("str_em", "str_hit")
NO_PARTS = "str_em and str_hit are 0 because the first question has no `qa_pairs`, as in ALCE."


def alce_recall(answered: Sequence[Answered]) -> Measured:
    """Over ASQA's sub-questions; 0 if the first question has none.

    A later one without any, at which ALCE stops, does not count.
    """
    if answered and answered[0].item.gold.parts is None:
        zeros = (0.0,) * len(answered)
        return Measured(tuple(Column(name, zeros) for name in NAMES), notes=(NO_PARTS,))
    return _measured([_alce_told(one) for one in answered])


def honest_recall(answered: Sequence[Answered]) -> Measured:
    """Over sub-questions or, without any, answer slots.

    Questions without gold answers, those that want a list, and failed answers do not count. An alias that
    normalises to nothing ("The The"), which always matches in ALCE, is searched as written.
    """
    return _measured([_honest_told(one) for one in answered])


def named(slots: Iterable[Aliases]) -> tuple[Aliases, ...]:
    """Leaves out blank aliases, and slots without others (QAMPARI has five)."""
    cleaned = (tuple(alias for alias in aliases if alias.strip()) for aliases in slots)
    return tuple(aliases for aliases in cleaned if aliases)


class _Told(NamedTuple):
    aliases: Aliases
    found: bool


def _alce_told(one: Answered) -> list[_Told]:
    plain = normalised(alce_text(one))
    slots = [part.answers for part in one.item.gold.parts or ()]
    return [_Told(aliases, any(normalised(alias) in plain for alias in aliases)) for aliases in slots]


def _honest_told(one: Answered) -> list[_Told]:
    text = honest_text(one)
    if text is None or one.item.style == "list":
        return []
    gold = one.item.gold
    slots = (gold.answers or ()) if gold.parts is None else tuple(part.answers for part in gold.parts)
    plain, written = normalised(text), text.casefold()
    return [_Told(aliases, any(_tells(plain, written, alias) for alias in aliases)) for aliases in named(slots)]


def _tells(plain: str, written: str, alias: str) -> bool:
    looked_for = normalised(alias)
    return looked_for in plain if looked_for else alias.strip().casefold() in written


def _measured(told: Sequence[Sequence[_Told]]) -> Measured:
    shares = [float(np.mean([each.found for each in row])) if row else None for row in told]
    hits = tuple(None if share is None else float(share == 1) for share in shares)
    return Measured((Column("str_em", tuple(shares)), Column("str_hit", hits)), reasons=tuple(map(_reason, told)))


def _reason(told: Sequence[_Told]) -> Mapping[str, Any]:
    if not told:
        return {}
    return {"gold": [{"text": each.aliases[0] if each.aliases else "", "found": each.found} for each in told]}
