"""A line of the methods table: a method under one writer, over all questions and seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from intervals import Interval
from simulation import Row, Run, by_question

VANILLA = "vanilla"
FAULTY_RATE = 0.3  # where the wanted gains and the controls are measured

MEASURES: Mapping[str, Any] = {
    "recall": lambda s: s.recall,
    "precision": lambda s: s.precision,
    "F1": lambda s: s.f1,
    "correct": lambda s: s.correctness,
    "claims": lambda s: s.claims,
    "abstained": lambda s: s.abstained,
    "main": lambda s: s.calls.get("main", 0),
    "verifier": lambda s: s.calls.get("verifier", 0),
    "tokens": lambda s: s.tokens,
    "pairs": lambda s: s.pairs,
}

SHARES = ("recall", "precision", "F1", "correct")


@dataclass(frozen=True)
class Line:
    """A method under one writer: all its runs, one a seed."""

    part: str
    row: Row
    runs: tuple[Run, ...]

    def of(self, measure: str) -> list[float]:
        """One value a question."""
        return by_question(self.runs, MEASURES[measure])


Found = Mapping[str, Mapping[str, Line]]  # by part and name


def part_of(rate: float) -> str:
    """What the part under faults at that rate is called."""
    return f"faults at {rate:.0%}"


def base_of(table: Found, part: str) -> Line:
    """What a part is compared with: its own vanilla, or that under the same faults."""
    return table[part].get(VANILLA) or table[part_of(FAULTY_RATE)][VANILLA]


def between(interval: Interval, sign: str = "") -> str:
    """An interval in percent."""
    return f"{100 * interval.low:{sign}.1f}..{100 * interval.high:{sign}.1f}"
