"""VTG, Table 4: how many trials a claim may have (2WikiMultihopQA).

The paper's setting: 500 questions of 2WikiMultihopQA, Vicuna-13B-v1.5-16k, T from 1 to 5, M = 4, N = 2, k = 5 (Table
7); DPR over Wikipedia of 2018-12-20; TRUE verifies and judges. Trials is the mean number of attempts at a claim, 1.82
already at T = 1, so that T is counted as in Algorithm 1 (t > T) and not as in the prose. Table 1 has 52.32 where this
table has 52.31.
"""

from __future__ import annotations

from dataclasses import replace

from bench import main
from frame import Column, Experiment, Panel, Printed, Row
from vtg_paper import CITED, OURS, SETTING, SHORT_EM, SHORT_F1, SOURCES, VICUNA, work

FIGURES = {
    1: (22.00, 19.56, 41.20, 34.07, 37.29, 1.82),
    2: (22.60, 20.22, 47.82, 41.95, 44.69, 2.15),
    3: (22.80, 20.63, 49.95, 44.03, 46.80, 2.46),
    4: (25.00, 22.66, 51.37, 45.70, 48.36, 2.72),
    5: (25.60, 23.27, 55.36, 49.59, 52.31, 2.92),
}

EXPERIMENT = Experiment(
    name="vtg_table4",
    title="VTG, Table 4: the most trials of a claim, 2WikiMultihopQA",
    setting=replace(SETTING, model=VICUNA, sample="500 questions"),
    sources={"2wiki": SOURCES["2wiki"]},
    ours=(*OURS, "Trials: of the sentences that VTG writes; the final short answer is not one of them"),
    panels=(
        Panel(
            f"2WikiMultihopQA, {VICUNA}",
            (SHORT_EM, SHORT_F1, *CITED, Column("Trials", "trials")),
            tuple(
                Row(f"T = {most}", (Printed(VICUNA, figures),), work("2wiki", VICUNA, "VTG", max_trials=most))
                for most, figures in FIGURES.items()
            ),
        ),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
