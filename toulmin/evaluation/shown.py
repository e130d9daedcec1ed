"""What a report is made from: runs with their answers, how each was scored, and how they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toulmin.datasets.item import Item
from toulmin.evaluation.significance import Difference


@dataclass(frozen=True, slots=True)
class Scored:
    """One score of a run: a document as `score --json` prints it, and the line of reasons of each question.

    The document's `metrics` may hold, beside value, low, high and n, the `scale` by which a question's value in the
    reasons is multiplied to be shown (1 where it is not told), and `of`, the metrics that a derived one is made of.
    Lines of a question that was answered with several seeds stand in the order of its answers.
    """

    document: Mapping[str, Any]
    reasons: Sequence[Mapping[str, Any]]

    @property
    def profile(self) -> str:
        """The profile by which the run was scored."""
        return str(self.document["profile"])

    @property
    def judge(self) -> str | None:
        """The judge that gave the verdicts; None where none was asked."""
        judge = self.document.get("judge")
        return None if judge is None else str(judge)

    @property
    def metrics(self) -> Mapping[str, Mapping[str, Any]]:
        """The metrics by name."""
        metrics: Mapping[str, Mapping[str, Any]] = self.document["metrics"]
        return metrics


@dataclass(frozen=True, slots=True)
class RunShown:
    """A run as a report shows it.

    `answers` are Answer documents whose `id` is that of their item; a question answered with several seeds has several.
    `about` is what the run was made from (dataset, date, version, settings), told in its order. `simulation` says in
    a sentence what in the run is simulated; None where nothing is.
    """

    name: str
    items: Sequence[Item]
    answers: Sequence[Mapping[str, Any]]
    scores: Sequence[Scored]
    about: Mapping[str, Any]
    simulation: str | None = None


@dataclass(frozen=True, slots=True)
class Beside:
    """How far the run `run` is above the first one, by metric, under one profile and judge."""

    run: str
    profile: str
    judge: str | None
    differences: Mapping[str, Difference]


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot as it stands in a page: its name, a title and a caption in words, and the drawing as SVG.

    The drawing takes the ink of the page around it, light or dark, and has no style that a strict page would refuse.
    """

    name: str
    title: str
    caption: str
    inline: str
