"""CaLM, Table 5: which model verifies (QAMPARI, GTR's passages).

The paper's setting: as Table 3 with GTR; main models GPT-3.5-Turbo-1106 and text-unicorn, and as the verifier
tulu-2-dpo of 7, 13 and 70 billion parameters or the main model itself; without verification it is ICLCite. Name the
verifiers with --member, for example --member tulu-2-dpo-7b=openai:tulu-2-dpo-7b.
"""

from __future__ import annotations

from bench import main
from calm_paper import CITED, OURS, SETTING, SOURCES, average, calm, methods, rows
from frame import MAIN, Column, Experiment, Panel

QUALITY = (Column("Prec.", "qampari_prec"), Column("Rec.-5", "qampari_rec_top5"), *CITED)
TULU = ("tulu-2-dpo-7b", "tulu-2-dpo-13b", "tulu-2-dpo-70b")
WORKS = {
    "No verification": methods("qampari-gtr")["ICLCite"],
    **{name: calm("qampari-gtr", verifier=name) for name in TULU},
    "the main model": calm("qampari-gtr", verifier=MAIN),
}

EXPERIMENT = Experiment(
    name="calm_table5",
    title="CaLM, Table 5: the choice of the verifier, QAMPARI",
    setting=SETTING,
    sources={"qampari-gtr": SOURCES["qampari-gtr"]},
    members={name: f"a verifier, the paper's {name}" for name in TULU},
    ours=OURS,
    panels=(
        Panel(
            "GTR as retriever",
            (*QUALITY, average(*QUALITY)),
            rows(
                WORKS,
                {
                    "No verification": ((19.23, 17.32, 21.75, 20.77, 19.77), (26.27, 21.42, 25.52, 25.21, 24.61)),
                    "tulu-2-dpo-7b": ((25.36, 17.95, 24.29, 23.64, 22.81), (29.71, 21.80, 27.67, 27.45, 26.65)),
                    "tulu-2-dpo-13b": ((26.71, 18.55, 25.16, 24.39, 23.70), (30.28, 22.79, 28.53, 28.34, 27.49)),
                    "tulu-2-dpo-70b": ((25.61, 18.69, 23.64, 23.57, 22.88), (28.94, 22.61, 27.06, 26.88, 26.37)),
                    "the main model": ((24.39, 18.36, 22.94, 22.30, 22.00), (29.73, 23.44, 28.01, 27.54, 27.18)),
                },
            ),
        ),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
