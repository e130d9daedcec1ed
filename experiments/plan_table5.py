"""Plan-based retrieval, Table 5: what the outline is worth.

The paper's setting: the 52 News Events topics with text-unicorn-001 (Table 2 has the same figures), variant A; without
a plan, questions are asked from the first results at once. All rows have the same writing prompt. Means of three runs.
"""

from __future__ import annotations

from dataclasses import replace

from bench import main
from frame import Experiment, Panel, Printed, Row
from plan_paper import OURS, SETTING, SHORTER, SOURCES, UNICORN, work

ROWS = {
    "Plan-based (Var.A)": (work("news-events", "Plan-based (Var.A)"), (87.18, 96.86, 96.68, 94.05, 99.62, 100.91)),
    "w/o plan": (
        work("news-events", "Plan-based (Var.A)", outline=False),
        (68.59, 86.38, 84.15, 85.45, 97.51, 92.68),
    ),
    "One-Retrieval": (work("news-events", "One-Retrieval"), (67.31, 90.27, 88.21, 83.48, 94.52, 96.42)),
}

EXPERIMENT = Experiment(
    name="plan_table5",
    title="Plan-based retrieval, Table 5: without an outline, News Events",
    setting=replace(SETTING, model=UNICORN, sample="52 News Events topics"),
    sources={"news-events": SOURCES["news-events"]},
    ours=OURS,
    panels=(
        Panel(
            "News Events",
            SHORTER,
            tuple(Row(name, (Printed(UNICORN, line),), one) for name, (one, line) in ROWS.items()),
        ),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
