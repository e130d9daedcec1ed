"""Plan-based retrieval, Table 9: which text people find more informative.

The paper's setting: 25 texts of each list of topics, three annotators, One-Retrieval against the plan, the order
hidden; shares in percent. The table calls the list of News Events Curr-Event. Run `toulmin prefer` to ask somebody
about runs of your own.
"""

from __future__ import annotations

from bench import main
from plan_study import study

EXPERIMENT = study(
    9,
    "informativeness",
    (
        {
            "Researcher": (24, 28, 48),
            "Wiki-Ent": (20, 44, 36),
            "Wiki-Event": (17, 8, 75),
            "Curr-Event": (8, 32, 60),
            "Avg": (17, 28, 55),
        },
        {
            "Researcher": (16, 24, 60),
            "Wiki-Ent": (36, 4, 60),
            "Wiki-Event": (20, 48, 32),
            "Curr-Event": (0, 36, 64),
            "Avg": (18, 28, 54),
        },
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
