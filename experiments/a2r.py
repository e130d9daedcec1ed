"""A2R's tables (Lee et al. 2024, "Ask, Assess, and Refine", section 3), with the model and methods that they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frame import Answers, Column, Experiment, Figure, Panel, PaperLine, Row, Sampling, Setting

CHATGPT = "GPT-3.5-Turbo-16k"
QUESTIONS = 100

SETTING = Setting(
    model=CHATGPT,
    sampling=Sampling("temperature 0.7, no top_p printed", 0.7, 1.0),
    judge="TRUE (google/t5_xxl_true_nli_mixture, 11B), as the metric that guides and for the table",
    passages="ALCE's, five a question; which of ALCE's retrievers is not printed",
    sample="about 100 questions of ALCE's part of the dataset, drawn at random",
    prompts="its Tables 1 and 2 for the first answer and for feedback; the one for refining is not printed, nor those"
    " for lists",
    parameters="K = 0, 1, 2 refinements; the scores that feedback is held against, and the mean that ends the rounds,"
    " are not printed",
)

OURS = (
    "prompts: worded by us; that for refining and those for lists are our own, since the paper prints none",
    "targets: 60 for correctness, 80 for citation recall and precision (the paper prints none)",
    "sample: the first questions of the file",
    "the rows of A2R are in oracle mode: while it writes, the dataset's own metric against the gold answers tells it"
    " how right it is, as in the paper; no such score is at hand where a person asks",
    "every row makes as many refinements as it says, from one draft: feedback in the model's words, each refinement"
    " from the whole history, the last one returned (Equation 5); the paper may end earlier, at a mean score that it"
    " does not print",
)

ASKED: Mapping[str, Any] = {"k": 5, "shots": 0}  # the paper shows no demonstrations, for lists neither
STYLES = {"eli5": "long", "qampari": "list", "asqa": "long"}
CITED = (Column("Citation Recall", "citation_rec"), Column("Citation Precision", "citation_prec"))
MAUVE = Column("MAUVE", "mauve")


def work(source: str, name: str) -> Answers:
    """What a row does, by its name in the paper: `Intrinsic` judges itself, `A2R` by metrics."""
    style = STYLES[source]
    asked = {**ASKED, "style": style, "prompt": "list" if style == "list" else "expert"}
    kind, rounds = name.split(", K=")
    if kind == "ChatGPT":
        return Answers(source, "vanilla", asked, QUESTIONS)
    if kind == "Intrinsic":
        return Answers(source, "self-refine", {**asked, "max_rounds": int(rounds)}, QUESTIONS)
    guided = {"max_rounds": int(rounds), "stop": "never", "feedback": "model", "returns": "last", "history": True}
    return Answers(source, "a2r", {**asked, **guided}, QUESTIONS, oracle=True)


def table(
    number: int, title: str, measures: str, columns: tuple[Column, ...], figures: Mapping[str, tuple[Figure, ...]]
) -> Experiment:
    """The table of one dataset."""
    source = title.lower()
    return Experiment(
        name=f"a2r_table{number}",
        title=f"A2R, Table {number}: {title}",
        about=f"Refining with and without metrics. The paper's setting: about 100 questions of ALCE's {title},"
        " GPT-3.5-Turbo-16k at temperature 0.7, five passages, K = 0, 1 and 2 refinements;"
        f' {measures}. "Intrinsic" rows are the control in which the model judges itself. K = 0 is the first answer,'
        " which the paper prints in both halves.",
        setting=SETTING,
        sources={source: f"{title} of ALCE, with its passages"},
        ours=OURS,
        panels=(
            Panel(
                title,
                (*columns, *CITED),
                tuple(Row(name, (PaperLine(CHATGPT, line),), work(source, name)) for name, line in figures.items()),
            ),
        ),
    )


EXPERIMENTS = (
    table(
        3,
        "ELI5",
        "correctness is the recall of three gold claims by TRUE, fluency MAUVE",
        (MAUVE, Column("Claim Recall", "claims_nli")),
        {
            "ChatGPT, K=0": (42.5, 25.3, 9.4, 29.5),
            "Intrinsic, K=1": (61.4, 23.7, 8.5, 22.7),
            "Intrinsic, K=2": (54.3, 24.3, 8.0, 22.7),
            "A2R, K=1": (65.9, 25.3, 11.2, 31.2),
            "A2R, K=2": (67.7, 25.6, 11.7, 32.3),
        },
    ),
    table(
        4,
        "QAMPARI",
        "correctness is the recall of at least five exact entities, and precision",
        (Column("Recall@5", "qampari_rec_top5"), Column("Precision", "qampari_prec")),
        {
            "ChatGPT, K=0": (18.6, 23.5, 17.7, 19.0),
            "Intrinsic, K=1": (6.4, 2.4, 10.5, 21.1),
            "Intrinsic, K=2": (4.8, 1.9, 9.2, 20.3),
            "A2R, K=1": (18.6, 24.4, 19.8, 21.4),
            "A2R, K=2": (18.8, 24.6, 20.1, 22.2),
        },
    ),
    table(
        5,
        "ASQA",
        "correctness is the recall of exact short answers, fluency MAUVE",
        (MAUVE, Column("EM Recall", "str_em")),
        {
            "ChatGPT, K=0": (78.1, 19.7, 43.2, 61.1),
            "Intrinsic, K=1": (72.9, 20.2, 31.5, 51.9),
            "Intrinsic, K=2": (76.4, 20.4, 34.5, 48.9),
            "A2R, K=1": (76.7, 21.9, 48.7, 63.1),
            "A2R, K=2": (77.7, 20.8, 52.0, 65.2),
        },
    ),
)
