"""CaLM, Table 3: the methods on QAMPARI, with DPR's and with GTR's passages.

The paper's setting: 1,000 questions of QAMPARI; main models GPT-3.5-Turbo-1106 and text-unicorn, verifier
tulu-2-dpo-13b; k = 5, at most 4 main calls, no threshold printed; 9 summaries or snippets, 9 samples for USC; ALCE's
list prompts with 2 demonstrations, corrections with 1 (a comment of 150 words, then the final answer); means of three
runs. Correctness is exact entities: precision, and recall of at least five. The paper prints "16.19 (+0.95" without
its bracket, and -2.02 where USC's average of 9.42 is 2.32 below ICLCite's; the averages are taken.
"""

from __future__ import annotations

from bench import main
from calm_paper import CALLS, CITED, OURS, SETTING, SOURCES, average, methods, rows
from frame import Column, Experiment, Panel

QUALITY = (Column("Prec.", "qampari_prec"), Column("Rec.-5", "qampari_rec_top5"), *CITED)
COLUMNS = (*CALLS, *QUALITY, average(*QUALITY))
MOST = ("at most 4", "at most 3")

DPR = rows(
    methods("qampari-dpr"),
    {
        "ICLCite": ((1, None, 12.47, 10.28, 12.60, 11.62, 11.74), (1, None, 17.06, 12.55, 15.77, 15.59, 15.24)),
        "Summ + ICLCite": ((10, None, 6.65, 4.97, 10.56, 9.43, 7.90), (10, None, 18.61, 15.17, 15.61, 15.36, 16.19)),
        "Snippet + ICLCite": (
            (10, None, 11.67, 7.87, 14.14, 12.64, 11.58),
            (10, None, 18.81, 15.11, 16.10, 15.83, 16.46),
        ),
        "ICLCite + USC": ((10, None, 9.88, 8.36, 10.14, 9.28, 9.42), (10, None, 17.04, 12.47, 15.81, 15.62, 15.24)),
        "CaLM": ((*MOST, 17.65, 13.61, 13.93, 12.99, 14.55), (*MOST, 19.62, 16.71, 15.90, 15.95, 17.05)),
    },
)
GTR = rows(
    methods("qampari-gtr"),
    {
        "ICLCite": ((1, None, 19.23, 17.32, 21.75, 20.77, 19.77), (1, None, 26.27, 21.42, 25.52, 25.21, 24.61)),
        "Summ + ICLCite": (
            (10, None, 15.06, 13.10, 21.89, 21.00, 17.76),
            (10, None, 27.11, 26.14, 24.61, 24.98, 25.71),
        ),
        "Snippet + ICLCite": (
            (10, None, 20.48, 17.18, 25.45, 23.91, 21.76),
            (10, None, 27.26, 25.07, 25.96, 25.55, 25.96),
        ),
        "ICLCite + USC": ((10, None, 14.07, 12.45, 17.34, 16.60, 15.12), (10, None, 26.34, 22.10, 25.48, 25.19, 24.78)),
        "CaLM": ((*MOST, 26.71, 18.55, 25.16, 24.39, 23.70), (*MOST, 30.28, 22.79, 28.53, 28.34, 27.49)),
    },
)

EXPERIMENT = Experiment(
    name="calm_table3",
    title="CaLM, Table 3: QAMPARI",
    setting=SETTING,
    sources={name: SOURCES[name] for name in ("qampari-dpr", "qampari-gtr")},
    ours=OURS,
    panels=(Panel("DPR as retriever", COLUMNS, DPR), Panel("GTR as retriever", COLUMNS, GTR)),
)

if __name__ == "__main__":
    main(EXPERIMENT)
