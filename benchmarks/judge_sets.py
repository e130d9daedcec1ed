"""Claims with their evidence and people's verdicts (the `attr_*` sets), and how well scores agree with such verdicts.

Premises are never cut: every sentence of the evidence is read. Neighbouring evidence of one title is one passage
(WiCE and SciFact give single sentences); FActScore's evidence is the whole page. HaluEval's claims are answers, so
they are judged with their question; other claims stand alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from data import rows
from numpy.typing import NDArray

from toulmin.data import Passage
from toulmin.steps import Pair

SETS = (
    "attributionbench_dev begin_dev factscore fever_paperdev fever_symmetric_dev fm2_dev halueval_qa q2_wow"
    " scifact_train summedits_eval wice_dev"
).split()
JUDGED_WITH_QUESTION = {"halueval_qa"}
# What people and models wrote of their own accord counts more than claims made to deceive.
NATURAL = {"attributionbench_dev", "begin_dev", "factscore", "q2_wow", "scifact_train", "wice_dev"}

Vector = NDArray[np.float64]


class Case(NamedTuple):
    """A claim with its evidence and whether people found it supported."""

    pair: Pair
    supported: bool


def passages(evidence: Sequence[dict[str, Any]]) -> tuple[Passage, ...]:
    """Neighbouring evidence of one title is one passage."""
    grouped = groupby(evidence, key=lambda item: item["title"] or "")
    return tuple(Passage.of("\n\n".join(item["text"] for item in items), title) for title, items in grouped)


def cases(name: str, split: str) -> list[Case]:
    """The cases of one `attr_*` set with evidence."""
    pages = {row["topic"]: row["passages"] for row in rows("attr_factscore_pages")} if name == "factscore" else {}
    known = {topic: tuple(Passage.of(text, topic) for text in texts) for topic, texts in pages.items()}
    chosen = []
    for row in rows(f"attr_{name}"):
        premises = known.get(row.get("evidence_page") or "") or passages(row["evidence"])
        if row["split"] == split and premises:
            question = row["question"] if name in JUDGED_WITH_QUESTION else None
            chosen.append(Case(Pair(premises, row["claim"], question), row["supported"]))
    return chosen


def auc(scores: Vector, truth: NDArray[np.bool_]) -> float:
    """The chance that a supported claim scores above an unsupported one; ties count half."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive = int(truth.sum())
    return float((ranks[truth].sum() - positive * (positive + 1) / 2) / (positive * (len(truth) - positive)))


def balanced_accuracy(labels: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """The mean of the shares of supported and of unsupported claims told right."""
    return float((labels[truth].mean() + (~labels[~truth]).mean()) / 2)
