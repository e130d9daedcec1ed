"""CaLM, Table 4: the methods on ELI5.

The paper's setting: 1,000 questions of ELI5, BM25 over Sphere; main models GPT-3.5-Turbo-1106 and text-unicorn,
verifier tulu-2-dpo-13b; k = 5, at most 4 main calls, threshold 0.25; 9 summaries or snippets, 9 samples for USC; ALCE's
prompts with 2 demonstrations, corrections with 1; means of three runs. Fluency is MAUVE, correctness the recall of
three gold claims by TRUE. One average, of Summ + ICLCite with GPT-3.5, is not that of its columns, which make 27.65
where 26.40 is printed.
"""

from __future__ import annotations

from bench import main
from calm_paper import CITED, OURS, SETTING, SOURCES, average, methods, rows
from frame import Column, Experiment, Panel

QUALITY = (Column("MAUVE", "mauve"), Column("Claim", "claims_nli"), *CITED)

EXPERIMENT = Experiment(
    name="calm_table4",
    title="CaLM, Table 4: ELI5",
    setting=SETTING,
    sources={"eli5": SOURCES["eli5"]},
    ours=OURS,
    panels=(
        Panel(
            "BM25 as retriever",
            (*QUALITY, average(*QUALITY)),
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

if __name__ == "__main__":
    main(EXPERIMENT)
