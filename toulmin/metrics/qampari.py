"""Lists of entities against gold entities: ALCE's QAMPARI metrics.

A prediction is right if it equals an alias of a gold entity, both normalised. In `alce`, predictions are texts between
commas: repetitions count, names with a comma are wrong. In `honest`, each entity counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from toulmin.datasets.item import Aliases
from toulmin.metrics.answered import Column, MetricTable, ScoringItem, columns
from toulmin.metrics.short_answers import gold_reason, without_blanks
from toulmin.metrics.statements import alce_text, honest_text
from toulmin.text.overlap import entity, normalise
from toulmin.text.rouge import Overlap

TOP = 5
_SHARES = ("qampari_prec", "qampari_rec", "qampari_rec_top5", "qampari_f1", "qampari_f1_top5")


class _AnswerMatch(NamedTuple):
    gold: Sequence[Aliases]
    predicted: list[tuple[str, bool]]  # each with whether it is right
    found: list[bool]


def pieces(text: str, reasoned: bool = False) -> list[str]:
    """ALCE's list of a text without citations; with `reasoned` (`--cot`) what follows the first colon."""
    if reasoned:
        text = text.partition(":")[2]
    stripped = text.rstrip().rstrip(".").rstrip(",")
    return [piece for piece in map(normalise, stripped.split(",")) if piece]


def alce_list(
    answered: Sequence[ScoringItem], reasoned: bool = False, read: Callable[[ScoringItem], str] = alce_text
) -> MetricTable:
    """`reasoned` is as for `pieces`. Questions without gold entities, at which ALCE stops, do not count."""
    matches = [_alce_match(entry.item.gold.answers or (), pieces(read(entry), reasoned)) for entry in answered]
    return _measure_lists(matches)


def honest_list(answered: Sequence[ScoringItem]) -> MetricTable:
    """Over distinct entities; answers that are no lists are cut at commas.

    Failed answers do not count, nor questions without gold entities or of another style than `list`.
    """
    return _measure_lists([_honest_match(entry) for entry in answered])


def _alce_match(gold: Sequence[Aliases], predictions: list[str]) -> _AnswerMatch | None:
    if not gold:
        return None
    slots = [{normalise(alias) for alias in aliases} for aliases in gold]
    known = frozenset[str]().union(*slots)
    found = [not aliases.isdisjoint(predictions) for aliases in slots]
    return _AnswerMatch(gold, [(each, each in known) for each in predictions], found)


def _honest_match(entry: ScoringItem) -> _AnswerMatch | None:
    gold, text = without_blanks(entry.item.gold.answers or ()), honest_text(entry)
    if entry.item.style != "list" or not gold or text is None:
        return None
    is_list = entry.answer.style == "list"
    return _distinct([claim.text for claim in entry.answer.claims] if is_list else pieces(text), gold)


def _distinct(names: Sequence[str], gold: Sequence[Aliases]) -> _AnswerMatch:
    """Skips repetitions, and further aliases of an entity that has a prediction."""
    match = _AnswerMatch(gold, [], [False] * len(gold))
    slots = [{entity(alias) for alias in aliases} for aliases in gold]
    seen: set[str] = set()
    for name in names:
        known = entity(name)
        places = [i for i, aliases in enumerate(slots) if known in aliases]
        if known in seen or (places and all(match.found[i] for i in places)):
            continue
        seen.add(known)
        match.predicted.append((name, bool(places)))
        for i in places:
            match.found[i] = True
    return match


def _measure_lists(matches: Sequence[_AnswerMatch | None]) -> MetricTable:
    counts = tuple(None if match is None else float(len(match.predicted)) for match in matches)
    shares = columns(_SHARES, [None if match is None else _shares(match) for match in matches])
    return MetricTable((Column("num_preds", counts, scale=1.0), *shares), reasons=tuple(map(_reason, matches)))


def _shares(match: _AnswerMatch) -> tuple[float, ...]:
    """As ALCE computes them, to the last digit."""
    precision = sum(is_right for _, is_right in match.predicted) / max(1, len(match.predicted))
    hits, gold = sum(match.found), len(match.found)
    recall, top = hits / gold, min(TOP, hits) / min(TOP, gold)
    return precision, recall, top, Overlap(precision, recall).fmeasure, Overlap(precision, top).fmeasure


def _reason(match: _AnswerMatch | None) -> Mapping[str, Any]:
    if match is None:
        return {}
    slots = zip(match.gold, match.found, strict=True)
    return {
        "gold": [gold_reason(aliases, found=is_found) for aliases, is_found in slots],
        "predicted": [{"text": name, "right": is_right} for name, is_right in match.predicted],
    }
