"""Plan-based retrieval, Table 10: how little the texts repeat themselves.

The paper's setting: as Tables 1 and 2. The share of distinct 1-, 2- and 3-grams of a text, by word boundaries, in
percent: planning asks each paragraph's questions apart, so that some come twice, and the texts should not.
"""

from __future__ import annotations

from bench import main
from frame import Column, Experiment, Panel, Printed, Row
from plan_paper import BISON, OURS, SETTING, SOURCES, TITLES, UNICORN, work

COLUMNS = (Column("1-gram", "distinct_1"), Column("2-gram", "distinct_2"), Column("3-gram", "distinct_3"))
WITH_UNICORN = {
    "researcher": {
        "No Retrieval": (71.90, 95.13, 98.81),
        "One-Retrieval": (73.26, 95.63, 98.74),
        "Plan-based (Var.A)": (75.23, 96.13, 98.89),
    },
    "wiki-ent": {
        "No Retrieval": (72.79, 95.25, 98.95),
        "One-Retrieval": (75.57, 96.35, 99.18),
        "Plan-based (Var.A)": (77.93, 96.74, 99.29),
    },
    "wiki-event": {
        "No Retrieval": (60.75, 87.72, 94.65),
        "One-Retrieval": (69.33, 93.78, 98.12),
        "Plan-based (Var.A)": (67.89, 93.57, 98.19),
    },
    "news-events": {
        "No Retrieval": (60.95, 87.54, 94.62),
        "One-Retrieval": (73.30, 95.14, 98.29),
        "Plan-based (Var.A)": (66.53, 92.13, 97.37),
    },
}
WITH_BISON = {
    "researcher": {
        "No Retrieval": (73.34, 95.70, 99.02),
        "One-Retrieval": (76.02, 96.57, 99.17),
        "Plan-based (Var.A)": (73.11, 95.76, 98.69),
    },
    "wiki-ent": {
        "No Retrieval": (71.18, 94.54, 98.70),
        "One-Retrieval": (78.91, 97.28, 99.39),
        "Plan-based (Var.A)": (74.20, 95.97, 99.03),
    },
    "wiki-event": {
        "No Retrieval": (68.82, 93.79, 98.46),
        "One-Retrieval": (73.65, 95.41, 98.67),
        "Plan-based (Var.A)": (71.08, 94.25, 98.04),
    },
    "news-events": {
        "No Retrieval": (66.80, 92.08, 97.43),
        "One-Retrieval": (75.25, 95.96, 98.90),
        "Plan-based (Var.A)": (70.87, 94.86, 98.74),
    },
}


def row(source: str, name: str) -> Row:
    """One method on one list of topics, with the paper's two models."""
    printed = ((UNICORN, WITH_UNICORN), (BISON, WITH_BISON))
    return Row(name, tuple(Printed(by, figures[source][name]) for by, figures in printed), work(source, name))


EXPERIMENT = Experiment(
    name="plan_table10",
    title="Plan-based retrieval, Table 10: distinct n-grams",
    setting=SETTING,
    sources=SOURCES,
    ours=OURS,
    panels=tuple(
        Panel(TITLES[source], COLUMNS, tuple(row(source, name) for name in names))
        for source, names in WITH_UNICORN.items()
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
