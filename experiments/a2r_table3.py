"""A2R, Table 3: refining with and without metrics, ELI5.

The paper's setting: about 100 questions of ALCE's ELI5, GPT-3.5-Turbo-16k at temperature 0.7, five passages, K = 0, 1
and 2 refinements; correctness is the recall of three gold claims by TRUE, fluency MAUVE. "Intrinsic" rows are the
control in which the model judges itself. K = 0 is the first answer, which the paper prints in both halves.
"""

from __future__ import annotations

from a2r_paper import OURS, SETTING, rows
from bench import main
from frame import Column, Experiment, Panel

EXPERIMENT = Experiment(
    name="a2r_table3",
    title="A2R, Table 3: ELI5",
    setting=SETTING,
    sources={"eli5": "ELI5 of ALCE, with its passages"},
    ours=OURS,
    panels=(
        Panel(
            "ELI5",
            (
                Column("MAUVE", "mauve"),
                Column("Claim Recall", "claims_nli"),
                Column("Citation Recall", "citation_rec"),
                Column("Citation Precision", "citation_prec"),
            ),
            rows(
                "eli5",
                "long",
                {
                    "ChatGPT, K=0": (42.5, 25.3, 9.4, 29.5),
                    "Intrinsic, K=1": (61.4, 23.7, 8.5, 22.7),
                    "Intrinsic, K=2": (54.3, 24.3, 8.0, 22.7),
                    "A2R, K=1": (65.9, 25.3, 11.2, 31.2),
                    "A2R, K=2": (67.7, 25.6, 11.7, 32.3),
                },
            ),
        ),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
