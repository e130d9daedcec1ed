"""Targets and the measure of correctness"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean
from typing import Literal

from toulmin.data import Style
from toulmin.errors import UsageError, unknown_name
from toulmin.methods.assessing import (
    ADDRESSED,
    ANSWER_PRECISION,
    ANSWER_RECALL,
    CITATION_PRECISION,
    CITATION_RECALL,
    CORRECTNESS,
    ENTAILED,
    Assessed,
    Assessment,
    ListCorrectness,
    Oracle,
    citation_scores,
    reference_free,
)

Mode = Literal["oracle", "reference-free"]

# The paper gives no targets; these are ours.
TARGETS: Mapping[str, float] = {
    CORRECTNESS: 60.0,
    ANSWER_RECALL: 60.0,
    ANSWER_PRECISION: 60.0,
    CITATION_RECALL: 80.0,
    CITATION_PRECISION: 80.0,
}
_OF_A_LIST = (ANSWER_RECALL, ANSWER_PRECISION)


@dataclass(frozen=True, slots=True)
class Aims:
    """Targets by metric, 0 to 100, in reporting order; without an oracle no gold answer is known."""

    targets: Mapping[str, float]
    oracle: Oracle | None = None

    @property
    def mode(self) -> Mode:
        return "oracle" if self.oracle else "reference-free"

    def assessment(self, claims: tuple[Assessed, ...], questions: Sequence[str]) -> Assessment:
        """All scores are 0 without claims."""
        free = reference_free(claims, questions)
        scores = (self._gold(claims) if self.oracle and claims else _combine_parts(free)) | citation_scores(claims)
        shown = CORRECTNESS in self.targets and self.oracle is None
        return Assessment(claims, {name: scores[name] for name in self.targets}, free if shown else {})

    def _gold(self, claims: Sequence[Assessed]) -> dict[str, float]:
        """Raises `UsageError` for a result of the wrong type or range."""
        if self.oracle is None or not {CORRECTNESS, *_OF_A_LIST} & self.targets.keys():
            return {}
        result = self.oracle(tuple(assessed.claim for assessed in claims))
        if isinstance(result, ListCorrectness) == (CORRECTNESS in self.targets):
            wanted = "a number" if CORRECTNESS in self.targets else "a ListCorrectness"
            raise UsageError(f"correctness: the scoring function should give {wanted} for this style, not {result!r}.")
        if isinstance(result, ListCorrectness):
            scores = {ANSWER_RECALL: result.recall, ANSWER_PRECISION: result.precision}
            return {name: _in_bounds(f"correctness: the {name}", score) for name, score in scores.items()}
        return {CORRECTNESS: _in_bounds("correctness: the score", result)}

    def mean(self, scores: Mapping[str, float]) -> float:
        return fmean(scores[name] for name in self.targets)

    def are_reached(self, scores: Mapping[str, float]) -> bool:
        """Whether the mean score reaches the mean target (the paper, footnote 5)."""
        return self.mean(scores) >= fmean(self.targets.values())

    def round_scores(self, assessment: Assessment) -> dict[str, float]:
        """The scores for a round, with the mode of answering scores and their parts."""
        answering = (CORRECTNESS, *_OF_A_LIST)
        named = {f"{n} ({self.mode})" if n in answering else n: score for n, score in assessment.scores.items()}
        return named | dict(assessment.parts)


def _combine_parts(parts: Mapping[str, float]) -> dict[str, float]:
    entailed, covered = parts[ENTAILED], parts[ADDRESSED]
    return {CORRECTNESS: entailed * covered / 100, ANSWER_RECALL: covered, ANSWER_PRECISION: entailed}


def _in_bounds(what: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (isfinite(value) and 0 <= value <= 100):
        raise UsageError(f"{what} should lie from 0 to 100, not at {value!r}.")
    return float(value)


def aims(
    style: Style, metrics: Sequence[str] | None, targets: Mapping[str, float] | None, oracle: Oracle | None
) -> Aims:
    """The style's metrics, or only those in `metrics`, with `targets` (0 to 100) in place of ours.

    For a list "correctness" means both of its scores; `_` counts as a space. Raises `UsageError` for an unknown
    name, a target out of range, and an empty choice.
    """
    known = (*(_OF_A_LIST if style == "list" else (CORRECTNESS,)), CITATION_RECALL, CITATION_PRECISION)
    asked = {name: value for alias, value in (targets or {}).items() for name in _metrics_of(alias, known)}
    for name, value in asked.items():
        asked[name] = _in_bounds(f"targets: the {name}", value)
    chosen = (
        known if metrics is None else {name for alias in _as_sequence(metrics) for name in _metrics_of(alias, known)}
    )
    if not chosen:
        raise UsageError(f"metrics: expected one or more of {', '.join(known)}; leave it out for all of them.")
    return Aims({name: asked.get(name, TARGETS[name]) for name in known if name in chosen}, oracle)


def _as_sequence(metrics: Sequence[str]) -> Sequence[str]:
    return (metrics,) if isinstance(metrics, str) else metrics


def _metrics_of(alias: str, known: Sequence[str]) -> tuple[str, ...]:
    name = " ".join(str(alias).replace("_", " ").lower().split())
    if name == CORRECTNESS and name not in known:
        return _OF_A_LIST
    if name not in known:
        raise unknown_name("metric of this style", str(alias), known)
    return (name,)
