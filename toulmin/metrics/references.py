"""Metrics of an answer's text: ROUGE-Lsum, MAUVE, words, and rates of answers.

ROUGE-Lsum is the mean of the best F-measures over references. ALCE prints the median of unseeded bootstrap means;
`bootstrap_median` is seeded, for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from toulmin.datasets.item import Item
from toulmin.metrics.answered import Answered
from toulmin.metrics.cleaning import Read, alce_text, prose_text
from toulmin.metrics.columns import Column, Measured
from toulmin.metrics.splitting import sentences, splitter_note
from toulmin.text import language
from toulmin.text.rouge import rouge_l_sum

ROUGE = "rougeLsum"
_RESAMPLES = 1000
_SEED = 0

Lines = Callable[[str], str]
"""A text with one sentence a line, as ROUGE-Lsum reads it."""


def alce_rouge(answered: Sequence[Answered]) -> Measured:
    """In lower case, then cut into sentences; empty outputs score 0. A note gives the median that ALCE prints."""
    measured = _rouge(answered, alce_text, _lower_lines)
    values = [value for value in measured.columns[0].values if value is not None]
    if not values:
        return measured
    median_note = (
        f"{ROUGE} is the plain mean; ALCE prints a bootstrap median, here {100 * bootstrap_median(values):.2f}."
    )
    notes = tuple(note for note in (median_note, splitter_note()) if note)
    return Measured(measured.columns, reasons=measured.reasons, notes=notes)


def honest_rouge(answered: Sequence[Answered]) -> Measured:
    """Only over questions that want prose; failed answers do not count, abstentions score 0."""
    return _rouge(answered, prose_text, _lines)


def references(item: Item) -> tuple[str, ...]:
    """The first two reference answers, else what ALCE calls the answer."""
    if item.gold.references is not None:
        return item.gold.references[:2]
    return () if item.gold.answer is None else (item.gold.answer,)


def bootstrap_median(values: Sequence[float], seed: int = _SEED) -> float:
    """The median of 1000 resamples' means; `values` must not be empty."""
    drawn = np.random.default_rng(seed).choice(np.asarray(values), (_RESAMPLES, len(values)))
    return float(np.median(drawn.mean(axis=1)))


def _rouge(answered: Sequence[Answered], read: Read, lines: Lines) -> Measured:
    values: list[float | None] = []
    reasons: list[Mapping[str, Any]] = []
    for entry in answered:
        text, golds = read(entry), references(entry.item)
        scores = [] if text is None else [rouge_l_sum(lines(text), lines(gold)).fmeasure for gold in golds]
        values.append(max(scores, default=None))
        reasons.append({"nearest_reference": scores.index(max(scores))} if scores else {})
    return Measured((Column(ROUGE, tuple(values)),), reasons=tuple(reasons))


def _lower_lines(text: str) -> str:
    return "\n".join(sentences(text.lower()))


def _lines(text: str) -> str:
    spans = language.sentences(text)
    return "\n".join(" ".join(text[span.start : span.end].split()) for span in spans)
