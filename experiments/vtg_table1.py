"""VTG, Table 1: multi-hop and open-domain questions with short answers.

The paper's setting: 2WikiMultihopQA (headed Wikihop), WebQ and NQ, 500 questions each with Vicuna-13B-v1.5-16k and 200
with Text-Davinci-003; DPR over Wikipedia of 2018-12-20, k = 5, 10 passages for Summ and Snippet, 4 samples for Rerank;
VTG's T, M and N as in Tables 6 and 7; TRUE verifies and judges. Correctness is exact match and, for 2WikiMultihopQA,
token F1 as well; citations have recall, precision and F1.
"""

from __future__ import annotations

from bench import main
from frame import Experiment, Panel
from vtg_paper import CITED, DAVINCI, OURS, SETTING, SHORT_EM, SHORT_F1, SOURCES, VICUNA, rows

WIKIHOP = {
    VICUNA: {
        "Vanilla": (23.40, 21.98, 29.55, 22.25, 25.39),
        "Summ": (23.20, 20.00, 30.89, 28.43, 29.61),
        "Snippet": (21.80, 20.05, 25.18, 21.95, 23.45),
        "Rerank": (22.60, 21.13, 47.03, 47.53, 47.28),
        "VTG": (25.60, 23.27, 55.36, 49.59, 52.32),
    },
    DAVINCI: {
        "Vanilla": (33.00, 33.01, 40.46, 28.30, 33.30),
        "Summ": (30.00, 30.63, 9.39, 12.19, 10.61),
        "Snippet": (32.00, 30.13, 13.86, 18.49, 15.84),
        "Rerank": (32.67, 33.09, 56.13, 45.22, 50.09),
        "VTG": (41.50, 40.19, 63.89, 57.65, 60.61),
    },
}
WEBQ = {
    VICUNA: {
        "Vanilla": (55.80, 67.66, 60.66, 63.97),
        "Summ": (58.00, 70.51, 62.07, 66.02),
        "Snippet": (58.40, 53.44, 49.15, 51.21),
        "Rerank": (56.40, 89.93, 76.33, 82.57),
        "VTG": (60.00, 92.16, 86.51, 89.25),
    },
    DAVINCI: {
        "Vanilla": (67.50, 63.78, 58.97, 61.28),
        "Summ": (67.50, 60.06, 47.62, 53.12),
        "Snippet": (67.00, 65.41, 52.32, 58.14),
        "Rerank": (67.00, 73.72, 64.90, 69.03),
        "VTG": (68.00, 93.00, 88.72, 90.81),
    },
}
NQ = {
    VICUNA: {
        "Vanilla": (54.80, 71.39, 61.71, 66.20),
        "Summ": (57.00, 51.55, 52.21, 51.88),
        "Snippet": (57.20, 43.56, 41.43, 42.47),
        "Rerank": (56.20, 83.56, 73.57, 78.25),
        "VTG": (58.00, 88.69, 82.02, 85.22),
    },
    DAVINCI: {
        "Vanilla": (62.50, 60.48, 55.56, 57.92),
        "Summ": (62.50, 44.23, 38.45, 41.14),
        "Snippet": (62.00, 54.72, 46.99, 50.56),
        "Rerank": (61.50, 71.30, 63.44, 67.14),
        "VTG": (63.00, 91.85, 86.59, 89.14),
    },
}

EXPERIMENT = Experiment(
    name="vtg_table1",
    title="VTG, Table 1: 2WikiMultihopQA, WebQ, NQ",
    setting=SETTING,
    sources={name: SOURCES[name] for name in ("2wiki", "webq", "nq")},
    ours=OURS,
    panels=tuple(
        Panel(f"{title}, {model}", (*correct, *CITED), rows(source, model, figures[model]))
        for model in (VICUNA, DAVINCI)
        for title, source, correct, figures in (
            ("Wikihop", "2wiki", (SHORT_EM, SHORT_F1), WIKIHOP),
            ("WebQ", "webq", (SHORT_EM,), WEBQ),
            ("NQ", "nq", (SHORT_EM,), NQ),
        )
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
