"""What a report is made from"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toulmin.datasets.item import Item
from toulmin.evaluation.significance import Difference


@dataclass(frozen=True, slots=True)
class Scored:
    """The document of `score --json`, and each question's line of reasons.

    A metric may hold `scale`, which multiplies the reasons' values for display (default 1), and `of`, the parts of
    a derived metric. A question's lines are in the order of its answers.
    """

    document: Mapping[str, Any]
    reasons: Sequence[Mapping[str, Any]]

    @property
    def profile(self) -> str:
        return str(self.document["profile"])

    @property
    def judge(self) -> str | None:
        """None if no judge was asked."""
        judge = self.document.get("judge")
        return None if judge is None else str(judge)

    @property
    def metrics(self) -> Mapping[str, Mapping[str, Any]]:
        metrics: Mapping[str, Mapping[str, Any]] = self.document["metrics"]
        return metrics


@dataclass(frozen=True, slots=True)
class RunShown:
    """`answers` are Answer documents with their item's id, one for each seed. `about` (dataset, date, version,
    settings) is shown in order. `simulation` says what is simulated; None if nothing is.
    """

    name: str
    items: Sequence[Item]
    answers: Sequence[Mapping[str, Any]]
    scores: Sequence[Scored]
    about: Mapping[str, Any]
    simulation: str | None = None


@dataclass(frozen=True, slots=True)
class Beside:
    """How far `run` is above the first one, by metric."""

    run: str
    profile: str
    judge: str | None
    differences: Mapping[str, Difference]


@dataclass(frozen=True, slots=True)
class Plot:
    """`inline` is SVG in the page's ink, without styles that a strict policy refuses."""

    name: str
    title: str
    caption: str
    inline: str
