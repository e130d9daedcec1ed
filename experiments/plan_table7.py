"""Plan-based retrieval, Table 7: the methods with an open model.

The paper's setting: the 81 Wiki-Ent topics with Mistral-7B-Instruct-v0.3, the same prompts in its chat form, searched
for anew (so that its figures do not compare with those of Tables 1 and 2).
"""

from __future__ import annotations

from dataclasses import replace

from bench import main
from frame import Experiment, Panel
from plan_paper import COLUMNS, MISTRAL, OURS, SETTING, SOURCES, rows

EXPERIMENT = Experiment(
    name="plan_table7",
    title="Plan-based retrieval, Table 7: an open model, Wiki-Ent",
    setting=replace(SETTING, model=MISTRAL, sample="81 Wiki-Ent topics"),
    sources={"wiki-ent": SOURCES["wiki-ent"]},
    ours=OURS,
    panels=(
        Panel(
            "Wiki-Ent",
            COLUMNS,
            rows(
                "wiki-ent",
                MISTRAL,
                {
                    "One-Retrieval": (11.7, 70.5, 71.1, 80.7, 47.8, 77.6, 168.0),
                    "One-Retrieval (2x snippets)": (20.3, 76.6, 76.6, 87.9, 57.3, 84.9, 169.6),
                    "Plan-based (Var.A)": (16.0, 73.5, 74.0, 91.9, 61.1, 89.6, 177.6),
                    "Plan-based (Var.B)": (25.0, 76.7, 77.1, 92.8, 64.2, 90.8, 161.8),
                },
            ),
        ),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
