"""From which confidence on a reader's words answer a question of a plan: what variant B's `qa_threshold` is chosen by.

    python benchmarks/threshold.py [--reader embedded] [--most 250]

Short questions of `pool_questions` train, each searched for by BM25 in their gold passages and 6,000 others of
`pool_corpus`, and each passage read alone, as `plan` reads. Questions with a gold passage among the first three should
be answered; three passages that hold no gold answer should leave the question unanswered.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from data import rows
from headings import heading

from toulmin.build import parts
from toulmin.config import Settings
from toulmin.data import Passage
from toulmin.retrieval.bm25 import InMemory
from toulmin.text.overlap import normalise, token_f1

OTHERS, READ, SEED = 6_000, 3, 5
THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6)


class Words(NamedTuple):
    confidence: float
    is_right: bool


class Case(NamedTuple):
    """What was read for a question: in its first passages, and in those that do not answer it."""

    has_gold: bool
    first: list[Words]
    foreign: list[Words]


def cases(reader: Any, most: int) -> list[Case]:
    drawn = random.Random(SEED)
    asked = [row for row in rows("pool_questions", "train") if row["kind"] == "short"]
    drawn.shuffle(asked)
    asked = asked[:most]
    known = {id for row in asked for id in row["gold_passages"]}
    corpus = list(rows("pool_corpus"))
    others = [row for row in corpus if row["id"] not in known]
    drawn.shuffle(others)
    kept = [*(row for row in corpus if row["id"] in known), *others[:OTHERS]]
    passages = {row["id"]: Passage.of(row["text"], row["title"]) for row in kept}
    hits = InMemory(list(passages.values())).search([row["question"] for row in asked], READ + 1)
    return [
        case(reader, row, [hit.passage for hit in ranked], {passages[id].id for id in row["gold_passages"]})
        for row, ranked in zip(asked, hits, strict=True)
    ]


def case(reader: Any, row: dict[str, Any], ranked: list[Passage], gold: set[str]) -> Case:
    answers = [alias for aliases in row["answers"] for alias in aliases if normalise(alias)]
    foreign = [
        passage
        for passage in ranked
        if passage.id not in gold and not any(normalise(answer) in normalise(passage.text) for answer in answers)
    ]
    first = ranked[:READ]
    return Case(
        any(passage.id in gold for passage in first),
        read(reader, row["question"], first, answers),
        read(reader, row["question"], foreign[:READ], answers),
    )


def read(reader: Any, question: str, passages: Sequence[Passage], answers: Sequence[str]) -> list[Words]:
    spans = reader.read([(question, (passage,)) for passage in passages])
    return [Words(span.confidence, is_right(span.quote.text, answers)) for span in spans if span]


def is_right(words: str, answers: Sequence[str]) -> bool:
    return any(token_f1(words, answer) >= 0.5 or normalise(answer) in normalise(words) for answer in answers)


def share(of: Sequence[Sequence[Words]], least: float, *, right: bool = False) -> float:
    """Of how many questions some words are sure enough, and right if asked."""
    return sum(any(w.confidence >= least and (w.is_right or not right) for w in each) for each in of) / len(of)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", default="embedded", help="as `toulmin --set reader=` names it")
    parser.add_argument("--most", type=int, default=250, help="questions")
    options = parser.parse_args()
    every = cases(parts.reader(options.reader, Settings()), options.most)
    able, foreign = [each.first for each in every if each.has_gold], [each.foreign for each in every]
    print(heading("threshold.py", f"{len(every)} questions of train, {len(able)} with a gold passage; of 100."))
    print("threshold  answered  rightly  silent  balanced")
    for least in THRESHOLDS:
        answered, silent = share(able, least), 1 - share(foreign, least)
        figures = (100 * answered, 100 * share(able, least, right=True), 100 * silent, 50 * (answered + silent))
        print("{:>9.2f}{:>10.1f}{:>9.1f}{:>8.1f}{:>10.1f}".format(least, *figures))
    print("```")


if __name__ == "__main__":
    main()
