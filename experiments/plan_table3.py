"""Plan-based retrieval, Table 3: what the second search is worth.

The paper's setting: the 81 Wiki-Ent topics with text-bison-001 (its first two lines are Table 1's), variant B; without
the second search, questions are answered from the passages of the first. Means of three runs.
"""

from __future__ import annotations

from dataclasses import replace

from bench import main
from frame import Experiment, Panel, Printed, Row
from plan_paper import BISON, OURS, SETTING, SHORTER, SOURCES, work

ROWS = {
    "One-Retrieval": (work("wiki-ent", "One-Retrieval"), (60.91, 83.09, 83.11, 74.17, 90.12, 87.62)),
    "Plan-based (Var.B)": (work("wiki-ent", "Plan-based (Var.B)"), (63.37, 90.40, 90.70, 89.45, 99.04, 134.47)),
    "w/o 2nd search": (
        work("wiki-ent", "Plan-based (Var.B)", second_search=False),
        (61.32, 85.46, 85.13, 80.05, 94.11, 98.72),
    ),
}

EXPERIMENT = Experiment(
    name="plan_table3",
    title="Plan-based retrieval, Table 3: without a second search, Wiki-Ent",
    setting=replace(SETTING, model=BISON, sample="81 Wiki-Ent topics"),
    sources={"wiki-ent": SOURCES["wiki-ent"]},
    ours=OURS,
    panels=(
        Panel(
            "Wiki-Ent",
            SHORTER,
            tuple(Row(name, (Printed(BISON, line),), one) for name, (one, line) in ROWS.items()),
        ),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
