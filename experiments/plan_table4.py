"""Plan-based retrieval, Table 4: what it is worth to say which questions have no answer.

The paper's setting: the 106 Researcher and 52 News Events topics with text-unicorn-001, variant B (its lines are Table
2's); without them, questions that the reader cannot answer are left out of the prompt instead of marked as ones to
skip. Means of three runs.
"""

from __future__ import annotations

from dataclasses import replace

from bench import main
from frame import Experiment, Panel, Printed, Row
from plan_paper import COLUMNS, OURS, SETTING, SOURCES, TITLES, UNICORN, work

FIGURES = {
    "researcher": {
        "Plan-based (Var.B)": (81.76, 93.29, 93.81, 98.12, 86.86, 97.84, 104.62),
        "w/o unanswerable": (79.25, 92.49, 93.01, 98.24, 86.77, 97.88, 108.28),
    },
    "news-events": {
        "Plan-based (Var.B)": (82.69, 95.85, 96.01, 99.72, 93.62, 99.55, 135.72),
        "w/o unanswerable": (76.92, 94.59, 93.54, 99.55, 93.02, 99.43, 147.03),
    },
}


def row(source: str, name: str) -> Row:
    """Variant B as it is, or without the questions that have no answer."""
    options = {"unanswerable": "drop"} if name.startswith("w/o") else {}
    return Row(name, (Printed(UNICORN, FIGURES[source][name]),), work(source, "Plan-based (Var.B)", **options))


EXPERIMENT = Experiment(
    name="plan_table4",
    title="Plan-based retrieval, Table 4: unanswerable questions left out",
    setting=replace(SETTING, model=UNICORN, sample="topics: 106 Researcher, 52 News Events"),
    sources={name: SOURCES[name] for name in FIGURES},
    ours=OURS,
    panels=tuple(
        Panel(TITLES[source], COLUMNS, tuple(row(source, name) for name in lines)) for source, lines in FIGURES.items()
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
