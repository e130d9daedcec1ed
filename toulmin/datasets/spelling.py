"""Misspelt field names."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

# The fields of a user's own file; only these are suggested.
OWN = (
    "id",
    "question",
    "docs",
    "answers",
    "answer",
    "qa_pairs",
    "claims",
    "references",
    "gold_passages",
    "answerable",
    "withheld",
    "style",
    "kind",
    "split",
)
# Fields of other forms, which are never taken for misspelt.
_OTHERS = frozenset(
    "_id annotations answer_aliases answerability chunked_passage cited_answer context contexts decision example_id"
    " gold is_impossible long_answer long_answers output paragraphs passage passages plausible_answers question_ctx"
    " question_text reference relevant sample_id short_answers supporting_facts target targetValue text title turns"
    " type url utterance wikipages".split()
)
_NEAR = 0.8


def misspelling(fields: Mapping[str, Any]) -> tuple[str, str] | None:
    """A field nearly named like one that the record lacks, and that name."""
    for name in fields:
        wanted = _nearest(name)
        if wanted is not None and wanted not in fields and not _has_kin(wanted, fields):
            return name, wanted
    return None


def _has_kin(wanted: str, fields: Mapping[str, Any]) -> bool:
    """`answered` beside `answers` is no slip for `answer`."""
    return wanted in ("answer", "answers") and ("answer" in fields or "answers" in fields)


@lru_cache(maxsize=10_000)
def _nearest(name: str) -> str | None:
    if name in OWN or name in _OTHERS:
        return None
    # Two letters resemble too much, and the first letter is seldom wrong: `preference` is not meant as `references`.
    candidates = [
        field
        for field in OWN
        if len(field) > 2 and field[0] == name[:1].lower() and field.count("_") == name.count("_")
    ]
    near = max(candidates, key=lambda field: _likeness(name, field), default=None)
    return near if near is not None and _likeness(name, near) >= _NEAR else None


def _likeness(name: str, field: str) -> float:
    return SequenceMatcher(None, name.lower(), field, autojunk=False).ratio()
