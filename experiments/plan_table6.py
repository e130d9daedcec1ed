"""The plan paper's Table 6: score texts of one run against the evidence of another."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from bench import Bench, figures
from frame import Answers, Ours

from toulmin.build.parts import judge
from toulmin.config import resolve_settings, settings_of
from toulmin.evaluation.run_folder import read_run, run_folders
from toulmin.evaluation.scores import Scores, document, join_seeds, merge_measures
from toulmin.metrics.answered import MetricTable, answer_to_score
from toulmin.metrics.evidence_sets import attribution_metrics, evidence_of, evidence_overlap
from toulmin.metrics.judging import Judging


def scores_against(bench: Bench, texts: Answers, evidence: Answers) -> Ours:
    """The texts of one run held against what another run read for the same topic, seed by seed."""
    folder, other = bench.run_of(texts), bench.run_of(evidence)
    judging = Judging(judge(bench.choices.judge, resolve_settings(None, settings_of(bench.choices.settings))))
    pairs = list(zip(run_folders(folder), run_folders(other), strict=True))
    scores = document(join_seeds(asyncio.run(_scores(pairs, judging))))
    return Ours(figures(scores), tuple(scores["notes"]), str(folder), judging.name)


async def _scores(pairs: Sequence[tuple[Path, Path]], judging: Judging) -> list[Scores]:
    scores = []
    for texts, evidence in pairs:
        recorded, read = read_run(texts), read_run(evidence)
        items = {item.id: item for item in recorded.items}
        answers = [answer_to_score(items[answer.id], answer) for answer in recorded.answers]
        passages = {answer.id: evidence_of(answer) for answer in read.answers}
        parts: list[MetricTable] = [
            await attribution_metrics(answers, judging, passages),
            evidence_overlap(answers, passages),
        ]
        ids = tuple(answer.id for answer in recorded.answers)
        scores.append(Scores("honest", judging.name, ids, merge_measures(parts, len(answers))))
    return scores
