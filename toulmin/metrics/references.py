"""Metrics of an answer's text: ROUGE-Lsum, MAUVE, words, and rates of answers.

ROUGE-Lsum is the mean of each answer's best F-measure. ALCE prints the median of unseeded bootstrap means, which
`bootstrap_median` repeats with a seed.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from toulmin.data import Status
from toulmin.datasets.item import Item
from toulmin.metrics.answered import Column, MetricTable, ScoringItem, columns
from toulmin.metrics.splitting import sentences, splitter_note
from toulmin.metrics.statements import Read, alce_text, prose_text
from toulmin.text import language
from toulmin.text.rouge import rouge_l_sum

ROUGE = "rougeLsum"
_RESAMPLES = 1000

Lines = Callable[[str], str]  # puts each sentence on its own line, as ROUGE-Lsum reads a text


def alce_rouge(answered: Sequence[ScoringItem]) -> MetricTable:
    """In lower case; empty outputs score 0. A note gives the median that ALCE prints."""
    measured = _rouge(answered, alce_text, lambda text: "\n".join(sentences(text.lower())))
    values = [value for value in measured.columns[0].values if value is not None]
    if not values:
        return measured
    median_note = (
        f"{ROUGE} is the plain mean; ALCE prints a bootstrap median, here {100 * bootstrap_median(values):.2f}."
    )
    notes = tuple(note for note in (median_note, splitter_note()) if note)
    return MetricTable(measured.columns, reasons=measured.reasons, notes=notes)


def honest_rouge(answered: Sequence[ScoringItem]) -> MetricTable:
    """Only over questions of prose styles; failed answers do not count, abstentions score 0."""
    return _rouge(answered, prose_text, _lines)


def references(item: Item) -> tuple[str, ...]:
    """At most two, as in ALCE; else what ALCE calls the answer."""
    if item.gold.references is not None:
        return item.gold.references[:2]
    return () if item.gold.answer is None else (item.gold.answer,)


def bootstrap_median(values: Sequence[float]) -> float:
    """Over 1000 resamples; `values` must not be empty."""
    drawn = np.random.default_rng(0).choice(np.asarray(values), (_RESAMPLES, len(values)))
    return float(np.median(drawn.mean(axis=1)))


def _rouge(answered: Sequence[ScoringItem], read: Read, lines: Lines) -> MetricTable:
    values: list[float | None] = []
    reasons: list[Mapping[str, Any]] = []
    for entry in answered:
        text, golds = read(entry), references(entry.item)
        scores = [] if text is None else [rouge_l_sum(lines(text), lines(gold)).fmeasure for gold in golds]
        values.append(max(scores, default=None))
        reasons.append({"nearest_reference": scores.index(max(scores))} if scores else {})
    return MetricTable((Column(ROUGE, tuple(values)),), reasons=tuple(reasons))


def _lines(text: str) -> str:
    spans = language.sentences(text)
    return "\n".join(" ".join(text[span.start : span.end].split()) for span in spans)


# ---------------------------------------------------------------- MAUVE of answers against human texts


MAUVE = "mauve"
_WORDS = 100
_NOTE = (
    "mauve is one number for all answers together, without an interval. It depends on how many answers there are:"
    " compare only runs over the same questions."
)

Mauve = Callable[[Sequence[str], Sequence[str]], float]  # of human texts and of a model's, 0 to 1


def mauve(answered: Sequence[ScoringItem], read: Read, score: Mauve) -> MetricTable:
    """One number over questions with a gold text and no failed answer, stored at the first of them."""
    texts = [read(entry) for entry in answered]
    counted = [i for i, entry in enumerate(answered) if texts[i] is not None and entry.item.gold.answer is not None]
    values: list[float | None] = [None] * len(answered)
    if counted:
        items = [answered[i].item for i in counted]
        human = [continuation(item.question, item.gold.answer or "") for item in items]
        ours = [continuation(item.question, texts[i] or "") for i, item in zip(counted, items, strict=True)]
        values[counted[0]] = score(human, ours)
    return MetricTable((Column(MAUVE, tuple(values)),), notes=(_NOTE,))


def continuation(question: str, text: str) -> str:
    """The first 100 words, without punctuation at the end."""
    return " ".join(f"{question} {text.strip()}".split()[:_WORDS]).rstrip(string.punctuation)


# ---------------------------------------------------------------- length and repetition


_WORD = re.compile(r"\b\w+\b")


def length(answered: Sequence[ScoringItem], read: Read) -> MetricTable:
    """In words between white space."""
    texts = [read(entry) for entry in answered]
    values = tuple(None if text is None else float(len(text.split())) for text in texts)
    return MetricTable((Column("length", values, scale=1.0),))


def distinct(answered: Sequence[ScoringItem], read: Read) -> MetricTable:
    """The share of a text's runs of 1, 2, 3 words, in lower case, that are distinct (Godbole et al. 2024)."""
    texts = [_WORD.findall((read(entry) or "").lower()) for entry in answered]
    rows = [[_share(words, n) for n in (1, 2, 3)] for words in texts]
    return MetricTable(columns(("distinct_1", "distinct_2", "distinct_3"), rows))


def _share(words: Sequence[str], n: int) -> float | None:
    runs = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
    return len(set(runs)) / len(runs) if runs else None


# ---------------------------------------------------------------- rates of answers and abstentions


STATUSES: tuple[Status, ...] = ("answered", "abstained", "failed")


def rates(answered: Sequence[ScoringItem]) -> MetricTable:
    """Shares of all questions, which add up to 100."""
    rows = [[float(entry.answer.status == each) for each in STATUSES] for entry in answered]
    return MetricTable(columns(STATUSES, rows))


def abstention(answered: Sequence[ScoringItem]) -> MetricTable:
    """By what the dataset calls answerable; failed answers do not count, and empty columns are left out."""
    names = ("unanswerable_abstained", "answerable_answered")
    rows = [
        (_status_value(entry, "abstained", answerable=False), _status_value(entry, "answered", answerable=True))
        for entry in answered
    ]
    return MetricTable(tuple(column for column in columns(names, rows) if column.n))


def _status_value(entry: ScoringItem, status: Status, *, answerable: bool) -> float | None:
    counts = not entry.is_failed and entry.item.gold.answerable is answerable
    return float(entry.answer.status == status) if counts else None
