"""VTG, Table 2: long answers, and the means over all five datasets.

The paper's setting: ASQA and ELI5, 500 questions each with Vicuna-13B-v1.5-16k and 200 with Text-Davinci-003; DPR over
Wikipedia of 2018-12-20, k = 5, 10 passages for Summ and Snippet, 4 samples for Rerank; VTG's T, M and N as in Tables 6
and 7; TRUE verifies and judges. ASQA: recall of exact short answers, Disambig-F1 by a RoBERTa reader, ROUGE-L, and DR,
which comes out as the arithmetic mean of these two; ELI5: recall of three gold claims. Overall are the plain means of
the correctness (exact match, or claims for ELI5) and of the citation F1 of the five datasets of Tables 1 and 2.
"""

from __future__ import annotations

from bench import main
from frame import Column, Experiment, Overall, Panel, Printed, Row
from vtg_paper import CITED, DAVINCI, METHODS, OURS, SETTING, SHORT_EM, SOURCES, VICUNA, rows, work

ASQA = {
    VICUNA: {
        "Vanilla": (32.00, 27.52, 33.53, 30.53, 72.78, 62.09, 67.01),
        "Summ": (41.71, 28.95, 37.18, 33.07, 62.15, 59.60, 60.85),
        "Snippet": (39.22, 27.01, 35.65, 31.33, 46.23, 47.04, 46.63),
        "Rerank": (37.14, 28.21, 32.18, 30.20, 88.29, 75.74, 81.53),
        "VTG": (41.92, 30.53, 37.87, 34.20, 89.15, 82.57, 85.73),
    },
    DAVINCI: {
        "Vanilla": (40.25, 31.47, 35.81, 33.64, 58.13, 55.17, 56.61),
        "Summ": (41.33, 28.91, 37.21, 33.06, 48.31, 40.68, 44.17),
        "Snippet": (39.60, 30.11, 38.35, 34.23, 53.14, 43.19, 47.65),
        "Rerank": (39.55, 29.94, 39.38, 34.66, 75.83, 69.81, 72.70),
        "VTG": (41.53, 31.64, 39.45, 35.55, 86.70, 79.95, 83.19),
    },
}
ELI5 = {
    VICUNA: {
        "Vanilla": (12.20, 59.79, 48.26, 53.41),
        "Summ": (14.20, 60.13, 52.42, 56.01),
        "Snippet": (14.33, 31.47, 32.72, 32.08),
        "Rerank": (11.67, 73.80, 61.12, 66.86),
        "VTG": (14.73, 81.50, 72.16, 76.55),
    },
    DAVINCI: {
        "Vanilla": (13.43, 58.66, 47.40, 52.43),
        "Summ": (11.50, 39.43, 31.81, 35.21),
        "Snippet": (13.67, 45.29, 37.23, 40.87),
        "Rerank": (14.76, 76.21, 61.67, 68.17),
        "VTG": (16.67, 82.63, 71.56, 76.70),
    },
}
OVERALL = {
    VICUNA: {
        "Vanilla": (35.64, 55.19),
        "Summ": (38.82, 52.87),
        "Snippet": (38.19, 39.17),
        "Rerank": (36.80, 71.30),
        "VTG": (40.05, 77.81),
    },
    DAVINCI: {
        "Vanilla": (43.34, 52.31),
        "Summ": (42.57, 36.85),
        "Snippet": (42.85, 42.61),
        "Rerank": (43.10, 65.43),
        "VTG": (46.14, 80.09),
    },
}
CORRECT = {"2wiki": SHORT_EM.metric, "webq": SHORT_EM.metric, "nq": SHORT_EM.metric, "asqa-dpr": "str_em"}
CORRECT["eli5"] = "claims_nli"

ASQA_COLUMNS = (
    Column("EM", "str_em"),
    Column("D-F1", "QA-F1"),
    Column("R-L", "rougeLsum"),
    Column("DR", "dr_mean"),
    *CITED,
)
ELI5_COLUMNS = (Column("Claim", "claims_nli"), *CITED)
OVERALL_COLUMNS = (Column("Correct EM", "correct"), Column("Citation F1", "citation_f1"))


def overall(model: str, name: str) -> Overall:
    """The means of a method over the five datasets."""
    works = {source: work(source, model, name) for source in CORRECT}
    return Overall(
        {
            "correct": tuple((works[source], metric) for source, metric in CORRECT.items()),
            "citation_f1": tuple((one, "citation_f1") for one in works.values()),
        }
    )


def panels(model: str) -> tuple[Panel, ...]:
    """The part of the table that is about one model."""
    means = tuple(Row(name, (Printed(model, OVERALL[model][name]),), overall(model, name)) for name in METHODS)
    return (
        Panel(f"ASQA, {model}", ASQA_COLUMNS, rows("asqa-dpr", model, ASQA[model])),
        Panel(f"ELI5, {model}", ELI5_COLUMNS, rows("eli5", model, ELI5[model])),
        Panel(f"Overall, {model}", OVERALL_COLUMNS, means),
    )


EXPERIMENT = Experiment(
    name="vtg_table2",
    title="VTG, Table 2: ASQA, ELI5, and overall",
    setting=SETTING,
    sources=SOURCES,
    ours=OURS,
    panels=(*panels(VICUNA), *panels(DAVINCI)),
)

if __name__ == "__main__":
    main(EXPERIMENT)
