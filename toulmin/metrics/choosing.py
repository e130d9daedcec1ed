"""Chooses a run's metrics, except those of citations.

A metric without its gold or model is left out with a note; ALCE's `str_em` and `str_hit` are 0 instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from toulmin.metrics import short_answers
from toulmin.metrics.answered import MetricTable, ScoringItem
from toulmin.metrics.references import Mauve, abstention, alce_rouge, distinct, honest_rouge, length, mauve, rates
from toulmin.metrics.short_answers import RECALL, alce_list, alce_recall, honest_list, honest_recall, short
from toulmin.metrics.statements import Read, alce_final, alce_text, honest_text, prose_text

QAMPARI = "qampari"  # ALCE recognises the dataset by this word anywhere in the path
NO_READER = (
    f"{', '.join(short_answers.NAMES)} are left out: install `toulmin[judges]` and name the folder of an extractive QA"
    " model with --qa-model (ALCE's is gaotianyu1350/roberta-large-squad)."
)
NO_MAUVE = (
    "mauve is left out: install `toulmin[mauve]` and name the folder of a GPT-2 with --mauve-model (ALCE's is"
    " gpt2-large)."
)


@dataclass(frozen=True, slots=True)
class Models:
    """For the QA metrics and MAUVE: `span_reader.SpanReader`, `mauve_score.Featurizer`."""

    qa: short_answers.Reader | None = None
    mauve: Mauve | None = None


def measures(
    profile: str, path: str, answered: Sequence[ScoringItem], models: Models | None = None, *, reasoned: bool = False
) -> list[MetricTable]:
    """The metrics of answers to the dataset, or in the result file, at that path.

    In `alce`, `qampari` in the path selects QAMPARI's metrics, and with `reasoned` (`--cot`) lists follow a colon.
    Any other profile is `honest`.
    """
    models = models or Models()
    if profile == "alce":
        return _alce(QAMPARI in path, answered, models, reasoned)
    parts = [
        rates(answered),
        abstention(answered),
        length(answered, honest_text),
        distinct(answered, honest_text),
        honest_recall(answered),
        honest_list(answered),
        short(answered, honest_text),
        honest_rouge(answered),
        *_by_models(answered, prose_text, models),
    ]
    return _with_gold(parts)


def _alce(is_qampari: bool, answered: Sequence[ScoringItem], models: Models, reasoned: bool) -> list[MetricTable]:
    golds = [entry.item.gold for entry in answered]
    has_recall = any(is_qampari or gold.parts is not None or gold.claims is not None for gold in golds)
    parts = [length(answered, alce_text), alce_recall(answered) if has_recall else _omission(RECALL)]
    if is_qampari:
        parts.append(alce_list(answered, reasoned))
    else:
        parts += [short(answered, alce_final), alce_rouge(answered), *_by_models(answered, alce_text, models)]
    return _with_gold([*parts, MetricTable((), notes=tuple(_alce_notes(is_qampari, answered)))])


def _alce_notes(is_qampari: bool, answered: Sequence[ScoringItem]) -> Iterable[str]:
    failed = sum(entry.is_failed for entry in answered)
    if failed:
        yield f"Failed answers count as empty outputs, as in ALCE: {failed} of {len(answered)}."
    if not is_qampari and any(entry.item.style == "list" for entry in answered):
        yield f"ALCE scores lists as lists only if the path contains `{QAMPARI}`; these were scored as text."


def _by_models(answered: Sequence[ScoringItem], read: Read, models: Models) -> Iterable[MetricTable]:
    if any(entry.item.gold.parts for entry in answered):
        yield short_answers.qa(answered, read, models.qa) if models.qa else MetricTable((), notes=(NO_READER,))
    if any(entry.item.gold.answer is not None and read(entry) is not None for entry in answered):
        yield mauve(answered, read, models.mauve) if models.mauve else MetricTable((), notes=(NO_MAUVE,))


def _with_gold(parts: Sequence[MetricTable]) -> list[MetricTable]:
    empty = [column.name for measured in parts for column in measured.columns if not column.n]
    known = {column.name for measured in parts for column in measured.columns} - set(empty)
    kept = [
        replace(
            measured,
            columns=tuple(column for column in measured.columns if column.n),
            derived=tuple(derived for derived in measured.derived if known.issuperset(derived.of)),
        )
        for measured in parts
    ]
    return [*kept, _omission(empty)] if empty else kept


def _omission(names: Sequence[str]) -> MetricTable:
    return MetricTable((), notes=(f"Left out, because no question has the gold that they need: {', '.join(names)}.",))
