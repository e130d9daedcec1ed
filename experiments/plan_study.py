"""What the plan paper's two tables of human preferences share (Appendix A.1.1).

Three annotators saw the texts of One-Retrieval and of the plan for the same topic, 25 a list, without their sources,
and said which was better or that they had no preference. Nobody is asked here: the rows hold the paper's figures, and
`toulmin prefer` puts the same question to a person about two runs of yours.
"""

from __future__ import annotations

from collections.abc import Mapping

from frame import Column, Experiment, Panel, Printed, Row, Setting
from plan_paper import BISON, UNICORN

COLUMNS = (
    Column("One-Retrieval", "first"),
    Column("no preference", "neither"),
    Column("Plan-based", "second"),
)
ASK = "it takes people: make two runs, and let somebody compare them with toulmin prefer (see below)"
# Both halves of the tables bear the name of the larger model; the text (A.1.1) speaks of two.
HALVES = (f"{UNICORN} (first half)", f"second half, headed {UNICORN} again; by A.1.1 it should be {BISON}")

_SETTING = Setting(
    model=f"{UNICORN}, and by the text {BISON}",
    judge="three people: two authors and a colleague",
    passages="results of a web search engine",
    sample="25 texts of each list of topics",
    prompts="which text is more fluent, and which has more distinct, relevant facts, true or not; the order hidden",
)
_HOW = (
    "two runs: toulmin run TOPICS.jsonl --out runs/one --method vanilla --style report --set inline=false --set"
    " prompt=plain, and toulmin run TOPICS.jsonl --out runs/plan --method plan --style report --set layout=one",
    "then: toulmin prefer runs/one runs/plan, which hides and shuffles the order and reports the shares of both"
    " questions",
)

Shares = tuple[int, int, int]


def _row(name: str, line: Shares) -> Row:
    return Row(name, (Printed("people", line),), absent=ASK)


def study(number: int, aspect: str, halves: tuple[Mapping[str, Shares], Mapping[str, Shares]]) -> Experiment:
    """One of the two tables: shares in percent, list by list, in the table's two halves."""
    return Experiment(
        name=f"plan_table{number}",
        title=f"Plan-based retrieval, Table {number}: {aspect}, as people see it",
        setting=_SETTING,
        sources={},
        ours=_HOW,
        panels=tuple(
            Panel(half, COLUMNS, tuple(_row(name, line) for name, line in rows.items()))
            for half, rows in zip(HALVES, halves, strict=True)
        ),
    )
