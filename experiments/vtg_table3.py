"""VTG, Table 3: what each part is worth (2WikiMultihopQA).

The paper's setting: 500 questions of 2WikiMultihopQA, Vicuna-13B-v1.5-16k, T = 5, M = 4, N = 2, k = 5 (Table 7); DPR
over Wikipedia of 2018-12-20; TRUE verifies and judges. Each row takes one part away: the two-tier verifier, the memory
that evolves, the simplifier, the diverse queries (the claim itself is then the query). The citation F1 printed without
the simplifier, 36.00, is not that of its recall and precision, which make 35.00.
"""

from __future__ import annotations

from dataclasses import replace

from bench import main
from frame import Experiment, Panel, Printed, Row
from vtg_paper import CITED, OURS, SETTING, SHORT_EM, SHORT_F1, SOURCES, VICUNA, work

ROWS = {
    "VTG": ({}, (25.60, 23.27, 55.36, 49.59, 52.32)),
    "w/o Verifier": ({"verify": False}, (20.60, 17.75, 37.34, 30.16, 33.36)),
    "w/o Memory": ({"memory": False}, (21.40, 18.88, 43.88, 35.18, 39.05)),
    "w/o Simplifier": ({"simplify": False}, (24.20, 22.85, 45.07, 28.61, 36.00)),
    "w/o Diverse QG": ({"diverse_queries": False}, (21.40, 18.99, 47.76, 40.15, 43.62)),
}

EXPERIMENT = Experiment(
    name="vtg_table3",
    title="VTG, Table 3: ablations, 2WikiMultihopQA",
    setting=replace(SETTING, model=VICUNA, sample="500 questions"),
    sources={"2wiki": SOURCES["2wiki"]},
    ours=OURS,
    panels=(
        Panel(
            f"2WikiMultihopQA, {VICUNA}",
            (SHORT_EM, SHORT_F1, *CITED),
            tuple(
                Row(name, (Printed(VICUNA, figures),), work("2wiki", VICUNA, "VTG", **options))
                for name, (options, figures) in ROWS.items()
            ),
        ),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
