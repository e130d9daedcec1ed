"""Questions that lean on the turns before, made to stand alone by our rules: as people do it, and for a search.

    python benchmarks/followups.py [--split dev] [--show 20]

* Token F1 to people's rewrites, beside the question as it is and the question with the last one put before it.
* Cooking dialogues: a gold line of the recipe among ten lines of all recipes, beside the question as it is and the
  question with the title of its recipe, which is what somebody would ask who had no dialogue. The share of the gap
  between these two that is closed is the figure.
* Questions over a folder that each stand alone, asked one after another: how many are changed, which none should be.

Rules are chosen on `train`, figures are of `dev`. `--show` prints what becomes of some questions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import data
from headings import heading

from toulmin.data import Hit, Passage
from toulmin.methods.following import merge
from toulmin.metrics.short_answers import agreement
from toulmin.retrieval.bm25 import InMemory
from toulmin.text.followup import Turn, read

REWRITTEN = ("qa_canard", "qa_cast_rewrite", "qa_mtrag_rewrite")
K = 10
Row = dict[str, Any]
Way = Callable[[Row], str]


def turns(row: Row) -> list[Turn]:
    """The turns before: questions alone, or questions and answers in turn (in CANARD two titles come first)."""
    texts = row["history"] or []
    if row["meta"].get("history_is") == "user turns only":
        return [Turn(text) for text in texts]
    return [Turn(*texts[place : place + 2]) for place in range(0, len(texts), 2)]


def as_typed(row: Row) -> str:
    return str(row["question"])


def with_last(row: Row) -> str:
    return " ".join([*[turn.question for turn in turns(row)[-1:]], as_typed(row)])


def by_rules(row: Row) -> str:
    return read(as_typed(row), turns(row)).question


def with_title(row: Row) -> str:
    return f"{as_typed(row)} {row['passages'][0]['title']}"


WAYS: dict[str, Way] = {"as typed": as_typed, "with the last before it": with_last, "by our rules": by_rules}


# ---------------------------------------------------------------- rewrites


def f1(rows: Sequence[Row], way: Way) -> float:
    return fmean(agreement(way(row), [row["rewrite"]]).tokens.fmeasure for row in rows)


def measure_rewrites(split: str) -> None:
    for name in REWRITTEN:
        rows = list(data.rows(name, split))
        figures = "  ".join(f"{label} {f1(rows, way):.3f}" for label, way in WAYS.items())
        print(f"token F1, {name} ({len(rows)}): {figures}")


def show(split: str, count: int) -> None:
    for name in (*REWRITTEN, "qa_cookdial"):
        rows = list(data.rows(name, split))
        for row in rows[:: max(1, len(rows) // count)]:
            print(f"{turns(row)[-1:]}\n  {row['question']}\n  {by_rules(row)}\n  {row['rewrite']}")


# ---------------------------------------------------------------- recipes


def recipe_lines() -> list[Passage]:
    texts = {row["passages"][0]["text"]: row["passages"][0]["title"] for row in data.rows("qa_cookdial")}
    lines = (Passage.of(line, title) for text, title in texts.items() for line in text.split("\n"))
    return list({line.id: line for line in lines}.values())


def finds(search: InMemory, rows: Sequence[Row], way: Way) -> float:
    """The share of questions with a gold line among the first ten."""
    return share_of_gold(rows, search.search([way(row) for row in rows], K))


def share_of_gold(rows: Sequence[Row], hits: Sequence[Sequence[Hit]]) -> float:
    return fmean(not _gold(row).isdisjoint(hit.passage.id for hit in ten) for row, ten in zip(rows, hits, strict=True))


def follow_hits(search: InMemory, rows: Sequence[Row]) -> list[list[Hit]]:
    """The hits that an answer gets, for some questions with those of what was said before."""
    readings = [read(as_typed(row), turns(row)) for row in rows]
    alone = search.search([reading.question for reading in readings], K)
    wider = search.search([f"{reading.question} {reading.context}" for reading in readings], K)
    return [
        list(merge(hits, more, K)) if reading.context else hits
        for reading, hits, more in zip(readings, alone, wider, strict=True)
    ]


def _gold(row: Row) -> set[str]:
    recipe = row["passages"][0]
    return {Passage.of(recipe["text"][start:end], recipe["title"]).id for _, start, end in row["answer_sentences"]}


def measure_recipes(split: str) -> None:
    search = InMemory(recipe_lines())
    rows = [row for row in data.rows("qa_cookdial", split) if row["history"]]
    ways = {"as typed": as_typed, "with the last before it": with_last, "with its title": with_title}
    shares = {label: finds(search, rows, way) for label, way in ways.items()}
    shares["by our rules"] = share_of_gold(rows, follow_hits(search, rows))
    print(f"gold line in {K}, qa_cookdial ({len(rows)}): " + "  ".join(f"{k} {v:.3f}" for k, v in shares.items()))
    gap = shares["with its title"] - shares["as typed"]
    print(f"share of the gap closed: {(shares['by our rules'] - shares['as typed']) / gap:.2f}")


# ---------------------------------------------------------------- questions that stand alone


def measure_changes() -> None:
    questions = [row["question"] for row in data.rows("folder_questions")]
    before = [[Turn(text) for text in questions[max(0, n - 3) : n]] for n in range(len(questions))]
    changed = [q for q, turns_ in zip(questions, before, strict=True) if read(q, turns_).question != q]
    print(f"questions that stand alone, changed: {len(changed)} of {len(questions)}")
    print(*changed, sep="\n", end="\n" if changed else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=("train", "dev"), default="dev")
    parser.add_argument("--show", type=int, default=0)
    chosen = parser.parse_args()
    print(heading("followups.py", f"{chosen.split} parts."))
    measure_rewrites(chosen.split)
    measure_recipes(chosen.split)
    measure_changes()
    if chosen.show:
        show(chosen.split, chosen.show)
    print("```")


if __name__ == "__main__":
    main()
