"""What VTG's tables share (Sun et al. 2024, "Towards Verifiable Text Generation with Evolving Memory and
Self-Reflection", section 3, Appendices A to E): datasets, models, metrics, methods and their parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frame import Answers, Column, Figure, Printed, Row, Setting

VICUNA, DAVINCI = "Vicuna-13B-v1.5-16k", "Text-Davinci-003"

# Table 5: examples by model, the same number of every dataset.
QUESTIONS = {VICUNA: 500, DAVINCI: 200}
# Columns of the paper's Tables 6 and 7, which `vtg` knows as presets.
PRESET = {VICUNA: "vicuna", DAVINCI: "davinci"}
STYLES = {"2wiki": "short", "webq": "short", "nq": "short", "asqa": "long", "eli5": "long"}

SOURCES = {
    "2wiki": "2WikiMultihopQA (the paper's tables head it Wikihop), over DPR's Wikipedia passages",
    "webq": "WebQ, over DPR's Wikipedia passages",
    "nq": "Natural Questions, over DPR's Wikipedia passages",
    "asqa-dpr": "ASQA, over DPR's Wikipedia passages",
    "eli5": "ELI5, over DPR's Wikipedia passages",
}

SETTING = Setting(
    model=f"{VICUNA} and {DAVINCI} (completions, October 2023), one after the other",
    judge="TRUE (google/t5_xxl_true_nli_mixture, 11B), as the verifier and for the metrics",
    passages="DPR over Wikipedia of 2018-12-20",
    sample=f"500 questions a dataset with {VICUNA}, 200 with {DAVINCI}",
    prompts="Appendix E; the baselines' with several demonstrations, their number not printed",
    parameters="k = 5, 10 passages for Summ and Snippet, 4 samples for Rerank at high temperature; VTG's T, M and N by"
    " dataset and model (Tables 6 and 7)",
)

OURS = (
    "prompts: worded by us after Appendix E; the baselines have the preset `simple`",
    "the paper does not say which 500 or 200 questions: here the first of the file",
    "short answers: VTG writes and verifies sentences, then asks for the answer proper, which is scored (a choice of"
    " ours; the paper says only that models are prompted for the final answer)",
    "Rerank's high temperature is 1.0",
)

CITED = (
    Column("Citation Rec", "citation_rec"),
    Column("Citation Prec", "citation_prec"),
    Column("Citation F1", "citation_f1"),
)
SHORT_EM = Column("EM", "em")
SHORT_F1 = Column("F1", "token_f1")

BASELINES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "Vanilla": ("vanilla", {"k": 5}),
    "Summ": ("summ", {"k": 10}),
    "Snippet": ("snippet", {"k": 10}),
    "Rerank": ("rerank", {"k": 5, "n": 4, "temperature": 1.0, "by": "cited"}),
}
METHODS = (*BASELINES, "VTG")


def work(source: str, model: str, name: str, **options: Any) -> Answers:
    """What a row of Tables 1 and 2 does: the method of that name on a dataset, with a model's sample and settings."""
    dataset = source.partition("-")[0]
    asked = {"style": STYLES[dataset], "prompt": "simple"}
    if name in BASELINES:
        method, own = BASELINES[name]
    else:
        method, own = "vtg", {"preset": f"{dataset}-{PRESET[model]}"}
    return Answers(source, method, {**asked, **own, **options}, QUESTIONS[model])


def rows(source: str, model: str, figures: Mapping[str, tuple[Figure, ...]]) -> tuple[Row, ...]:
    """A row for each method on one dataset with one model of the paper."""
    return tuple(Row(name, (Printed(model, line),), work(source, model, name)) for name, line in figures.items())
