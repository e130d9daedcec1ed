"""What A2R's tables share (Lee et al. 2024, "Ask, Assess, and Refine", section 3): model, sample, rows and options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frame import Answers, Figure, Printed, Row, Setting

CHATGPT = "GPT-3.5-Turbo-16k"
QUESTIONS = 100

SETTING = Setting(
    model=f"{CHATGPT}, temperature 0.7",
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
    "each K is a run of its own, in Algorithm 1's order: feedback in the model's words, at least one refinement, and"
    " the answer of Equation 5 from the whole history",
)

ASKED: Mapping[str, Any] = {"k": 5, "temperature": 0.7}


def rows(source: str, style: str, figures: Mapping[str, tuple[Figure, ...]]) -> tuple[Row, ...]:
    """The rows of one dataset's table, by their names in it."""
    return tuple(Row(name, (Printed(CHATGPT, line),), _work(source, style, name)) for name, line in figures.items())


def _work(source: str, style: str, name: str) -> Answers:
    asked = {**ASKED, "style": style, "prompt": "list" if style == "list" else "expert"}
    kind, rounds = name.split(", K=")
    if kind == "ChatGPT":
        return Answers(source, "vanilla", asked, QUESTIONS)
    if kind == "Intrinsic":
        return Answers(source, "self-refine", {**asked, "max_rounds": int(rounds)}, QUESTIONS)
    own = {"max_rounds": int(rounds), "stop": "after", "feedback": "model", "returns": "final"}
    return Answers(source, "a2r", {**asked, **own}, QUESTIONS, oracle=True)
