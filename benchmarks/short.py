"""Short answers of the product: how often words are given in place of a sentence, and how often these are right.

    python benchmarks/short.py [--most 200] [--split dev]

`toulmin.ask` with style short over the passages that come with a question: ten paragraphs of `qa_hotpotqa`, where the
answer may be absent, and the one of `qa_nq_gold`. Words are right if their F1 with an answer is at least a half. A
sentence that is given instead counts as not given; beside it stands how many of these hold an answer. AUC is that of
the words' own score for being right.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from data import rows
from headings import heading
from judge_sets import auc
from writer_sets import passage

import toulmin
from toulmin.data import Answer, Passage
from toulmin.text.overlap import normalise, token_f1


class Asked(NamedTuple):
    question: str
    passages: list[Passage]
    answers: list[str]


class Given(NamedTuple):
    """What was given; `score` is how surely it answers."""

    is_words: bool
    is_right: bool
    score: float


def hotpot(split: str) -> Iterator[Asked]:
    for row in rows("qa_hotpotqa", split):
        yield Asked(row["question"], [passage(each) for each in row["paragraphs"]], [row["answer"]])


def natural(split: str) -> Iterator[Asked]:
    for row in rows("qa_nq_gold", split):
        yield Asked(row["question"], [Passage.of(row["passage"], row["title"])], row["answers"])


def given(asked: Asked, answer: Answer) -> Given | None:
    """None for silence."""
    if not answer.claims or answer.relevance is None:
        return None
    text, normal = answer.text, [normalise(each) for each in asked.answers]
    is_words = len(answer.claims) == 1 and all(
        cited.quote is None or len(text) < len(cited.quote.text) for cited in answer.claims[0].citations
    )
    plain = f" {normalise(text)} "
    is_right = any(token_f1(text, each) >= 0.5 if is_words else f" {each} " in plain for each in normal)
    return Given(is_words, is_right, answer.relevance.score)


def line(name: str, outcomes: Sequence[Given | None]) -> str:
    words = [each for each in outcomes if each and each.is_words]
    sentences = [each for each in outcomes if each and not each.is_words]
    area = auc(np.array([each.score for each in words]), np.array([each.is_right for each in words]))
    right, holding = (np.mean([each.is_right for each in some]) if some else np.nan for some in (words, sentences))
    n = len(outcomes)
    return f"{name:14}{n:6}{len(words) / n:9.2f}{right:8.2f}{holding:14.2f}{outcomes.count(None) / n:9.2f}{area:8.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=200, help="questions of a set")
    parser.add_argument("--split", choices=("train", "dev"), default="dev")
    chosen = parser.parse_args()
    print(heading("short.py", f"Style short, split {chosen.split}, at most {chosen.most} questions of a set."))
    print(f"{'set':14}{'n':>6}{'words':>9}{'right':>8}{'sentence has':>14}{'silent':>9}{'AUC':>8}")
    for name, listed in (("qa_hotpotqa", list(hotpot(chosen.split))), ("qa_nq_gold", list(natural(chosen.split)))):
        drawn = random.Random(name).sample(listed, min(chosen.most, len(listed)))
        outcomes = [given(each, toulmin.ask(each.question, passages=each.passages, style="short")) for each in drawn]
        print(line(name, outcomes), flush=True)
    print("```")


if __name__ == "__main__":
    main()
