"""VTG, Figure 4: tokens that each method takes (NQ).

The paper's setting: NQ, 200 questions, Text-Davinci-003, k = 5, 10 passages for Summ and Snippet, 4 samples for Rerank,
VTG with T = 3, M = 2, N = 3 (Table 6). The bars are drawn and not printed. Tokens here are those of all calls of a
question, what goes in and what comes out, as the model's server counts them.
"""

from __future__ import annotations

from dataclasses import replace

from bench import main
from frame import Column, Experiment, Panel, Row
from vtg_paper import DAVINCI, METHODS, OURS, SETTING, SOURCES, work

EXPERIMENT = Experiment(
    name="vtg_figure4",
    title="VTG, Figure 4: tokens a question, NQ",
    setting=replace(SETTING, model=DAVINCI, sample="200 questions"),
    sources={"nq": SOURCES["nq"]},
    says=(
        "the figure's bars are not printed as numbers",
        "Vanilla takes the fewest tokens, Summ and Snippet take more, Rerank the most, VTG fewer than Rerank (3.5)",
    ),
    ours=OURS,
    panels=(
        Panel(
            f"NQ, {DAVINCI}",
            (
                Column("tokens in", "tokens_in"),
                Column("tokens out", "tokens_out"),
                Column("calls", "calls_main"),
                Column("Citation F1", "citation_f1"),
            ),
            tuple(Row(name, (), work("nq", DAVINCI, name)) for name in METHODS),
        ),
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
