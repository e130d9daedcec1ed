"""Plan-based retrieval, Table 6: One-Retrieval's texts held against the planned system's evidence.

The paper's setting: the 52 News Events topics with text-unicorn-001; "normal" evidence is what One-Retrieval read,
"expanded" what the plan (variant B) gathered, which is also what variant B's own texts are held against. Means of three
runs, as in Table 2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench import Bench, figures, main
from frame import Answers, Experiment, Ours, Panel, Printed, Row
from plan_paper import AIS, OURS, ROUGE, SETTING, SOURCES, UNICORN, work

from toulmin.build.parts import judge
from toulmin.config import settings_of, settled
from toulmin.evaluation.run_folder import read_run, run_folders
from toulmin.evaluation.scores import Scores, document, join_seeds, merge_measures
from toulmin.metrics.answered import Measured, answer_to_score
from toulmin.metrics.evidence_sets import attribution_metrics, evidence_overlap
from toulmin.metrics.judging import Judging

ONE = work("news-events", "One-Retrieval")
PLANNED = work("news-events", "Plan-based (Var.B)")


def held(bench: Bench, texts: Answers, evidence: Answers) -> Ours:
    """The texts of one run held against what another run read for the same topic, seed by seed."""
    own, others = bench.answered(texts), bench.answered(evidence)
    judging = Judging(judge(bench.asked.judge, settled(None, settings_of(bench.asked.settings))))
    pairs = list(zip(run_folders(own), run_folders(others), strict=True))
    scores = document(join_seeds(asyncio.run(_scored(pairs, judging))))
    return Ours(figures(scores), tuple(scores["notes"]), str(own), judging.name)


async def _scored(pairs: Sequence[tuple[Path, Path]], judging: Judging) -> list[Scores]:
    found = []
    for texts, evidence in pairs:
        recorded, read = read_run(texts), read_run(evidence)
        items = {item.id: item for item in recorded.items}
        told = [answer_to_score(items[answer.id], answer) for answer in recorded.answers]
        passages = {answer.id: answer.passages for answer in read.answers}
        parts: list[Measured] = [await attribution_metrics(told, judging, passages), evidence_overlap(told, passages)]
        ids = tuple(answer.id for answer in recorded.answers)
        found.append(Scores("honest", judging.name, ids, merge_measures(parts, len(told))))
    return found


def against_plan(bench: Bench) -> Ours:
    """One-Retrieval's texts against the plan's evidence."""
    return held(bench, ONE, PLANNED)


EXPERIMENT = Experiment(
    name="plan_table6",
    title="Plan-based retrieval, Table 6: the evidence that texts are held against, News Events",
    setting=replace(SETTING, model=UNICORN, sample="52 News Events topics"),
    sources={"news-events": SOURCES["news-events"]},
    ours=OURS,
    panels=(
        Panel(
            "News Events",
            (*AIS, *ROUGE),
            (
                Row(
                    "One-Retrieval, normal",
                    (Printed(UNICORN, (67.31, 90.27, 88.21, 95.83, 83.48, 94.52)),),
                    ONE,
                ),
                Row(
                    "One-Retrieval, expanded",
                    (Printed(UNICORN, (69.23, 91.78, 90.45, 98.71, 88.48, 98.22)),),
                    against_plan,
                ),
                Row(
                    "Plan-based (Var.B), expanded",
                    (Printed(UNICORN, (82.69, 95.85, 96.01, 99.72, 93.62, 99.55)),),
                    PLANNED,
                ),
            ),
        ),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
