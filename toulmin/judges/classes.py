"""Classes of a classifier by name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from toulmin.errors import ModelError, unknown_name

_ENTAILED = frozenset(
    "entailment entail entails entailed supported supports support attributable consistent factual faithful grounded"
    " yes true 1".split()
)
_CONTRADICTED = frozenset("contradiction contradict contradicts contradicted contradictory refuted refutes".split())
_UNNAMED = re.compile(r"label\d+")


class Classes(NamedTuple):
    """Indexes of a classifier's logits.

    `entailed` is None for one logit, whose sigmoid is the probability; `contradicted` is None if no class means it.
    """

    entailed: int | None
    contradicted: int | None


def classes_of(
    names: Mapping[int, str], who: str, entailment: str | None = None, contradiction: str | None = None
) -> Classes:
    """Finds the classes among a classifier's names (by index), or those that the caller gives.

    One logit means entailment, and of two unnamed classes the second, as in MiniCheck. Raises `UsageError` for an
    unknown name, `ModelError` with `who` if no class means entailment.
    """
    labels = [names[place] for place in sorted(names)]
    contradicted = _place_of(labels, contradiction) if contradiction else _meaning(labels, _CONTRADICTED)
    if entailment:
        return Classes(_place_of(labels, entailment), contradicted)
    if len(labels) == 1:
        return Classes(None, None)
    entailed = _meaning(labels, _ENTAILED)
    if entailed is None and len(labels) == 2 and all(_UNNAMED.fullmatch(_plain(label)) for label in labels):
        entailed = 1
    if entailed is None:
        raise ModelError(
            f"{who} has the classes {', '.join(labels)}, and none of them is known to mean that the claim is entailed;"
            " name it (entailment)."
        )
    return Classes(entailed, contradicted)


def _place_of(labels: Sequence[str], name: str) -> int:
    for place, label in enumerate(labels):
        if _plain(label) == _plain(name):
            return place
    raise unknown_name("class of the judge", name, labels)


def _meaning(labels: Sequence[str], words: frozenset[str]) -> int | None:
    places = [place for place, label in enumerate(labels) if _plain(label) in words]
    return places[0] if len(places) == 1 else None


def _plain(label: str) -> str:
    return re.sub(r"[\W_]", "", str(label)).lower()
