"""VTG, Figure 3: how many queries a failing claim is searched for by, and how many passages each finds (ASQA).

The paper's setting: ASQA, 500 questions, Vicuna-13B-v1.5-16k, k = 5, T = 3, and M = 2 and N = 4 where they are not
varied (Table 7); DPR over Wikipedia of 2018-12-20; TRUE verifies and judges. Points and axes are drawn and not printed;
here both numbers go from 1 to 6.
"""

from __future__ import annotations

from dataclasses import replace

from bench import main
from frame import Column, Experiment, Panel, Row
from vtg_paper import CITED, OURS, SETTING, SOURCES, VICUNA, work

COLUMNS = (Column("EM", "str_em"), Column("R-L", "rougeLsum"), *CITED)
NUMBERS = range(1, 7)


def panel(title: str, sign: str, option: str) -> Panel:
    """One of the two plots: one number varied, the others as in Table 7."""
    works = {n: work("asqa-dpr", VICUNA, "VTG", **{option: n}) for n in NUMBERS}
    return Panel(title, COLUMNS, tuple(Row(f"{sign} = {n}", (), one) for n, one in works.items()))


EXPERIMENT = Experiment(
    name="vtg_figure3",
    title="VTG, Figure 3: queries and passages a query, ASQA",
    setting=replace(SETTING, model=VICUNA, sample="500 questions"),
    sources={"asqa-dpr": SOURCES["asqa-dpr"]},
    says=(
        "the figure's points are not printed as numbers, nor the ends of its axes",
        "correctness and citations get better as either number grows, and worse beyond some number (section 3.5)",
    ),
    ours=OURS,
    panels=(
        panel("(a) queries, M", "M", "queries"),
        panel("(b) passages a query, N", "N", "per_query"),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
