"""What the plan paper's tables share (Godbole et al. 2024, "Analysis of Plan-based Retrieval for Grounded Text
Generation", section 4): topics, models, metrics, methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from frame import Answers, Column, Figure, Printed, Row, Setting

BISON, UNICORN, MISTRAL = "text-bison-001", "text-unicorn-001", "Mistral-7B-Instruct-v0.3"

# Section 4.1.
TOPICS = {"wiki-event": 233, "wiki-ent": 81, "researcher": 106, "news-events": 52}
KINDS = {"wiki-event": "event", "wiki-ent": "person", "researcher": "person", "news-events": "event"}
TITLES = {
    "wiki-event": "Wiki-Event",
    "wiki-ent": "Wiki-Ent",
    "researcher": "Researcher",
    "news-events": "News Events",
}

SOURCES = {
    "wiki-event": "233 names of events of WEC's validation set, searched for on the web",
    "wiki-ent": "81 names of people that have a Wikipedia page (of FActScore's list), searched for on the web",
    "researcher": "106 names of organisers of four scientific meetings of 2023, searched for on the web",
    "news-events": "52 events that began in August 2023, searched for on the web",
}

SETTING = Setting(
    model=f"{BISON} and {UNICORN}",
    judge="TRUE (google/t5_xxl_true_nli_mixture, 11B)",
    passages="results of a web search engine; how many a search (K) is not printed",
    sample="topics: 233 Wiki-Event, 81 Wiki-Ent, 106 Researcher, 52 News Events",
    runs=3,
    prompts="its Appendix A.2, without demonstrations",
    parameters="nucleus sampling, its numbers not printed; the reader of variant B and its threshold are not named",
)

OURS = (
    "prompts: worded by us after Appendix A.2",
    "K = 5 for the first search, 3 passages a question, threshold 0.5 for the reader (the paper prints none of them)",
    "the text is asked for without citations in every row, as in the paper; the metrics do not read any",
    "a topic with a word to tell it apart is the question itself: Gerhard Fischer (inventor)",
)

AIS = (Column("AIS strict", "ais_strict"), Column("macro", "ais_macro"), Column("micro", "ais_micro"))
ROUGE = (
    Column("R1 prec.", "rouge1_precision"),
    Column("R2 prec.", "rouge2_precision"),
    Column("RL prec.", "rougeLsum_precision"),
)
LENGTH = Column("words", "length")
COLUMNS = (*AIS, *ROUGE, LENGTH)
SHORTER = (*AIS, *ROUGE[1:], LENGTH)  # Tables 3 and 5 leave ROUGE-1 out

_ASKED: Mapping[str, Any] = {"style": "report"}  # the style whose scores hold AIS
_UNCITED: Mapping[str, Any] = {**_ASKED, "inline": False, "prompt": "plain"}
_PLANNED: Mapping[str, Any] = {**_ASKED, "k": 5, "layout": "one", "merge_questions": False}
METHODS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "No Retrieval": ("closed", {**_ASKED, "k": 5, "attribute": True, "prompt": "plain"}),
    "One-Retrieval": ("vanilla", {**_UNCITED, "k": 5}),
    "One-Retrieval (2x snippets)": ("vanilla", {**_UNCITED, "k": 10}),
    "Plan-based (Var.A)": ("plan", {**_PLANNED, "variant": "A"}),
    "Plan-based (Var.B)": ("plan", {**_PLANNED, "variant": "B"}),
}


def work(source: str, name: str, **options: Any) -> Answers:
    """A method on a list of topics, with options of its own."""
    method, own = METHODS[name]
    kind = {"kind": KINDS[source]} if method == "plan" else {}
    return Answers(source, method, {**own, **kind, **options}, TOPICS[source], profile="honest")


def rows(source: str, model: str, figures: Mapping[str, Sequence[Figure]]) -> tuple[Row, ...]:
    """A row for each method on one list of topics."""
    return tuple(Row(name, (Printed(model, tuple(line)),), work(source, name)) for name, line in figures.items())
