"""Objections: rules that lower a verdict, whatever its score, and say why in words.

Rules of this file
* An objection never raises a verdict. Of several the lowest label counts, the first of equals.
* Nothing is objected to a claim that the sources have word for word.
* Each look reads the claim beside its sources and says the most that the claim may still be called.
* `contradicted` needs words: the reason says what the source has instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from toulmin.data import Label
from toulmin.judges.absence import absence
from toulmin.judges.coverage import Reading, Source
from toulmin.judges.gate import Gate, is_verbatim
from toulmin.steps import Pair, Verdict


class Objection(NamedTuple):
    """The most that a claim may still be called, and why."""

    label: Label
    reason: str


class Case(NamedTuple):
    """A pair, as its texts were read, and what the gate says of it."""

    pair: Pair
    claim: Reading
    sources: tuple[Source, ...]
    gate: Gate


Look = Callable[[Case], Objection | None]

RANKS: tuple[Label, ...] = ("contradicted", "unsupported", "unsure", "supported")
# What is left of the score, so that claims keep their order: an objection does not say how likely they are.
_LEFT: dict[Label, float] = {"contradicted": 0.2, "unsupported": 0.3, "unsure": 0.6, "supported": 1.0}


def find_objection(case: Case, looks: Sequence[Look]) -> Objection | None:
    """The objection that lowers most; none to a claim that the sources have word for word."""
    if is_verbatim(case.claim, case.sources):
        return None
    objections = [objection for look in looks if (objection := look(case))]
    return min(objections, key=lambda objection: RANKS.index(objection.label), default=None)


def lower(verdict: Verdict, objection: Objection | None) -> Verdict:
    """The verdict under an objection; unchanged if it is low enough already and has a reason."""
    if objection is None or RANKS.index(verdict.label) <= RANKS.index(objection.label):
        return verdict
    support = verdict.support * _LEFT[objection.label]
    against = max(verdict.contradiction, 1 - support) if objection.label == "contradicted" else verdict.contradiction
    return replace(
        verdict,
        label=objection.label,
        support=support,
        contradiction=min(against, 1 - support),
        reason=objection.reason,
    )


# ---------------------------------------------------------------- looks


def absent_facts(case: Case) -> Objection | None:
    """A number, date, unit or name of the claim that no premise has, in any of its spellings."""
    absent = absence(case.claim, case.sources)
    if words := absent.sure or absent.doubtful:
        label: Label = "unsupported" if absent.sure else "unsure"
        return Objection(label, f"{' and '.join(dict.fromkeys(words))} {_be(words)} not in the sources")
    return None


def _be(words: Sequence[str]) -> str:
    return "is" if len(set(words)) == 1 else "are"


LOOKS: tuple[Look, ...] = (absent_facts,)
