"""Short answers: SQuAD's metrics, ALCE's string recall and QA metrics, and DR.

String recall looks for aliases as substrings, both normalised: "5" is in "1954".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from toulmin.datasets.item import Aliases, Part
from toulmin.metrics.answered import AnsweredItem, Column, DerivedMetric, MetricTable
from toulmin.metrics.statements import Read, alce_text, honest_text
from toulmin.text.overlap import normalise
from toulmin.text.rouge import Overlap, sequence_overlap

# ---------------------------------------------------------------- short answers by SQuAD's rule


class Agreement(NamedTuple):
    alias: str
    is_exact: bool
    tokens: Overlap


def short(answered: Sequence[AnsweredItem], read: Read) -> MetricTable:
    """`em`, `token_precision`, `token_recall`, `token_f1` of answers in the style `short`.

    `em` is equality with any alias, both normalised; the others count words shared with the alias of highest F1.
    Questions without gold answers do not count; empty answers score 0.
    """
    agreements = [_agreement(entry, read) for entry in answered]
    columns = (
        Column("em", tuple(None if each is None else float(each.is_exact) for each in agreements)),
        Column("token_precision", tuple(None if each is None else each.tokens.precision for each in agreements)),
        Column("token_recall", tuple(None if each is None else each.tokens.recall for each in agreements)),
        Column("token_f1", tuple(None if each is None else each.tokens.fmeasure for each in agreements)),
    )
    return MetricTable(columns, reasons=tuple(_nearest_reason(each) for each in agreements))


def wants_words(entry: AnsweredItem) -> bool:
    return entry.answer.style == "short" and bool(_aliases(entry))


def word_overlap(answer: str, alias: str) -> Overlap:
    """Words shared by two normalised texts, with repetitions; 1 if both are empty."""
    ours, theirs = answer.split(), alias.split()
    return sequence_overlap(ours, theirs, 1) if ours or theirs else Overlap(1.0, 1.0)


def agreement(answer: str, aliases: Sequence[str]) -> Agreement:
    """With the nearest alias, the first of equals; there must be one."""
    ours = normalise(answer)
    beside = [(alias, word_overlap(ours, normalise(alias))) for alias in aliases]
    alias, tokens = max(beside, key=lambda pair: pair[1].fmeasure)
    return Agreement(alias, any(ours == normalise(alias) for alias in aliases), tokens)


def _aliases(entry: AnsweredItem) -> tuple[str, ...]:
    return tuple(alias for aliases in entry.item.gold.answers or () for alias in aliases)


def _agreement(entry: AnsweredItem, read: Read) -> Agreement | None:
    text = read(entry) if wants_words(entry) else None
    return None if text is None else agreement(text, _aliases(entry))


def _nearest_reason(match: Agreement | None) -> Mapping[str, Any]:
    return {} if match is None else {"nearest_answer": {"text": match.alias, "exact": match.is_exact}}


# ---------------------------------------------------------------- aLCE's recall of short answers


RECALL = ("str_em", "str_hit")
NO_PARTS = "str_em and str_hit are 0 because the first question has no `qa_pairs`, as in ALCE."


def alce_recall(answered: Sequence[AnsweredItem]) -> MetricTable:
    """Over ASQA's sub-questions; 0 if the first question has none.

    A later one without any, at which ALCE stops, does not count.
    """
    if answered and answered[0].item.gold.parts is None:
        zeros = (0.0,) * len(answered)
        return MetricTable(tuple(Column(name, zeros) for name in RECALL), notes=(NO_PARTS,))
    return _measure_recall([_alce_slots(entry) for entry in answered])


def honest_recall(answered: Sequence[AnsweredItem]) -> MetricTable:
    """Over sub-questions or, without any, answer slots.

    Questions without gold answers, those that want a list, and failed answers do not count. An alias that
    normalises to nothing ("The The"), which always matches in ALCE, is searched as written.
    """
    return _measure_recall([_honest_slots(entry) for entry in answered])


def without_blanks(slots: Iterable[Aliases]) -> tuple[Aliases, ...]:
    """Leaves out blank aliases, and slots without others (QAMPARI has five)."""
    cleaned = (tuple(alias for alias in aliases if alias.strip()) for aliases in slots)
    return tuple(aliases for aliases in cleaned if aliases)


class _Slot(NamedTuple):
    aliases: Aliases
    found: bool


def _alce_slots(entry: AnsweredItem) -> list[_Slot]:
    plain = normalise(alce_text(entry))
    slots = [part.answers for part in entry.item.gold.parts or ()]
    return [_Slot(aliases, any(normalise(alias) in plain for alias in aliases)) for aliases in slots]


def _honest_slots(entry: AnsweredItem) -> list[_Slot]:
    text = honest_text(entry)
    if text is None or entry.item.style == "list":
        return []
    gold = entry.item.gold
    slots = (gold.answers or ()) if gold.parts is None else tuple(part.answers for part in gold.parts)
    plain, written = normalise(text), text.casefold()
    return [
        _Slot(aliases, any(_tells(plain, written, alias) for alias in aliases)) for aliases in without_blanks(slots)
    ]


def _tells(plain: str, written: str, alias: str) -> bool:
    looked_for = normalise(alias)
    return looked_for in plain if looked_for else alias.strip().casefold() in written


def _measure_recall(rows: Sequence[Sequence[_Slot]]) -> MetricTable:
    shares = [float(np.mean([each.found for each in row])) if row else None for row in rows]
    hits = tuple(None if share is None else float(share == 1) for share in shares)
    return MetricTable(
        (Column("str_em", tuple(shares)), Column("str_hit", hits)), reasons=tuple(map(_slots_reason, rows))
    )


def _slots_reason(slots: Sequence[_Slot]) -> Mapping[str, Any]:
    if not slots:
        return {}
    return {"gold": [{"text": each.aliases[0] if each.aliases else "", "found": each.found} for each in slots]}


# ---------------------------------------------------------------- short answers


NAMES = ("QA-EM", "QA-F1", "QA-Hit")
# VTG's Table 2 takes the arithmetic mean of Disambig-F1 and ROUGE-L, the ASQA paper the geometric one.
DERIVED = (
    DerivedMetric("dr_mean", ("QA-F1", "rougeLsum"), lambda of: sum(of) / len(of)),
    DerivedMetric("dr", ("QA-F1", "rougeLsum"), lambda of: sqrt(of[0] * of[1])),
)


class Reader(Protocol):
    """An extractive QA model."""

    @property
    def name(self) -> str:
        """Its name in tables."""
        ...

    def answers(self, asked: Sequence[tuple[str, str]]) -> Sequence[str]:
        """For each (question, text) the words that answer it, or an empty string."""
        ...


class _Reply(NamedTuple):
    question: str
    text: str
    found: Agreement

    @classmethod
    def of(cls, part: Part, text: str) -> _Reply:
        return cls(part.question, text, agreement(text, part.answers))


def qa(answered: Sequence[AnsweredItem], read: Read, reader: Reader) -> MetricTable:
    """A reader answers each sub-question from the answer's text: `QA-EM`, `QA-F1`, `QA-Hit`.

    Exact match and word F1 with the best alias, both normalised, are averaged over sub-questions; a hit has all
    exact. Empty texts are read as one space, as in ALCE. Items without answered sub-questions do not count.
    """
    texts = [read(entry) for entry in answered]
    parts = [() if text is None else _parts(entry) for entry, text in zip(answered, texts, strict=True)]
    asked = [(part.question, text or " ") for questions, text in zip(parts, texts, strict=True) for part in questions]
    replies = iter(reader.answers(asked))
    rows = [[_Reply.of(part, next(replies)) for part in questions] for questions in parts]
    columns = (
        Column("QA-EM", tuple(_mean([reply.found.is_exact for reply in row]) for row in rows)),
        Column("QA-F1", tuple(_mean([reply.found.tokens.fmeasure for reply in row]) for row in rows)),
        Column("QA-Hit", tuple(float(all(reply.found.is_exact for reply in row)) if row else None for row in rows)),
    )
    return MetricTable(columns, reasons=tuple(map(_replies_reason, rows)), notes=(f"QA metrics by {reader.name}.",))


def disambiguation(answered: Sequence[AnsweredItem]) -> MetricTable:
    """`dr_mean` and `dr`, from QA-F1 and rougeLsum."""
    return MetricTable((), DERIVED)


def _parts(entry: AnsweredItem) -> tuple[Part, ...]:
    return tuple(part for part in entry.item.gold.parts or () if part.answers)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _replies_reason(row: Sequence[_Reply]) -> Mapping[str, Any]:
    if not row:
        return {}
    return {"asked": [{"text": each.question, "reply": each.text, "exact": each.found.is_exact} for each in row]}
