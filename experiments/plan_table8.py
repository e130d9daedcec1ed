"""Plan-based retrieval, Table 8: which text people find more fluent.

The paper's setting: 25 texts of each list of topics, three annotators, One-Retrieval against the plan, the order
hidden; shares in percent. Run `toulmin prefer` to ask somebody about runs of your own.
"""

from __future__ import annotations

from bench import main
from plan_study import study

EXPERIMENT = study(
    8,
    "fluency",
    (
        {
            "Researcher": (0, 100, 0),
            "Wiki-Ent": (4, 92, 4),
            "Wiki-Event": (4, 92, 4),
            "News Events": (8, 84, 8),
            "Avg": (4, 92, 4),
        },
        {
            "Researcher": (8, 71, 21),
            "Wiki-Ent": (8, 88, 4),
            "Wiki-Event": (4, 92, 4),
            "News Events": (4, 92, 4),
            "Avg": (6, 86, 8),
        },
    ),
)

if __name__ == "__main__":
    main(EXPERIMENT)
