"""A2R, Table 5: refining with and without metrics, ASQA.

The paper's setting: about 100 questions of ALCE's ASQA, GPT-3.5-Turbo-16k at temperature 0.7, five passages, K = 0, 1
and 2 refinements; correctness is the recall of exact short answers, fluency MAUVE. "Intrinsic" rows are the control in
which the model judges itself. K = 0 is the first answer, which the paper prints in both halves.
"""

from __future__ import annotations

from a2r_paper import OURS, SETTING, rows
from bench import main
from frame import Column, Experiment, Panel

EXPERIMENT = Experiment(
    name="a2r_table5",
    title="A2R, Table 5: ASQA",
    setting=SETTING,
    sources={"asqa": "ASQA of ALCE, with its passages"},
    ours=OURS,
    panels=(
        Panel(
            "ASQA",
            (
                Column("MAUVE", "mauve"),
                Column("EM Recall", "str_em"),
                Column("Citation Recall", "citation_rec"),
                Column("Citation Precision", "citation_prec"),
            ),
            rows(
                "asqa",
                "long",
                {
                    "ChatGPT, K=0": (78.1, 19.7, 43.2, 61.1),
                    "Intrinsic, K=1": (72.9, 20.2, 31.5, 51.9),
                    "Intrinsic, K=2": (76.4, 20.4, 34.5, 48.9),
                    "A2R, K=1": (76.7, 21.9, 48.7, 63.1),
                    "A2R, K=2": (77.7, 20.8, 52.0, 65.2),
                },
            ),
        ),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
