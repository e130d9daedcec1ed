"""A2R, Table 4: refining with and without metrics, QAMPARI.

The paper's setting: about 100 questions of ALCE's QAMPARI, GPT-3.5-Turbo-16k at temperature 0.7, five passages, K = 0,
1 and 2 refinements; correctness is the recall of at least five exact entities, and precision. "Intrinsic" rows are the
control in which the model judges itself. K = 0 is the first answer, which the paper prints in both halves.
"""

from __future__ import annotations

from a2r_paper import OURS, SETTING, rows
from bench import main
from frame import Column, Experiment, Panel

EXPERIMENT = Experiment(
    name="a2r_table4",
    title="A2R, Table 4: QAMPARI",
    setting=SETTING,
    sources={"qampari": "QAMPARI of ALCE, with its passages"},
    ours=OURS,
    panels=(
        Panel(
            "QAMPARI",
            (
                Column("Recall@5", "qampari_rec_top5"),
                Column("Precision", "qampari_prec"),
                Column("Citation Recall", "citation_rec"),
                Column("Citation Precision", "citation_prec"),
            ),
            rows(
                "qampari",
                "list",
                {
                    "ChatGPT, K=0": (18.6, 23.5, 17.7, 19.0),
                    "Intrinsic, K=1": (6.4, 2.4, 10.5, 21.1),
                    "Intrinsic, K=2": (4.8, 1.9, 9.2, 20.3),
                    "A2R, K=1": (18.6, 24.4, 19.8, 21.4),
                    "A2R, K=2": (18.8, 24.6, 20.1, 22.2),
                },
            ),
        ),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
