"""The numbers in the plots. Nothing is drawn here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toulmin.evaluation.report_contents import Group, RunShown
from toulmin.evaluation.significance import Interval, Table, interval
from toulmin.metrics.answered import Column

UNITS = {
    "usd": "US dollars",
    "tokens": "tokens",
    "calls": "model calls",
    "judge_pairs": "pairs judged",
    "seconds": "seconds",
}

_ASSESSED = "citation recall"  # only a round that assesses a whole answer has this score


def percentages(group: Group) -> tuple[str, ...]:
    scales = {name: metric.get("scale") for _, scored in group.scored for name, metric in scored.metrics.items()}
    return tuple(name for name, scale in scales.items() if scale in (None, 100) and _is_share(group, name))


def _is_share(group: Group, name: str) -> bool:
    values = [scored.metrics.get(name, {}).get("value") for _, scored in group.scored]
    known = [value for value in values if value is not None]
    return bool(known) and all(0 <= value <= 100 for value in known)


# ---------------------------------------------------------------- cost


def unit(runs: Sequence[RunShown]) -> str | None:
    """The first of `UNITS` that every run knows and that is not always zero."""
    for name in UNITS:
        costs = [cost(run, name) for run in runs]
        if None not in costs and any(costs):
            return name
    return None


def cost(run: RunShown, name: str) -> float | None:
    """None without answers, or if one cost is unknown."""
    costs = [_cost(answer.get("usage") or {}, name) for answer in run.answers]
    known = [value for value in costs if value is not None]
    return sum(known) / len(known) if known and len(known) == len(costs) else None


def _cost(usage: Mapping[str, Any], name: str) -> float | None:
    if name == "usd":
        price = usage.get("cost")
        return None if price is None else float(price["usd"])
    if name == "tokens":
        return float(sum(tokens["input"] + tokens["output"] for tokens in (usage.get("tokens") or {}).values()))
    if name == "calls":
        return float(sum((usage.get("calls") or {}).values()))
    return float(usage.get(name) or 0.0)


# ---------------------------------------------------------------- rounds


def by_round(run: RunShown) -> dict[str, tuple[Interval, ...]]:
    """The method's own scores after each round of refinement; empty without rounds.

    An answer that stopped early keeps its last scores, so all rounds cover the same questions.
    """
    courses = [(str(answer["id"]), course) for answer in run.answers if (course := _course(answer))]
    if not courses:
        return {}
    last = max(len(course) for _, course in courses)
    series = {}
    for name in dict.fromkeys(name for _, course in courses for scores in course for name in scores):
        columns = tuple(
            Column(str(n), tuple(course[min(n, len(course) - 1)].get(name) for _, course in courses), scale=1.0)
            for n in range(last)
        )
        intervals = interval(Table(tuple(id for id, _ in courses), columns), resamples=2_000)
        series[name] = tuple(intervals[str(n)] for n in range(last))
    return series


def _course(answer: Mapping[str, Any]) -> list[Mapping[str, float]]:
    return [
        entry["scores"]
        for entry in answer.get("rounds") or ()
        if entry["kind"] == "assess" and any(name.startswith(_ASSESSED) for name in entry["scores"] or ())
    ]
