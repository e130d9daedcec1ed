"""What CaLM's tables share (Hsu et al. 2024, "Contrasting Large and Small Language Models to Verify Grounded
Generation", section 5): datasets, models, prompts, and the five methods with their parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frame import VERIFIER, Answers, Column, Figure, Printed, Row, Setting

GPT, UNICORN = "GPT-3.5-Turbo-1106", "text-unicorn"

# The paper's sample sizes (5.1 to 5.3).
QUESTIONS = {"asqa": 948, "qampari": 1000, "eli5": 1000}
STYLES = {"asqa": "long", "qampari": "list", "eli5": "long"}

SOURCES = {
    "asqa-dpr": "ASQA, 948 questions with their first 100 DPR passages (ALCE's asqa_eval_dpr_top100)",
    "asqa-gtr": "ASQA, 948 questions with their first 100 GTR passages (ALCE's asqa_eval_gtr_top100)",
    "qampari-dpr": "QAMPARI, 1,000 questions with their first 100 DPR passages (ALCE's qampari_eval_dpr_top100)",
    "qampari-gtr": "QAMPARI, 1,000 questions with their first 100 GTR passages (ALCE's qampari_eval_gtr_top100)",
    "eli5": "ELI5, 1,000 questions with their first 100 BM25 passages (ALCE's eli5_eval_bm25_top100)",
}

VERIFIED_BY = "tulu-2-dpo-13b"

SETTING = Setting(
    model=f"{GPT} and {UNICORN} (PaLM), one after the other",
    verifier=VERIFIED_BY,
    judge="TRUE (google/t5_xxl_true_nli_mixture, 11B), by ALCE's evaluator; MAUVE over GPT-2-large",
    passages="100-word passages: DPR and GTR-large over Wikipedia of 2018-12-20, BM25 over Sphere for ELI5",
    sample="948 questions of ASQA, 1,000 of QAMPARI, 1,000 of ELI5, as in ALCE",
    runs=3,
    prompts="ALCE's with 2 demonstrations; its own for corrections with 1 (Figures 7 to 12)",
    parameters="k = 5, at most 4 calls of the main model, threshold 0.5 (ASQA) and 0.25 (ELI5), none printed for"
    " QAMPARI; 9 summaries or snippets, 9 samples for USC; no temperature printed",
)

OURS = (
    "prompts: worded by us after ALCE's, with demonstrations of our own; ALCE's files can be named with --set"
    " prompts=FILE",
    "QAMPARI: answers are contrasted by the F1 of their entities above 0.5, where the paper says ROUGE-2 and no number",
    "differences to ICLCite, which the paper has in brackets beside its averages, are left out: they follow from these",
)

CITED = (Column("Citation Prec.", "citation_prec"), Column("Citation Rec.", "citation_rec"))
CALLS = (Column("main calls", "calls_main"), Column("verifier calls", "calls_verifier"))


def average(*columns: Column) -> Column:
    """The paper's last column: the plain mean of the quality columns."""
    return Column("Average", "average", tuple(column.metric for column in columns))


def _asked(source: str) -> tuple[str, dict[str, Any]]:
    """The dataset of a source, and how its questions are put."""
    dataset = source.partition("-")[0]
    style = STYLES[dataset]
    return dataset, {"style": style, "prompt": "list" if style == "list" else "cited", "shots": 2}


def methods(source: str) -> Mapping[str, Answers]:
    """The methods of Tables 2 to 4 by their names there."""
    dataset, asked = _asked(source)
    n = QUESTIONS[dataset]
    return {
        "ICLCite": Answers(source, "vanilla", {**asked, "k": 5}, n),
        "Summ + ICLCite": Answers(source, "summ", {**asked, "k": 9}, n),
        "Snippet + ICLCite": Answers(source, "snippet", {**asked, "k": 9}, n),
        "ICLCite + USC": Answers(source, "usc", {**asked, "k": 5, "n": 9}, n),
        "CaLM": calm(source),
    }


def calm(source: str, verifier: str = VERIFIER, **options: Any) -> Answers:
    """CaLM as the paper runs it, but for the options given."""
    dataset, asked = _asked(source)
    own = {**asked, "k": 5, "max_rounds": 4, "preset": dataset, **options}
    return Answers(source, "calm", own, QUESTIONS[dataset], verifier=verifier)


def rows(works: Mapping[str, Answers], figures: Mapping[str, tuple[tuple[Figure, ...], ...]]) -> tuple[Row, ...]:
    """A row for each method, with the figures that the paper prints of its two main models, in their order."""
    models = (GPT, UNICORN)
    return tuple(
        Row(name, tuple(Printed(by, line) for by, line in zip(models, lines, strict=True)), works[name])
        for name, lines in figures.items()
    )
