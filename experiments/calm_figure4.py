"""CaLM, Figure 4: quality after 0 to 6 corrections (QAMPARI).

The paper's setting: as Table 3, main model GPT-3.5-Turbo-1106, verifier tulu-2-dpo-13b; the rounds end after n
corrections (n + 1 calls of the main model). The points are drawn and not printed; which passages, DPR's or GTR's, the
caption does not say: GTR's, as in the paper's other analyses (6.2).
"""

from __future__ import annotations

from dataclasses import replace

from bench import main
from calm_paper import CALLS, CITED, GPT, OURS, SETTING, SOURCES, average, calm
from frame import Column, Experiment, Panel, Row

QUALITY = (Column("Prec.", "qampari_prec"), Column("Rec.-5", "qampari_rec_top5"), *CITED)

EXPERIMENT = Experiment(
    name="calm_figure4",
    title="CaLM, Figure 4: corrections, QAMPARI",
    setting=replace(SETTING, model=GPT),
    sources={"qampari-gtr": SOURCES["qampari-gtr"]},
    says=(
        "the figure's points are not printed as numbers",
        "correctness rises with each correction, in precision and in recall (Appendix A)",
        "six corrections are 0.4 on average above three, and little is gained after the third (Appendix A)",
    ),
    ours=OURS,
    panels=(
        Panel(
            "GTR as retriever",
            (*CALLS, *QUALITY, average(*QUALITY)),
            tuple(Row(f"{n} corrections", (), calm("qampari-gtr", corrections=n)) for n in range(7)),
        ),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
