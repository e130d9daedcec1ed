"""ALCE's recall of short answers"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from toulmin.datasets.item import Aliases
from toulmin.metrics.answered import Answered
from toulmin.metrics.cleaning import alce_text, honest_text
from toulmin.metrics.columns import Column, Measured
from toulmin.text.overlap import normalise

RECALL = ("str_em", "str_hit")
NO_PARTS = "str_em and str_hit are 0 because the first question has no `qa_pairs`, as in ALCE."


def alce_recall(answered: Sequence[Answered]) -> Measured:
    """Over ASQA's sub-questions; 0 if the first question has none.

    A later one without any, at which ALCE stops, does not count.
    """
    if answered and answered[0].item.gold.parts is None:
        zeros = (0.0,) * len(answered)
        return Measured(tuple(Column(name, zeros) for name in RECALL), notes=(NO_PARTS,))
    return _measure_recall([_alce_slots(entry) for entry in answered])


def honest_recall(answered: Sequence[Answered]) -> Measured:
    """Over sub-questions or, without any, answer slots.

    Questions without gold answers, those that want a list, and failed answers do not count. An alias that
    normalises to nothing ("The The"), which always matches in ALCE, is searched as written.
    """
    return _measure_recall([_honest_slots(entry) for entry in answered])


def without_blanks(slots: Iterable[Aliases]) -> tuple[Aliases, ...]:
    """Leaves out blank aliases, and slots without others (QAMPARI has five)."""
    cleaned = (tuple(alias for alias in aliases if alias.strip()) for aliases in slots)
    return tuple(aliases for aliases in cleaned if aliases)


class _Slot(NamedTuple):
    aliases: Aliases
    found: bool


def _alce_slots(entry: Answered) -> list[_Slot]:
    plain = normalise(alce_text(entry))
    slots = [part.answers for part in entry.item.gold.parts or ()]
    return [_Slot(aliases, any(normalise(alias) in plain for alias in aliases)) for aliases in slots]


def _honest_slots(entry: Answered) -> list[_Slot]:
    text = honest_text(entry)
    if text is None or entry.item.style == "list":
        return []
    gold = entry.item.gold
    slots = (gold.answers or ()) if gold.parts is None else tuple(part.answers for part in gold.parts)
    plain, written = normalise(text), text.casefold()
    return [
        _Slot(aliases, any(_tells(plain, written, alias) for alias in aliases)) for aliases in without_blanks(slots)
    ]


def _tells(plain: str, written: str, alias: str) -> bool:
    looked_for = normalise(alias)
    return looked_for in plain if looked_for else alias.strip().casefold() in written


def _measure_recall(rows: Sequence[Sequence[_Slot]]) -> Measured:
    shares = [float(np.mean([each.found for each in row])) if row else None for row in rows]
    hits = tuple(None if share is None else float(share == 1) for share in shares)
    return Measured((Column("str_em", tuple(shares)), Column("str_hit", hits)), reasons=tuple(map(_slots_reason, rows)))


def _slots_reason(slots: Sequence[_Slot]) -> Mapping[str, Any]:
    if not slots:
        return {}
    return {"gold": [{"text": each.aliases[0] if each.aliases else "", "found": each.found} for each in slots]}
