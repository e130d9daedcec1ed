"""CaLM, Table 6: what the verifier reads (QAMPARI, GTR's passages).

The paper's setting: as Table 3 with GTR, main model text-unicorn, verifier tulu-2-dpo-13b; the verifier reads only what
the main model cited, or all that the main model read (`verifier_reads="all"`).
"""

from __future__ import annotations

from dataclasses import replace

from bench import main
from calm_paper import CITED, OURS, SETTING, SOURCES, UNICORN, average, calm
from frame import Column, Experiment, Panel, Printed, Row

QUALITY = (Column("Prec.", "qampari_prec"), Column("Rec.-5", "qampari_rec_top5"), *CITED)

EXPERIMENT = Experiment(
    name="calm_table6",
    title="CaLM, Table 6: what the verifier reads, QAMPARI",
    setting=replace(SETTING, model=UNICORN),
    sources={"qampari-gtr": SOURCES["qampari-gtr"]},
    ours=OURS,
    panels=(
        Panel(
            "GTR as retriever",
            (*QUALITY, average(*QUALITY)),
            (
                Row(
                    "Only cited documents",
                    (Printed(UNICORN, (30.28, 22.79, 28.53, 28.34, 27.49)),),
                    calm("qampari-gtr"),
                ),
                Row(
                    "Same as the main LM",
                    (Printed(UNICORN, (28.19, 23.26, 25.22, 25.65, 25.58)),),
                    calm("qampari-gtr", verifier_reads="all"),
                ),
            ),
        ),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
