"""CaLM's tables and figures (Hsu et al. 2024, "Contrasting Large and Small Language Models to Verify Grounded
Generation", section 5), with the datasets, models, prompts and methods that they share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from calm_figure2 import FAMILIES, LEVELS, SOURCE, figures_of_family
from frame import MAIN, VERIFIER, Answers, Column, Experiment, Figure, Panel, PaperLine, Row, Setting

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
TULU = ("tulu-2-dpo-7b", "tulu-2-dpo-13b", "tulu-2-dpo-70b")

SETTING = Setting(
    model=f"{GPT} and {UNICORN} (PaLM), one after the other",
    verifier=VERIFIED_BY,
    judge="TRUE (google/t5_xxl_true_nli_mixture, 11B), by ALCE's evaluator; MAUVE over GPT-2-large",
    passages="100-word passages: DPR and GTR-large over Wikipedia of 2018-12-20, BM25 over Sphere for ELI5",
    sample="948 questions of ASQA, 1,000 of QAMPARI, 1,000 of ELI5, as in ALCE",
    runs=3,
    prompts="ALCE's with 2 demonstrations; its own for corrections with 1 (Figures 7 to 12)",
    parameters="k = 5, at most 4 calls of the main model, threshold 0.5 (ASQA) and 0.25 (ELI5), none printed for"
    " QAMPARI; 9 summaries or snippets, 9 samples for USC",
)

OURS = (
    "prompts: what its Figures 7 to 12 say, in our words (experiments/papers.toml), with demonstrations of our own; a"
    " verbatim copy, or one of ALCE's files, is taken whole: --set prompts=FILE",
    "QAMPARI: answers are contrasted by the F1 of their entities above 0.5, where the paper says ROUGE-2 and no number",
    "differences to ICLCite, which the paper has in brackets beside its averages, are left out: they follow from these",
)

CITED = (Column("Citation Prec.", "citation_prec"), Column("Citation Rec.", "citation_rec"))
CALLS = (Column("main calls", "calls_main"), Column("verifier calls", "calls_verifier"))
LONG = (Column("MAUVE", "mauve"), Column("EM Rec.", "str_em"), *CITED)
CLAIMS = (Column("MAUVE", "mauve"), Column("Claim", "claims_nli"), *CITED)
LISTS = (Column("Prec.", "qampari_prec"), Column("Rec.-5", "qampari_rec_top5"), *CITED)
MOST = ("at most 4", "at most 3")

DPR, GTR = "DPR as retriever", "GTR as retriever"


def with_average(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The quality columns and the paper's last one, their plain mean."""
    return (*columns, Column("Average", "average", tuple(column.metric for column in columns)))


def question_options(source: str) -> dict[str, Any]:
    """How the questions of a dataset are put."""
    style = STYLES[source.partition("-")[0]]
    return {"style": style, "prompt": "list" if style == "list" else "cited", "shots": 2}


def methods(source: str) -> Mapping[str, Answers]:
    """The methods of Tables 2 to 4 by their names there."""
    asked, n = question_options(source), QUESTIONS[source.partition("-")[0]]
    return {
        "ICLCite": Answers(source, "vanilla", {**asked, "k": 5}, n),
        "Summ + ICLCite": Answers(source, "summ", {**asked, "k": 9}, n),
        "Snippet + ICLCite": Answers(source, "snippet", {**asked, "k": 9}, n),
        "ICLCite + USC": Answers(source, "usc", {**asked, "k": 5, "n": 9}, n),
        "CaLM": calm(source),
    }


def calm(source: str, verifier: str = VERIFIER, **options: Any) -> Answers:
    """CaLM as the paper runs it, but for the options given."""
    dataset = source.partition("-")[0]
    settings = {**question_options(source), "k": 5, "max_rounds": 4, "preset": dataset, **options}
    return Answers(source, "calm", settings, QUESTIONS[dataset], verifier=verifier)


def rows(works: Mapping[str, Answers], figures: Mapping[str, tuple[tuple[Figure, ...], ...]]) -> tuple[Row, ...]:
    """A row for each method, with the figures that the paper prints of its two main models, in their order."""
    models = (GPT, UNICORN)
    return tuple(
        Row(name, tuple(PaperLine(by, line) for by, line in zip(models, lines, strict=True)), works[name])
        for name, lines in figures.items()
    )


def self_rag(size: str, *figures: float) -> Row:
    """A row of Self-RAG, which needs its own model and the probabilities of its tokens."""
    work = Answers("asqa-gtr", "self-rag", {"style": "long", "k": 10}, 948, model=f"self-rag-{size}")
    return Row(f"Self-RAG ({size.upper()})", (PaperLine("its paper", (None, None, *figures)),), work)


def sources(*names: str) -> Mapping[str, str]:
    return {name: SOURCES[name] for name in names}


TABLE2 = Experiment(
    name="calm_table2",
    title="CaLM, Table 2: ASQA",
    about="The methods with DPR's and with GTR's passages. The paper's setting: 948 questions of ASQA; main models"
    " GPT-3.5-Turbo-1106 and text-unicorn, verifier tulu-2-dpo-13b; k = 5, at most 4 main calls, threshold 0.5; 9"
    " summaries or snippets, 9 samples for USC; ALCE's prompts with 2 demonstrations, corrections with 1; means of"
    " three runs. Self-RAG's figures are those of its own paper (ten passages of Contriever). Fluency is MAUVE,"
    " correctness the recall of exact short answers, citations are judged by TRUE. Two averages of CaLM with GPT-3.5"
    " are not those of their columns, which make 65.22 where 64.71 is printed, and 69.90 for 68.98.",
    setting=SETTING,
    sources=sources("asqa-dpr", "asqa-gtr"),
    members={
        "self-rag-7b": "Self-RAG 7B, a Llama-2 trained with reflection tokens, served with probabilities of tokens",
        "self-rag-13b": "Self-RAG 13B, likewise",
    },
    ours=(*OURS, "Self-RAG: the ten passages of its paper came from Contriever, ours are those of the GTR file"),
    panels=(
        Panel(
            DPR,
            (*CALLS, *with_average(LONG)),
            rows(
                methods("asqa-dpr"),
                {
                    "ICLCite": (
                        (1, None, 74.73, 39.32, 67.36, 69.48, 62.72),
                        (1, None, 62.01, 37.09, 62.42, 60.35, 55.46),
                    ),
                    "Summ + ICLCite": (
                        (10, None, 48.95, 29.30, 60.14, 54.52, 48.23),
                        (10, None, 63.21, 38.67, 52.41, 59.45, 53.43),
                    ),
                    "Snippet + ICLCite": (
                        (10, None, 48.56, 29.48, 59.52, 53.84, 47.85),
                        (10, None, 59.03, 37.69, 54.62, 59.44, 52.69),
                    ),
                    "ICLCite + USC": (
                        (10, None, 77.50, 40.71, 61.20, 64.07, 60.87),
                        (10, None, 57.92, 37.16, 62.05, 60.00, 54.28),
                    ),
                    "CaLM": ((*MOST, 81.35, 43.56, 66.00, 69.95, 64.71), (*MOST, 77.18, 42.24, 63.71, 64.99, 62.03)),
                },
            ),
        ),
        Panel(
            GTR,
            (*CALLS, *with_average(LONG)),
            (
                *rows(
                    methods("asqa-gtr"),
                    {
                        "ICLCite": (
                            (1, None, 71.85, 41.92, 73.14, 77.90, 66.20),
                            (1, None, 63.25, 39.83, 69.39, 67.98, 60.11),
                        ),
                        "Summ + ICLCite": (
                            (10, None, 68.01, 41.11, 66.04, 74.43, 62.40),
                            (10, None, 75.68, 42.65, 61.18, 68.91, 62.11),
                        ),
                        "Snippet + ICLCite": (
                            (10, None, 68.84, 39.89, 62.05, 71.06, 60.46),
                            (10, None, 72.50, 40.97, 60.88, 68.02, 60.59),
                        ),
                        "ICLCite + USC": (
                            (10, None, 77.31, 42.75, 67.08, 71.64, 64.69),
                            (10, None, 63.27, 40.75, 68.90, 67.60, 60.13),
                        ),
                        "CaLM": (
                            (*MOST, 83.98, 45.01, 72.59, 78.03, 68.98),
                            (*MOST, 82.08, 44.21, 70.55, 72.37, 67.30),
                        ),
                    },
                ),
                self_rag("7b", 74.3, 30.0, 66.9, 67.8, 59.8),
                self_rag("13b", 71.6, 31.7, 70.3, 71.3, 61.2),
            ),
        ),
    ),
)

TABLE3 = Experiment(
    name="calm_table3",
    title="CaLM, Table 3: QAMPARI",
    about="The methods with DPR's and with GTR's passages. The paper's setting: 1,000 questions of QAMPARI; main"
    " models GPT-3.5-Turbo-1106 and text-unicorn, verifier tulu-2-dpo-13b; k = 5, at most 4 main calls, no threshold"
    " printed; 9 summaries or snippets, 9 samples for USC; ALCE's list prompts with 2 demonstrations, corrections with"
    " 1 (a comment of 150 words, then the final answer); means of three runs. Correctness is exact entities:"
    ' precision, and recall of at least five. The paper prints "16.19 (+0.95" without its bracket, and -2.02 where'
    " USC's average of 9.42 is 2.32 below ICLCite's; the averages are taken.",
    setting=SETTING,
    sources=sources("qampari-dpr", "qampari-gtr"),
    ours=OURS,
    panels=(
        Panel(
            DPR,
            (*CALLS, *with_average(LISTS)),
            rows(
                methods("qampari-dpr"),
                {
                    "ICLCite": (
                        (1, None, 12.47, 10.28, 12.60, 11.62, 11.74),
                        (1, None, 17.06, 12.55, 15.77, 15.59, 15.24),
                    ),
                    "Summ + ICLCite": (
                        (10, None, 6.65, 4.97, 10.56, 9.43, 7.90),
                        (10, None, 18.61, 15.17, 15.61, 15.36, 16.19),
                    ),
                    "Snippet + ICLCite": (
                        (10, None, 11.67, 7.87, 14.14, 12.64, 11.58),
                        (10, None, 18.81, 15.11, 16.10, 15.83, 16.46),
                    ),
                    "ICLCite + USC": (
                        (10, None, 9.88, 8.36, 10.14, 9.28, 9.42),
                        (10, None, 17.04, 12.47, 15.81, 15.62, 15.24),
                    ),
                    "CaLM": ((*MOST, 17.65, 13.61, 13.93, 12.99, 14.55), (*MOST, 19.62, 16.71, 15.90, 15.95, 17.05)),
                },
            ),
        ),
        Panel(
            GTR,
            (*CALLS, *with_average(LISTS)),
            rows(
                methods("qampari-gtr"),
                {
                    "ICLCite": (
                        (1, None, 19.23, 17.32, 21.75, 20.77, 19.77),
                        (1, None, 26.27, 21.42, 25.52, 25.21, 24.61),
                    ),
                    "Summ + ICLCite": (
                        (10, None, 15.06, 13.10, 21.89, 21.00, 17.76),
                        (10, None, 27.11, 26.14, 24.61, 24.98, 25.71),
                    ),
                    "Snippet + ICLCite": (
                        (10, None, 20.48, 17.18, 25.45, 23.91, 21.76),
                        (10, None, 27.26, 25.07, 25.96, 25.55, 25.96),
                    ),
                    "ICLCite + USC": (
                        (10, None, 14.07, 12.45, 17.34, 16.60, 15.12),
                        (10, None, 26.34, 22.10, 25.48, 25.19, 24.78),
                    ),
                    "CaLM": ((*MOST, 26.71, 18.55, 25.16, 24.39, 23.70), (*MOST, 30.28, 22.79, 28.53, 28.34, 27.49)),
                },
            ),
        ),
    ),
)

TABLE4 = Experiment(
    name="calm_table4",
    title="CaLM, Table 4: ELI5",
    about="The methods. The paper's setting: 1,000 questions of ELI5, BM25 over Sphere; main models GPT-3.5-Turbo-1106"
    " and text-unicorn, verifier tulu-2-dpo-13b; k = 5, at most 4 main calls, threshold 0.25; 9 summaries or snippets,"
    " 9 samples for USC; ALCE's prompts with 2 demonstrations, corrections with 1; means of three runs. Fluency is"
    " MAUVE, correctness the recall of three gold claims by TRUE. One average, of Summ + ICLCite with GPT-3.5, is not"
    " that of its columns, which make 27.65 where 26.40 is printed.",
    setting=SETTING,
    sources=sources("eli5"),
    ours=OURS,
    panels=(
        Panel(
            "BM25 as retriever",
            with_average(CLAIMS),
            rows(
                methods("eli5"),
                {
                    "ICLCite": ((25.33, 12.90, 44.63, 49.34, 33.05), (35.82, 12.21, 35.35, 32.05, 28.86)),
                    "Summ + ICLCite": ((17.86, 10.67, 38.81, 43.26, 26.40), (34.57, 11.74, 35.54, 35.02, 29.22)),
                    "Snippet + ICLCite": ((25.30, 12.06, 35.49, 41.35, 28.55), (47.43, 13.51, 34.37, 33.00, 32.08)),
                    "ICLCite + USC": ((25.04, 12.16, 34.87, 39.60, 27.92), (31.42, 12.29, 34.90, 31.66, 27.57)),
                    "CaLM": ((25.84, 12.92, 46.55, 51.90, 34.30), (37.06, 11.95, 46.26, 43.60, 34.72)),
                },
            ),
        ),
    ),
)

TABLE5 = Experiment(
    name="calm_table5",
    title="CaLM, Table 5: the choice of the verifier, QAMPARI",
    about="Which model verifies. The paper's setting: as Table 3 with GTR; main models GPT-3.5-Turbo-1106 and"
    " text-unicorn, and as the verifier tulu-2-dpo of 7, 13 and 70 billion parameters or the main model itself;"
    " without verification it is ICLCite. Name the verifiers with --member, for example --member"
    " tulu-2-dpo-7b=openai:tulu-2-dpo-7b.",
    setting=SETTING,
    sources=sources("qampari-gtr"),
    members={name: f"a verifier, the paper's {name}" for name in TULU},
    ours=OURS,
    panels=(
        Panel(
            GTR,
            with_average(LISTS),
            rows(
                {
                    "No verification": methods("qampari-gtr")["ICLCite"],
                    **{name: calm("qampari-gtr", verifier=name) for name in TULU},
                    "the main model": calm("qampari-gtr", verifier=MAIN),
                },
                {
                    "No verification": ((19.23, 17.32, 21.75, 20.77, 19.77), (26.27, 21.42, 25.52, 25.21, 24.61)),
                    "tulu-2-dpo-7b": ((25.36, 17.95, 24.29, 23.64, 22.81), (29.71, 21.80, 27.67, 27.45, 26.65)),
                    "tulu-2-dpo-13b": ((26.71, 18.55, 25.16, 24.39, 23.70), (30.28, 22.79, 28.53, 28.34, 27.49)),
                    "tulu-2-dpo-70b": ((25.61, 18.69, 23.64, 23.57, 22.88), (28.94, 22.61, 27.06, 26.88, 26.37)),
                    "the main model": ((24.39, 18.36, 22.94, 22.30, 22.00), (29.73, 23.44, 28.01, 27.54, 27.18)),
                },
            ),
        ),
    ),
)

TABLE6 = Experiment(
    name="calm_table6",
    title="CaLM, Table 6: what the verifier reads, QAMPARI",
    about="The paper's setting: as Table 3 with GTR, main model text-unicorn, verifier tulu-2-dpo-13b; the verifier"
    ' reads only what the main model cited, or all that the main model read (`verifier_reads="all"`).',
    setting=replace(SETTING, model=UNICORN),
    sources=sources("qampari-gtr"),
    ours=OURS,
    panels=(
        Panel(
            GTR,
            with_average(LISTS),
            tuple(
                Row(name, (PaperLine(UNICORN, line),), calm("qampari-gtr", **options))
                for name, options, line in (
                    ("Only cited documents", {}, (30.28, 22.79, 28.53, 28.34, 27.49)),
                    ("Same as the main LM", {"verifier_reads": "all"}, (28.19, 23.26, 25.22, 25.65, 25.58)),
                )
            ),
        ),
    ),
)

FIGURE2 = Experiment(
    name="calm_figure2",
    title="CaLM, Figure 2: sensitivity to the recall of the passages, ASQA",
    about="How much more a model gains from better passages the smaller it is. The paper's setting (3.3): ASQA, five"
    " passages a question in three sets that hold 27, 56 and 78 % of the answers; the families Yi-LM, Vicuna, WizardLM"
    " and Tulu-2-dpo, each model beside the largest of its family; accuracy is the recall of exact short answers."
    " Figure 2b is the relative improvement, Figure 2c (P_high - P_med) / (P_med - P_low). The bars and the sizes of"
    " the models are drawn and not printed. Name the models of a family with their sizes: --member Tulu-2-dpo/7=SPEC"
    " --member Tulu-2-dpo/70=SPEC. The questions are those whose passages hold all answers, so that each level of"
    " recall can be met.",
    setting=Setting(
        model="Yi-LM, Vicuna, WizardLM and Tulu-2-dpo, several sizes of each",
        judge="none: accuracy is the recall of exact short answers",
        passages="five a question, in three sets with answer recalls of 27, 56 and 78 %",
        sample="questions of ASQA, their number not printed",
        prompts="its generation prompt (Figure 7)",
        parameters="no formula is printed for the relative improvement",
    ),
    sources={SOURCE: "ASQA with many passages a question"},
    members={f"{family}/SIZE": f"a model of the family {family}" for family in FAMILIES},
    says=(
        "the figure's bars are not printed as numbers",
        "within a family smaller models usually have the larger relative improvement and the larger second-order gain"
        " (section 3.3)",
    ),
    ours=(
        "relative improvement: the gain from low to high as a part of low",
        "sets: chosen question by question so that their average recalls come near the paper's",
        "questions: only those whose passages hold all their answers, so that each level of recall can be met",
    ),
    panels=(
        Panel(
            "by family: the largest model, and the mean of the smaller ones",
            (
                Column("models", "models"),
                Column("(b) largest", "improvement_largest"),
                Column("(b) smaller", "improvement_smaller"),
                Column("(c) largest", "gain_largest"),
                Column("(c) smaller", "gain_smaller"),
                *(Column(f"recall, {level}", f"recall_{level}") for level in LEVELS),
            ),
            tuple(Row(family, (), partial(figures_of_family, family)) for family in FAMILIES),
        ),
    ),
)

FIGURE4 = Experiment(
    name="calm_figure4",
    title="CaLM, Figure 4: corrections, QAMPARI",
    about="Quality after 0 to 6 corrections. The paper's setting: as Table 3, main model GPT-3.5-Turbo-1106, verifier"
    " tulu-2-dpo-13b; the rounds end after n corrections (n + 1 calls of the main model). The points are drawn and not"
    " printed; which passages, DPR's or GTR's, the caption does not say: GTR's, as in the paper's other analyses"
    " (6.2).",
    setting=replace(SETTING, model=GPT),
    sources=sources("qampari-gtr"),
    says=(
        "the figure's points are not printed as numbers",
        "correctness rises with each correction, in precision and in recall (Appendix A)",
        "six corrections are 0.4 on average above three, and little is gained after the third (Appendix A)",
    ),
    ours=OURS,
    panels=(
        Panel(
            GTR,
            (*CALLS, *with_average(LISTS)),
            tuple(Row(f"{n} corrections", (), calm("qampari-gtr", corrections=n)) for n in range(7)),
        ),
    ),
)

EXPERIMENTS = (TABLE2, TABLE3, TABLE4, TABLE5, TABLE6, FIGURE2, FIGURE4)
