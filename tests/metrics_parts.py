"""Answers to be scored, made from a few words; and the answers of ALCE's own runs, with what it said of them."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from toulmin.data import Answer, Claim, Status, Style
from toulmin.datasets.item import Gold, Item, Part
from toulmin.metrics.answered import MetricTable, ScoringItem, answer_to_score
from toulmin.metrics.choosing import Models, measures
from toulmin.metrics.statements import output_to_score

DATA = Path(os.environ.get("TOULMIN_DATA", "../shared/data"))
NO_GOLD = Gold()
ASQA = Gold(parts=(Part("Who built it?", ("Hannah Pell", "Pell")), Part("When was it lit?", ("1824",))))


def output(text: str, gold: Gold = NO_GOLD, style: Style | None = None, question: str = "Which?") -> ScoringItem:
    """An answer that stands as a text, as in a result file."""
    return output_to_score(Item(question, question, gold, style=style), text, ())


def said(*claims: str, gold: Gold = NO_GOLD, style: Style = "long", question: str = "Which?") -> ScoringItem:
    """An answer of these claims; of none it is an abstention."""
    status: Status = "answered" if claims else "abstained"
    made = Answer(question, style, "direct", status, tuple(Claim(claim) for claim in claims))
    return answer_to_score(Item(question, question, gold, style=style), made)


def failed(gold: Gold = NO_GOLD, style: Style = "long") -> ScoringItem:
    """An answer that was never given."""
    made = Answer("Which?", style, "direct", "failed", notes=("The model could not be reached.",))
    return answer_to_score(Item("Which?", "Which?", gold, style=style), made)


def entities(*slots: Sequence[str]) -> Gold:
    """Gold entities, each by its aliases."""
    return Gold(answers=tuple(tuple(aliases) for aliases in slots))


def columns(found: Sequence[MetricTable]) -> dict[str, float | None]:
    """The metrics by name, as a table shows them."""
    return {column.name: column.value for measured in found for column in measured.columns}


def notes(found: Sequence[MetricTable]) -> str:
    """All notes in one text."""
    return "\n".join(note for measured in found for note in measured.notes)


def alce(*given: ScoringItem, path: str = "asqa.json", models: Models | None = None) -> dict[str, float | None]:
    """The metrics of the `alce` profile."""
    return columns(measures("alce", path, given, models))


def honest(*given: ScoringItem, models: Models | None = None) -> dict[str, float | None]:
    """The metrics of the `honest` profile."""
    return columns(measures("honest", "any.json", given, models))


def rows(name: str) -> Iterator[dict[str, Any]]:
    """The records of a file of the evaluation data."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def golden(row: dict[str, Any]) -> ScoringItem:
    """An answer of `alce_golden`."""
    pairs, annotations, claims = row.get("qa_pairs"), row.get("annotations"), row.get("claims")
    gold = Gold(
        parts=None if pairs is None else tuple(Part(p["question"], tuple(p["short_answers"])) for p in pairs),
        references=None if annotations is None else tuple(a["long_answer"] for a in annotations),
        answer=row.get("answer"),
        claims=None if claims is None else tuple(claims),
    )
    return output_to_score(Item(row["id"], row["question"], gold), row["output"], ())
