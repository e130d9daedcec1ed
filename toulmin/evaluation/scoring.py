"""All metrics of a run"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from toulmin.data import Passage
from toulmin.evaluation.scorable import Scorable
from toulmin.evaluation.scores import Scores, merge_measures
from toulmin.metrics.alce_statements import Alce
from toulmin.metrics.autoais import citation_metrics
from toulmin.metrics.choosing import QAMPARI, Models, measures
from toulmin.metrics.columns import Measured
from toulmin.metrics.evidence_sets import attribution_metrics, evidence_overlap
from toulmin.metrics.judging import Judging
from toulmin.metrics.splitting import sentences
from toulmin.metrics.statements import Honest
from toulmin.metrics.statements import Profile as Statements

Profile = Literal["honest", "alce"]


@dataclass(frozen=True, slots=True)
class EvidenceRun:
    name: str
    read: Mapping[str, Sequence[Passage]]


async def score_answers(
    answer_set: Scorable,
    profile: Profile,
    judging: Judging | None,
    models: Models | None = None,
    evidence: EvidenceRun | None = None,
) -> Scores:
    """Every metric that applies to these answers.

    Without a judge, citation metrics are left out with a note. QA metrics and MAUVE need `models`. Reports, and
    answers with `evidence`, are also measured by their evidence.
    """
    answered = answer_set.answered
    parts = measures(profile, answer_set.source, answered, models)
    if judging is None:
        parts.append(Measured((), notes=("Citation metrics are left out: no judge was named.",)))
    else:
        parts.append(await citation_metrics(answered, _reader(profile, answer_set.source), judging))
        if evidence is not None or any(a.answer.style == "report" for a in answered):
            read = None if evidence is None else evidence.read
            parts += [await attribution_metrics(answered, judging, read), evidence_overlap(answered, read)]
    measured = merge_measures(parts, len(answered))
    name = None if judging is None else judging.name
    other = None if evidence is None else evidence.name
    identity = None if judging is None else judging.identity
    return Scores(
        profile, name, answer_set.ids, replace(measured, notes=(*answer_set.notes, *measured.notes)), other, identity
    )


def _reader(profile: Profile, source: str) -> Statements:
    """ALCE knows a list by its path."""
    return Alce(sentences, is_list=QAMPARI in source) if profile == "alce" else Honest()
